/**
 * The next status of a `TaskRun`, and the record that stays of it: counts, one bounded error, and a condition that says in
 * a line where it stands.
 *
 * @module
 */
import { bounded } from "../../contracts/formats.ts";
import { TASK_PLAN_SCHEMA, type TaskHistoryRecord, type TaskPlanManifest } from "../../contracts/task_plan.ts";
import type { TaskRun, TaskRunPhase, TaskRunReason, TaskRunSpec, TaskRunStatus } from "../../contracts/task_run.ts";
import { acceptedCondition } from "./accepted_condition.ts";
import { type ConditionInput, nextConditions } from "./conditions.ts";
import type { WaveCounts } from "./task_decision.ts";

/** What the status of a run is made of. */
export interface RunStatusFacts {
  readonly nowMs: number;
  readonly generation: number;
  readonly spec: TaskRunSpec;
  readonly phase: TaskRunPhase;
  readonly reason: TaskRunReason;
  /** The run's deadline, in ms. */
  readonly expiresAtMs: number;
  /** Absent before the plan is frozen. */
  readonly manifest?: TaskPlanManifest;
  readonly canaries: WaveCounts;
  readonly others: WaveCounts;
  /** Of planning, where there is no plan to count it. */
  readonly incapable?: number;
  /** The latest error; absent keeps the one that was written. */
  readonly lastError?: string;
}

/**
 * Makes the next status.
 *
 * @param previous What was written last
 * @param facts What is known now
 */
export function nextRunStatus(previous: TaskRunStatus | undefined, facts: RunStatusFacts): TaskRunStatus {
  const { canaries, expiresAtMs, manifest, nowMs, others, phase, reason } = facts;
  const isOver = phase === "Complete" || phase === "Failed";
  const targets = canaries.targets + others.targets;
  const succeeded = canaries.succeeded + others.succeeded;
  const released = canaries.released + others.released;
  // A run that ended for its deadline: who was told and has not succeeded has failed it.
  const missing = reason === "DeadlineExceeded" || reason === "CanaryTimedOut";
  const failed = missing ? released - succeeded : canaries.failed + others.failed;
  const lastError = facts.lastError ?? previous?.lastError;
  return {
    phase,
    reason,
    targets,
    canaries: canaries.targets,
    released,
    succeeded,
    failed,
    incapable: manifest?.incapable ?? facts.incapable ?? 0,
    ...(manifest === undefined ? {} : { startedAt: manifest.createdAt }),
    expiresAt: manifest?.expiresAt ?? new Date(expiresAtMs).toISOString(),
    ...(isOver ? { completedAt: new Date(nowMs).toISOString() } : {}),
    ...(lastError === undefined ? {} : { lastError: bounded(lastError) }),
    conditions: nextConditions(
      previous?.conditions,
      [acceptedCondition(facts.spec, "run"), completeCondition(facts, { targets, released, succeeded, failed })],
      nowMs,
      facts.generation,
    ),
    observedGeneration: facts.generation,
  };
}

type Counts = Readonly<Record<"targets" | "released" | "succeeded" | "failed", number>>;

function completeCondition({ phase, reason }: RunStatusFacts, counts: Counts): ConditionInput {
  const status = phase === "Complete" ? "True" : phase === "Failed" ? "False" : "Unknown";
  const { failed, released, succeeded, targets } = counts;
  const message = phase === "Planning"
    ? "the plan is not made yet"
    : targets === 0
    ? "the run has no targets"
    : `${succeeded} of ${targets} targets succeeded, ${failed} failed, ${targets - released} not released`;
  return { type: "Complete", status, reason, message };
}

/** Results that came after the end of a run. */
export interface LateCounts {
  readonly succeeded: number;
  readonly failed: number;
}

/**
 * The record of an ended run; null for one that has not ended.
 *
 * @param run The run with its terminal status
 * @param late Results that came after its end
 */
export function historyRecord(run: TaskRun, late: LateCounts): TaskHistoryRecord | null {
  const { metadata, spec, status } = run;
  if (status?.completedAt === undefined || status.reason === undefined || status.expiresAt === undefined) return null;
  const { canaries, completedAt, expiresAt, failed, incapable, lastError, phase, reason, released } = status;
  return {
    schema: TASK_PLAN_SCHEMA,
    runId: metadata.uid,
    name: metadata.name,
    spec,
    phase,
    reason,
    targets: status.targets,
    canaries,
    released,
    succeeded: status.succeeded,
    failed,
    incapable,
    lateSucceeded: late.succeeded,
    lateFailed: late.failed,
    createdAt: metadata.creationTimestamp,
    ...(status.startedAt === undefined ? {} : { startedAt: status.startedAt }),
    expiresAt,
    completedAt,
    ...(lastError === undefined ? {} : { lastError }),
  };
}

/**
 * The deadline of a run, in ms: its creation plus `deadlineSeconds` (DESIGN 7).
 *
 * @param run The run
 */
export function runDeadlineMs({ metadata, spec }: Pick<TaskRun, "metadata" | "spec">): number {
  return Date.parse(metadata.creationTimestamp) + spec.deadlineSeconds * 1_000;
}
