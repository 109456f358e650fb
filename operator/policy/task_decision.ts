/**
 * What a run does next (DESIGN 7, Phase and Release of intents): pure, in the order in which the checks decide.
 *
 * @module
 */
import type { TaskRunReason } from "../../contracts/task_run.ts";

/** Waves of a run, in the order in which they are released. */
export const WAVES = ["canaries", "others"] as const;
/** One of {@link WAVES}. */
export type Wave = (typeof WAVES)[number];

/** Where the devices of a wave stand. Results that came too late are in neither count. */
export interface WaveCounts {
  readonly targets: number;
  /** Devices that have got their intent, ended ones included. */
  readonly released: number;
  readonly succeeded: number;
  readonly failed: number;
}

/** What a running run is decided on. */
export interface RunFacts {
  /** The broker's clock, in ms. */
  readonly nowMs: number;
  /** The run's deadline, in ms. */
  readonly expiresAtMs: number;
  readonly canaries: WaveCounts;
  readonly others: WaveCounts;
}

/** What a running run does next. */
export type RunDecision =
  | { readonly kind: "complete" }
  | { readonly kind: "fail"; readonly reason: TaskRunReason }
  /** Intents for the devices of a wave that have none. */
  | { readonly kind: "release"; readonly wave: Wave }
  /** Nothing until a result comes, or the deadline. */
  | { readonly kind: "wait"; readonly untilMs: number };

/**
 * Decides what a running run does next.
 *
 * @param facts Where its devices stand
 */
export function decideRun({ canaries, expiresAtMs, nowMs, others }: RunFacts): RunDecision {
  // The first canary that fails stops the run, whatever else is under way.
  if (canaries.failed > 0) return { kind: "fail", reason: "CanaryFailed" };
  const failed = others.failed;
  const ended = canaries.succeeded + others.succeeded + failed;
  // Before the deadline is looked at: results that came in time count, also when they are looked at after it.
  if (ended === canaries.targets + others.targets) {
    return failed === 0 ? { kind: "complete" } : { kind: "fail", reason: "DevicesFailed" };
  }
  const canariesDone = canaries.succeeded === canaries.targets;
  if (nowMs >= expiresAtMs) return { kind: "fail", reason: canariesDone ? "DeadlineExceeded" : "CanaryTimedOut" };
  if (canaries.released < canaries.targets) return { kind: "release", wave: "canaries" };
  if (!canariesDone) return { kind: "wait", untilMs: expiresAtMs };
  if (others.released < others.targets) return { kind: "release", wave: "others" };
  return { kind: "wait", untilMs: expiresAtMs };
}

/** What is known of a run that has no plan. */
export interface PlanningFacts {
  readonly nowMs: number;
  readonly expiresAtMs: number;
  /** Targets that were found; null while they could not be looked for. */
  readonly targets: number | null;
  /** Most targets of a plan. */
  readonly targetsMax: number;
}

/** What a run without a plan does next. */
export type PlanningDecision =
  | { readonly kind: "freeze" }
  | { readonly kind: "retry" }
  | { readonly kind: "fail"; readonly reason: TaskRunReason };

/**
 * Decides what a run without a plan does next. That nothing is known is never "no targets" (`Fleet tasks`, Placement).
 *
 * @param facts What is known
 */
export function decidePlanning({ expiresAtMs, nowMs, targets, targetsMax }: PlanningFacts): PlanningDecision {
  if (nowMs >= expiresAtMs) return { kind: "fail", reason: "DeadlineExceeded" };
  if (targets === null) return { kind: "retry" };
  if (targets === 0) return { kind: "fail", reason: "NoTargets" };
  return targets > targetsMax ? { kind: "fail", reason: "TooManyTargets" } : { kind: "freeze" };
}

/**
 * Whether the group source still authorizes a device for a run. Labels are not looked at: what was frozen stays
 * (DESIGN 7, Phase).
 *
 * @param allowedGroups Groups of the run
 * @param groups Groups of the device now; null when the device is gone
 */
export function isAuthorized(allowedGroups: readonly string[], groups: readonly string[] | null): boolean {
  return groups !== null && allowedGroups.some((group) => groups.includes(group));
}
