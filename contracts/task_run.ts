/**
 * `TaskRun`: a finite job on a frozen set of devices (`Fleet tasks`). Its spec never changes once it is created.
 *
 * @module
 */
import { type Decoded, decodeError, type Decoder, integer, object, oneOf, optional } from "./codec.ts";
import { detail, instant } from "./formats.ts";
import { TASK_DEADLINE_MAX_S, TASK_DEADLINE_MIN_S } from "./limits.ts";
import { allowedGroups, targetSelector } from "./placement.ts";
import { conditions, type StoredResource } from "./resource.ts";

/** Label of a device that makes it a canary of every run that it is a target of (`Fleet tasks`, Canary release). */
export const CANARY_LABEL = "canary";
/** Value of {@link CANARY_LABEL}. */
export const CANARY_VALUE = "true";

/**
 * The rule that keeps a spec as it is: the CRD has it as CEL on the whole object, so that members can be neither added
 * nor removed, and the embedded store keeps the same (DESIGN 3).
 */
export const TASK_RUN_IMMUTABLE = {
  rule: "self.spec == oldSelf.spec",
  message: "spec: cannot be changed once the run is created, create another TaskRun",
} as const;

/**
 * Decodes an object without members. It is strict wherever it is read: what apt and dpkg do is compiled into the updater,
 * and nothing may seem to be taken that is not (`Fleet tasks`, TaskRun).
 */
export const emptyPolicy: Decoder<Readonly<Record<never, never>>> = (
  value: unknown,
  path: string,
): Readonly<Record<never, never>> => {
  object({})(value, path);
  const [name] = Object.keys(value as object);
  if (name === undefined) return {};
  const at = path === "" ? name : `${path}.${name}`;
  throw decodeError(
    /^[\w-]{1,64}$/.test(name) ? at : path,
    "must not be there: systemUpgradeV1 is exactly {}, its policy is the updater's",
  );
};

/** Decodes the spec of a run. */
export const taskRunSpec = object({
  allowedGroups,
  targetSelector,
  /** From the creation of the run to the time by which every device must have succeeded, in s. */
  deadlineSeconds: integer(TASK_DEADLINE_MIN_S, TASK_DEADLINE_MAX_S),
  systemUpgradeV1: emptyPolicy,
});
/** The spec of a run. */
export type TaskRunSpec = Decoded<typeof taskRunSpec>;

/** Phases of a run (`Fleet tasks`, TaskRun). */
export const TASK_RUN_PHASES = ["Planning", "Running", "Complete", "Failed"] as const;
/** One of {@link TASK_RUN_PHASES}. */
export type TaskRunPhase = (typeof TASK_RUN_PHASES)[number];

/** Reasons of a run's phase; the list is closed. */
export const TASK_RUN_REASONS = [
  // Planning.
  "WaitingForGroups",
  "PlanNotWritten",
  // Running.
  "CanariesReleased",
  "AllReleased",
  // Complete.
  "AllSucceeded",
  // Failed.
  "NoTargets",
  "TooManyTargets",
  "TargetRevoked",
  "CanaryFailed",
  "CanaryTimedOut",
  "DevicesFailed",
  "DeadlineExceeded",
  "PlanLost",
] as const;
/** One of {@link TASK_RUN_REASONS}. */
export type TaskRunReason = (typeof TASK_RUN_REASONS)[number];

/**
 * Whether a run in this phase never advances any more.
 *
 * @param phase A phase
 */
export function isTerminalRun(phase: TaskRunPhase): boolean {
  return phase === "Complete" || phase === "Failed";
}

/** Decodes the status of a run: counts and one bounded error, never a list of devices. */
export const taskRunStatus = object({
  phase: oneOf(TASK_RUN_PHASES),
  reason: optional(oneOf(TASK_RUN_REASONS)),
  /** Devices of the frozen plan, canaries included. */
  targets: integer(0),
  canaries: integer(0),
  /** Targets that have got their intent. */
  released: integer(0),
  /** Targets that succeeded, and sent a heartbeat before the deadline. */
  succeeded: integer(0),
  /** Targets that failed; once the run has ended for its deadline, those that were late or missing too. */
  failed: integer(0),
  /** Devices that matched and are no targets, since their updater cannot do it. */
  incapable: integer(0),
  /** When the plan was frozen. */
  startedAt: optional(instant),
  /** The deadline. */
  expiresAt: optional(instant),
  completedAt: optional(instant),
  /** Latest error, with the device's id where it is of one. */
  lastError: optional(detail),
  conditions: optional(conditions),
  observedGeneration: optional(integer(0)),
});
/** The status of a run. */
export type TaskRunStatus = Decoded<typeof taskRunStatus>;

/** A stored run. */
export type TaskRun = StoredResource<"TaskRun", TaskRunSpec, TaskRunStatus>;
