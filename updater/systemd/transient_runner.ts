/**
 * Runs a candidate's self-test in a transient unit with the agent unit's user, sandbox and environment (DESIGN 5,
 * Probe). The unit has one fixed name: a run that an updater has left behind is ended by the next one.
 *
 * @module
 */
import { FleetError } from "../../contracts/errors.ts";
import { PROBE_OUTPUT_MAX_BYTES, SYSTEM_TOOL_TIMEOUT_MS } from "../../contracts/limits.ts";
import { type Clock, systemClock } from "../../lib/deadline.ts";
import type { CandidateRunner } from "../probe/candidate_runner.ts";
import { currentBootId } from "../process/process_table.ts";
import { runBounded, type RunOutcome } from "../process/run_bounded.ts";
import { signalName } from "./job_outcome.ts";
import { sandboxSettings } from "./sandbox_settings.ts";
import { SYSTEM_TOOL_ENVIRONMENT, type SystemTool, systemTool } from "./system_tool.ts";
import { AGENT_UNIT } from "./systemd_service.ts";
import { decodeUnitProperties, UNIT_PROPERTIES, type UnitProperties } from "./unit_properties.ts";

/** The transient unit. */
export const PROBE_UNIT = "fleet-agent-probe.service";

/** systemd's exit codes for a process that it could not make (systemd.exec(5), Process Exit Codes). */
const EXIT_SETUP_MIN = 200;
const EXIT_SETUP_MAX = 245;
const EXIT_EXEC = 203;

/** What the runner works with. */
export interface TransientRunnerOptions {
  /** Whose sandbox it is. Default {@link AGENT_UNIT} */
  readonly unit?: string;
  /** Default {@link systemClock} */
  readonly clock?: Clock;
  /** Default systemd's own programs */
  readonly tool?: SystemTool;
}

/**
 * A runner of candidates in a transient unit.
 *
 * @param options Unit, clock
 */
export function transientRunner(options: TransientRunnerOptions = {}): CandidateRunner {
  const { unit = AGENT_UNIT, clock = systemClock } = options;
  const tool = options.tool ?? systemTool(clock);
  const systemctl = (args: readonly string[], signal: AbortSignal) =>
    tool("systemctl", ["--no-ask-password", "--no-pager", ...args], SYSTEM_TOOL_TIMEOUT_MS, signal);
  // It ends the unit also when the updater itself is ending.
  const clear = async () => {
    const { signal } = new AbortController();
    await systemctl(["kill", "--signal=SIGKILL", PROBE_UNIT], signal);
    await systemctl(["stop", PROBE_UNIT], signal);
    await systemctl(["reset-failed", PROBE_UNIT], signal);
  };
  return async (path, args, { timeoutMs, signal }) => {
    const files = await systemctl(["cat", unit], signal);
    if (files.end !== "exit" || files.exitCode !== 0) throw unavailable(`it does not show ${unit}: ${files.message}`);
    await clear();
    const run = await runBounded({
      program: "systemd-run",
      args: [...unitArguments(new TextDecoder().decode(files.stdout), timeoutMs), "--", path, ...args],
      environment: SYSTEM_TOOL_ENVIRONMENT,
    }, { timeoutMs, maxOutputBytes: PROBE_OUTPUT_MAX_BYTES, clock, signal });
    try {
      if (run.end !== "exit" || run.exitCode === 0) return run;
      const shown = await systemctl(["show", PROBE_UNIT, `--property=${UNIT_PROPERTIES.join(",")}`], signal);
      return ended(run, decodeUnitProperties(new TextDecoder().decode(shown.stdout)));
    } finally {
      await clear();
    }
  };
}

function unitArguments(files: string, timeoutMs: number): string[] {
  const settings = sandboxSettings(files, { b: (currentBootId() ?? "").replaceAll("-", ""), n: PROBE_UNIT });
  // What an updater that was killed leaves behind ends by itself.
  const life = ["Type=exec", "KillMode=control-group", `RuntimeMaxSec=${timeoutMs}ms`, "TimeoutStopSec=5s"];
  return [
    "--quiet",
    "--no-ask-password",
    "--pipe",
    "--wait",
    `--unit=${PROBE_UNIT}`,
    "--description=Self-test of a Harmony Fleet agent",
    ...[...settings, ...life].map((setting) => `--property=${setting}`),
  ];
}

/** How the candidate's own process ended: the exit code of `systemd-run` may be its own. */
function ended(run: RunOutcome, unit: UnitProperties | null): RunOutcome {
  if (unit === null || unit.execCode === "none") {
    const said = new TextDecoder().decode(run.stderr).trim().split("\n").at(-1) ?? "";
    throw unavailable(said);
  }
  const { exitCode: _, ...rest } = run;
  if (unit.execCode !== "exited") return { ...rest, end: "signal", signal: signalName(unit.execStatus) ?? "unknown" };
  const { execStatus } = unit;
  if (execStatus === EXIT_EXEC) throw new FleetError("the candidate cannot be executed", { code: "E_NOT_EXECUTABLE" });
  if (unit.result !== "success" && execStatus >= EXIT_SETUP_MIN && execStatus <= EXIT_SETUP_MAX) {
    throw unavailable(`it cannot make the sandbox of the self-test (status ${execStatus})`);
  }
  return { ...rest, end: "exit", exitCode: execStatus };
}

function unavailable(why: string): FleetError {
  return new FleetError(`Cannot run the self-test: systemd refuses it: ${why}`, {
    code: "E_PROBE_UNAVAILABLE",
    retry: "transient",
    failureClass: "environment",
  });
}
