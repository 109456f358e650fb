/**
 * Runs a candidate's self-test as the agent's user (`Fleet agent upgrades`, Preparation and probe; DESIGN 5, Probe).
 *
 * @module
 */
import { errorText, isFleetError } from "../../contracts/errors.ts";
import type { Architecture } from "../../contracts/formats.ts";
import { bounded } from "../../contracts/formats.ts";
import {
  EXEC_BUSY_PAUSE_MS,
  EXEC_BUSY_RETRY_MS,
  PROBE_OUTPUT_MAX_BYTES,
  PROBE_TIMEOUT_MS,
} from "../../contracts/limits.ts";
import { type Clock, systemClock } from "../../lib/deadline.ts";
import { loweredBound } from "../../lib/lowered_bound.ts";
import type { ProbeOutcome, Prober } from "../ports.ts";
import { agentCommand, type AgentSurroundings, newInvocationId } from "../process/agent_command.ts";
import { executableProblem } from "../process/executable_format.ts";
import { judgeProbe } from "./judge_probe.ts";
import { runBounded, type RunOutcome } from "../process/run_bounded.ts";
import type { CandidateRunner } from "./candidate_runner.ts";

/** Options of {@link selfTestProber}. */
export interface SelfTestProberOptions extends AgentSurroundings {
  /** The real configuration, which the self-test parses. */
  readonly configPath: string;
  /** Lowered bound of the whole probe, in ms. Default {@link PROBE_TIMEOUT_MS} */
  readonly timeoutMs?: number;
  /** Default this machine's */
  readonly arch?: Architecture;
  readonly clock?: Clock;
  /** Default a child of this process, as the user of the surroundings */
  readonly runner?: CandidateRunner;
}

/** The errno of "text file busy", as the runtime words it. */
const SPAWN_BUSY_REGEXP = /os error 26\b/;
/** The same, as setpriv words it. */
const EXEC_BUSY_REGEXP = /^setpriv: .*: Text file busy\s*$/;
const SETPRIV_CANNOT_EXECUTE = 126;
/** Resources that the machine lacks: EAGAIN, ENOMEM, ENFILE, EMFILE. */
const SPAWN_SHORT_REGEXP = /os error (?:11|12|23|24)\b/;

function notStarted(failureClass: "version" | "environment", reason: string, error: string): ProbeOutcome {
  return {
    kind: "failed",
    reason,
    error: bounded(error),
    failureClass,
    postMortem: { stage: "probe", result: "exec" },
  };
}

function isBusy(run: RunOutcome): boolean {
  return run.end === "exit" && run.exitCode === SETPRIV_CANNOT_EXECUTE &&
    EXEC_BUSY_REGEXP.test(new TextDecoder().decode(run.stderr));
}

class SelfTestProber implements Prober {
  readonly #options: SelfTestProberOptions;
  readonly #clock: Clock;

  constructor(options: SelfTestProberOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  async probe(path: string, targetVersion: string, signal: AbortSignal): Promise<ProbeOutcome> {
    const arch = this.#options.arch ?? Deno.build.arch;
    const problem = await executableProblem(path, arch);
    if (problem !== undefined) return notStarted("version", "NotExecutable", `${path} ${problem}`);
    try {
      return judgeProbe(await this.#run(path, signal), { version: targetVersion, arch });
    } catch (error) {
      const text = errorText(error);
      if (isFleetError(error) && error.failureClass === "environment") {
        return notStarted("environment", "ProbeUnavailable", text);
      }
      return SPAWN_SHORT_REGEXP.test(text)
        ? notStarted(
          "environment",
          "ResourcesExhausted",
          "the self-test cannot be started: the machine lacks resources",
        )
        : notStarted("version", "NotExecutable", `${path} cannot be started`);
    }
  }

  /**
   * Runs the self-test, again for a moment while the file is open for writing: a process that was forked while the
   * updater wrote it holds the descriptor until its own exec.
   */
  async #run(path: string, signal: AbortSignal): Promise<RunOutcome> {
    const startMs = this.#clock.monotonicMs();
    for (;;) {
      const lastTry = this.#clock.monotonicMs() - startMs >= EXEC_BUSY_RETRY_MS;
      try {
        const run = await this.#runOnce(path, signal);
        if (lastTry || !isBusy(run)) return run;
      } catch (error) {
        if (lastTry || !SPAWN_BUSY_REGEXP.test(errorText(error))) throw error;
      }
      await this.#clock.sleep(EXEC_BUSY_PAUSE_MS);
    }
  }

  #runOnce(path: string, signal: AbortSignal): Promise<RunOutcome> {
    const { configPath, runner, timeoutMs } = this.#options;
    const run = runner ?? childRunner(this.#options, this.#clock);
    return run(path, ["--self-test", "--config", configPath], {
      timeoutMs: loweredBound(PROBE_TIMEOUT_MS, timeoutMs),
      signal,
    });
  }
}

/** Runs candidates as children of this process. */
function childRunner(surroundings: AgentSurroundings, clock: Clock): CandidateRunner {
  return (path, args, { timeoutMs, signal }) => {
    const mark = { name: "INVOCATION_ID", value: newInvocationId() };
    return runBounded(agentCommand(path, args, surroundings, { [mark.name]: mark.value }), {
      timeoutMs,
      maxOutputBytes: PROBE_OUTPUT_MAX_BYTES,
      clock,
      signal,
      mark,
    });
  };
}

/**
 * A prober that runs `<candidate> --self-test --config <path>`.
 *
 * @param options Configuration, user, bounds
 */
export function selfTestProber(options: SelfTestProberOptions): Prober {
  return new SelfTestProber(options);
}
