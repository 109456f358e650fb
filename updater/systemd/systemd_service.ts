/**
 * The systemd adapter of {@link ServiceManager}: jobs and questions by `systemctl`, bounded; verdicts by
 * `job_outcome.ts`. The agent is systemd's child, so that it outlives the updater and is started at boot without it.
 *
 * Guarantees:
 * - a start ends with its job; the result and the last `STATUS=` are read before anything can stop the unit;
 * - stopped means that the kernel knows of no process in the unit's control group any more;
 * - a call never outlasts the updater's bound, and the updater's own end makes it no verdict.
 *
 * @module
 */
import { FleetError } from "../../contracts/errors.ts";
import {
  POST_MORTEM_LINES_MAX,
  PROCESS_POLL_MS,
  SERVICE_START_TIMEOUT_MS,
  SERVICE_STOP_TIMEOUT_MS,
  SYSTEM_TOOL_TIMEOUT_MS,
  UPDATER_START_BOUND_MS,
  UPDATER_STOP_BOUND_MS,
} from "../../contracts/limits.ts";
import { type Clock, systemClock } from "../../lib/deadline.ts";
import type { Logger } from "../../lib/log.ts";
import { loweredBound } from "../../lib/lowered_bound.ts";
import type { ManagedService, ServiceState, StartOutcome, StopOutcome } from "../ports.ts";
import { lastLines } from "../process/output_lines.ts";
import { hasProcesses } from "./control_group.ts";
import { type JobEnd, jobEndOf, startOutcomeOf, stopOutcomeOf } from "./job_outcome.ts";
import { type SystemTool, systemTool } from "./system_tool.ts";
import { decodeUnitProperties, UNIT_PROPERTIES, type UnitProperties } from "./unit_properties.ts";

/** The agent's unit. */
export const AGENT_UNIT = "fleet-agent.service";

/** Bounds of the unit, in ms; each can be lowered below its limit only. */
export interface SystemdServiceBounds {
  readonly startTimeoutMs?: number;
  readonly stopTimeoutMs?: number;
}

/** What the adapter is made of. */
export interface SystemdServiceOptions {
  readonly log: Logger;
  readonly bounds?: SystemdServiceBounds;
  /** Default {@link AGENT_UNIT} */
  readonly unit?: string;
  /** Default {@link systemClock} */
  readonly clock?: Clock;
  /** Default systemd's own programs */
  readonly tool?: SystemTool;
  /** Whether a process is left in a control group. Default {@link hasProcesses} */
  readonly isPopulated?: (controlGroup: string) => Promise<boolean>;
}

/** The updater's bounds are the unit's own and a margin. */
const START_MARGIN_MS = UPDATER_START_BOUND_MS - SERVICE_START_TIMEOUT_MS;
const STOP_MARGIN_MS = UPDATER_STOP_BOUND_MS - SERVICE_STOP_TIMEOUT_MS;

class SystemdService implements ManagedService {
  readonly unit: string;
  readonly journalUnit: string;
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #tool: SystemTool;
  readonly #isPopulated: (controlGroup: string) => Promise<boolean>;
  readonly #startBoundMs: number;
  readonly #stopBoundMs: number;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  constructor(options: SystemdServiceOptions) {
    const { log, bounds, unit = AGENT_UNIT, clock = systemClock } = options;
    this.unit = unit;
    this.journalUnit = unit;
    this.#log = log;
    this.#clock = clock;
    this.#tool = options.tool ?? systemTool(clock);
    this.#isPopulated = options.isPopulated ?? hasProcesses;
    this.#startBoundMs = loweredBound(SERVICE_START_TIMEOUT_MS, bounds?.startTimeoutMs) + START_MARGIN_MS;
    this.#stopBoundMs = loweredBound(SERVICE_STOP_TIMEOUT_MS, bounds?.stopTimeoutMs) + STOP_MARGIN_MS;
  }

  start(): Promise<StartOutcome> {
    return this.#track(this.#start());
  }

  stop(): Promise<StopOutcome> {
    return this.#track(this.#stop());
  }

  async resetFailed(): Promise<void> {
    // It fails for a unit that is not loaded, which has nothing to forget.
    await this.#track(this.#systemctl(["reset-failed", this.unit], SYSTEM_TOOL_TIMEOUT_MS));
  }

  async show(): Promise<ServiceState> {
    const unit = await this.#track(this.#properties());
    if (unit === null) {
      throw new FleetError(`Cannot ask systemd for ${this.unit}: it does not answer`, {
        code: "E_SERVICE_MANAGER",
        retry: "transient",
        failureClass: "environment",
      });
    }
    const { active, restarts, mainPid, invocationId, statusText } = unit;
    return {
      active,
      restarts,
      ...(mainPid === 0 ? {} : { mainPid }),
      ...(invocationId === "" ? {} : { invocationId }),
      ...(statusText === "" ? {} : { statusText }),
    };
  }

  /** systemd does it: the unit is enabled, and a person who has stopped it has had a reason. */
  ensureRunning(): void {}

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled([...this.#running]);
  }

  #track<T>(work: Promise<T>): Promise<T> {
    this.#running.add(work);
    const over = () => void this.#running.delete(work);
    work.then(over, over);
    return work;
  }

  async #start(): Promise<StartOutcome> {
    const startMs = this.#clock.monotonicMs();
    const sinceMs = this.#clock.nowMs();
    const job = await this.#job("start", this.#startBoundMs);
    const durationMs = Math.round(this.#clock.monotonicMs() - startMs);
    const unit = job.kind === "abandoned" ? null : await this.#properties();
    const systemStopping = job.kind !== "done" && job.kind !== "abandoned" && await this.#isSystemStopping();
    if (this.#closing.signal.aborted && job.kind !== "done") {
      return startOutcomeOf({ job: { kind: "abandoned" }, unit, systemStopping, durationMs });
    }
    const outcome = startOutcomeOf({ job, unit, systemStopping, durationMs });
    if (outcome.kind !== "failed" || unit === null) return outcome;
    const { result, exitCode, signal, statusText } = outcome;
    this.#log.warn("agent not ready", { result, exitCode, signal, statusText, durationMs });
    return { ...outcome, lastLines: await this.#lastLines(unit, sinceMs) };
  }

  async #stop(): Promise<StopOutcome> {
    const endMs = this.#clock.monotonicMs() + this.#stopBoundMs;
    const before = await this.#properties();
    const job = await this.#job("stop", this.#stopBoundMs);
    for (;;) {
      const unit = await this.#properties();
      // systemd forgets the group with the last process that it knows of.
      const group = unit?.controlGroup || (before?.controlGroup ?? "");
      const populated = group !== "" && await this.#isPopulated(group);
      const outcome = stopOutcomeOf({ job, unit, populated });
      const over = this.#clock.monotonicMs() >= endMs || this.#closing.signal.aborted;
      // A process that is being torn down is given the rest of the bound.
      if (outcome.kind !== "not-stopped" || job.kind !== "done" || over) return outcome;
      await this.#clock.sleep(PROCESS_POLL_MS, this.#closing.signal).catch(() => {});
    }
  }

  async #job(verb: "start" | "stop", boundMs: number): Promise<JobEnd> {
    const run = await this.#systemctl([verb, this.unit], boundMs);
    switch (run.end) {
      case "exit":
        return jobEndOf(run.exitCode, run.message);
      case "late":
        return { kind: "late", message: `the ${verb} job was ${run.message}` };
      case "abandoned":
        return { kind: "abandoned" };
      case "broken":
        return { kind: "failed", message: run.message };
    }
  }

  async #properties(): Promise<UnitProperties | null> {
    const names = UNIT_PROPERTIES.join(",");
    const run = await this.#systemctl(["show", this.unit, `--property=${names}`], SYSTEM_TOOL_TIMEOUT_MS);
    return run.end === "exit" && run.exitCode === 0 ? decodeUnitProperties(new TextDecoder().decode(run.stdout)) : null;
  }

  async #isSystemStopping(): Promise<boolean> {
    const run = await this.#systemctl(["is-system-running"], SYSTEM_TOOL_TIMEOUT_MS);
    return new TextDecoder().decode(run.stdout).trim() === "stopping";
  }

  #systemctl(args: readonly string[], timeoutMs: number) {
    return this.#tool("systemctl", ["--no-ask-password", "--no-pager", ...args], timeoutMs, this.#closing.signal);
  }

  /** The agent's last words, from the log of the system; none when that keeps no log. */
  async #lastLines({ invocationId, execPid }: UnitProperties, sinceMs: number): Promise<readonly string[]> {
    const { signal } = this.#closing;
    // What a process has written right before its end may still be on its way.
    await this.#tool("journalctl", ["--sync"], SYSTEM_TOOL_TIMEOUT_MS, signal);
    // Not by the boot: in a container's sandbox the kernel may tell the host's.
    const since = `--since=@${Math.floor(sinceMs / 1_000)}`;
    const args = ["--quiet", "--no-pager", since, "--output=cat", `--lines=${POST_MORTEM_LINES_MAX}`];
    // The log learns the invocation from a process that lives; of one that has ended it knows the unit and the pid.
    const matches = [`_SYSTEMD_INVOCATION_ID=${invocationId}`, "+", `_SYSTEMD_UNIT=${this.unit}`, `_PID=${execPid}`];
    return lastLines((await this.#tool("journalctl", [...args, ...matches], SYSTEM_TOOL_TIMEOUT_MS, signal)).stdout);
  }
}

/**
 * The systemd adapter.
 *
 * @param options Log, bounds, unit
 */
export function systemdService(options: SystemdServiceOptions): ManagedService {
  return new SystemdService(options);
}
