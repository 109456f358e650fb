/**
 * What the end of a systemd job says of the agent (DESIGN 5, Verdicts). Pure: the adapter gathers, this decides.
 *
 * @module
 */
import { constants } from "node:os";
import type { StartOutcome, StopOutcome } from "../ports.ts";
import type { UnitProperties } from "./unit_properties.ts";

type Failed = Extract<StartOutcome, { kind: "failed" }>;
type StartResult = Failed["result"];

/** How `systemctl start` or `stop` ended. */
export type JobEnd =
  | { readonly kind: "done" }
  /** The job failed or was canceled, or the service manager did not answer. */
  | { readonly kind: "failed"; readonly message: string }
  /** The job was never begun: the system shuts down, the unit is gone or masked. */
  | { readonly kind: "refused"; readonly message: string }
  /** Not over within the updater's bound. */
  | { readonly kind: "late"; readonly message: string }
  /** The updater itself is stopping. */
  | { readonly kind: "abandoned" };

/** Exit codes of `systemctl` from which on the job was not begun (LSB: 2 usage, 3 not implemented, 4 refused, …). */
const EXIT_REFUSED_MIN = 2;

/**
 * The end of a job by the exit code of `systemctl`.
 *
 * @param exitCode The exit code
 * @param message What it printed, one line
 */
export function jobEndOf(exitCode: number, message: string): JobEnd {
  if (exitCode === 0) return { kind: "done" };
  return { kind: exitCode >= EXIT_REFUSED_MIN ? "refused" : "failed", message };
}

/** Results that are the process's doing, or its surroundings'; every other one says nothing about it. */
const VERDICTS: Readonly<Record<string, StartResult>> = {
  "protocol": "protocol",
  "exit-code": "exit-code",
  "signal": "signal",
  "core-dump": "core-dump",
  "timeout": "timeout",
  "watchdog": "watchdog",
  "oom-kill": "oom-kill",
  "resources": "resources",
};

/**
 * Name of a signal.
 *
 * @param number Its number, as waitid(2) has it
 */
export function signalName(number: number): string | undefined {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
}

function processEnd(result: StartResult, unit: UnitProperties): Pick<Failed, "exitCode" | "signal"> {
  // What ends at a time limit ends by systemd's own signal.
  if (result === "timeout" || result === "watchdog" || result === "resources") return {};
  if (unit.execCode === "exited") return { exitCode: unit.execStatus };
  if (unit.execCode === "none") return {};
  const signal = signalName(unit.execStatus);
  return signal === undefined ? {} : { signal };
}

/** What a start is judged by. */
export interface StartFacts {
  readonly job: JobEnd;
  /** The unit right after the job's end, before anything stops it; null when the service manager did not answer. */
  readonly unit: UnitProperties | null;
  /** Whether the whole system is stopping. */
  readonly systemStopping: boolean;
  readonly durationMs: number;
}

/**
 * The outcome of a start. The last lines of a failed one are left to the caller.
 *
 * @param facts What is known
 */
export function startOutcomeOf({ job, unit, systemStopping, durationMs }: StartFacts): StartOutcome {
  const noVerdict = (why: "canceled" | "refused" | "bus-error" | "stopping", message: string): StartOutcome => ({
    kind: "no-verdict",
    why,
    message,
  });
  if (job.kind === "abandoned") return noVerdict("stopping", "the updater is stopping");
  if (job.kind === "done") return readyOf(unit);
  if (systemStopping) return noVerdict("stopping", `the system is stopping: ${job.message}`);
  if (job.kind === "refused") return noVerdict("refused", job.message);
  if (unit === null) return noVerdict("bus-error", job.message);
  const result = VERDICTS[unit.result];
  if (result !== undefined) {
    return {
      kind: "failed",
      result,
      ...processEnd(result, unit),
      ...(unit.statusText === "" ? {} : { statusText: unit.statusText }),
      ...(unit.invocationId === "" ? {} : { invocationId: unit.invocationId }),
      lastLines: [],
      durationMs,
    };
  }
  // A canceled job leaves no result; nor does a start that was begun anew before it could be looked at.
  return noVerdict(job.kind === "late" ? "bus-error" : "canceled", `${job.message} (${unit.active}, ${unit.result})`);
}

function readyOf(unit: UnitProperties | null): StartOutcome {
  // systemd calls a start done, too, that it has skipped.
  if (unit !== null && unit.active === "inactive" && !unit.conditionMet) {
    return { kind: "no-verdict", why: "refused", message: "a condition of the unit is not met" };
  }
  return {
    kind: "ready",
    ...(unit === null || unit.invocationId === "" ? {} : { invocationId: unit.invocationId }),
  };
}

/** What a stop is judged by. */
export interface StopFacts {
  readonly job: JobEnd;
  readonly unit: UnitProperties | null;
  /** Whether a process is left in the unit's control group. */
  readonly populated: boolean;
}

/**
 * The outcome of a stop: stopped is inactive or failed with no process left, whatever the job says.
 *
 * @param facts What is known
 */
export function stopOutcomeOf({ job, unit, populated }: StopFacts): StopOutcome {
  if (job.kind === "abandoned") return { kind: "no-verdict", message: "the updater is stopping" };
  const jobText = job.kind === "done" ? "the stop job is done" : job.message;
  if (unit === null) return { kind: "no-verdict", message: jobText };
  const atRest = unit.active === "inactive" || unit.active === "failed";
  if (atRest && !populated) return { kind: "stopped" };
  if (atRest) return { kind: "not-stopped", message: "a process of the agent is left and cannot be killed" };
  const message = `${jobText}, and the agent is ${unit.active} (${unit.sub})`;
  return job.kind === "late" ? { kind: "not-stopped", message } : { kind: "no-verdict", message };
}
