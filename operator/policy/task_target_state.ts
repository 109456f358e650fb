/**
 * Where a target of a run stands, by what stands in the buckets: the list behind the counts of its status.
 *
 * @module
 */
import type { SystemUpgradeStatus } from "../../contracts/system_upgrade.ts";
import { judgeResult } from "./task_result.ts";

/** How a target stands in its run. */
export const TASK_TARGET_STATES = [
  /** It has no intent: it was not released, or its intent was withdrawn. */
  "waiting",
  /** It has its intent, and has not said anything of it. */
  "unanswered",
  /** It has accepted the attempt. */
  "running",
  "succeeded",
  "failed",
  /** It ended at the deadline or after it, which counts as a failure. */
  "late",
] as const;
/** One of {@link TASK_TARGET_STATES}. */
export type TaskTargetState = (typeof TASK_TARGET_STATES)[number];

/** What stands in the buckets of one target. */
export interface TaskTargetFacts {
  readonly deviceId: string;
  readonly runId: string;
  /** The run's deadline, in ms. */
  readonly expiresAtMs: number;
  readonly hasIntent: boolean;
  /** What it says, and when the broker received it, in ms; null for nothing that can be read. */
  readonly status: { readonly value: SystemUpgradeStatus; readonly receivedAtMs: number } | null;
}

/**
 * The state of a target.
 *
 * @param facts What stands in the buckets
 */
export function taskTargetState({ deviceId, expiresAtMs, hasIntent, runId, status }: TaskTargetFacts): TaskTargetState {
  const result = status === null
    ? null
    : judgeResult(status.value, status.receivedAtMs, { deviceId, runId }, expiresAtMs);
  if (result === null || result.kind === "ignored") return hasIntent ? "unanswered" : "waiting";
  if (result.kind === "accepted") return "running";
  return result.isLate ? "late" : result.kind;
}
