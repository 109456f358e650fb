/**
 * Runs for the tests of tasks: plain ones, and what a test changes about them.
 *
 * @module
 */
import { API_VERSION } from "../../contracts/resource.ts";
import type { TaskRun, TaskRunSpec, TaskRunStatus } from "../../contracts/task_run.ts";
import type { WaveCounts } from "../../operator/policy/task_decision.ts";

/** UID of the run of most tests. */
export const RUN_ID = "7d2f4c1e-7d52-4a7e-9f5e-0d6f1a2b3c4d";

/** The spec of a run on the group `edge`, with changes. */
export function runSpec(changes: Partial<TaskRunSpec> = {}): TaskRunSpec {
  return { allowedGroups: ["edge"], targetSelector: {}, deadlineSeconds: 3_600, systemUpgradeV1: {}, ...changes };
}

/** What a test changes about a run. */
export interface RunChanges {
  readonly name?: string;
  readonly uid?: string;
  readonly createdAtMs?: number;
  readonly spec?: Partial<TaskRunSpec>;
  readonly status?: TaskRunStatus;
}

/** A run as the store returns it. */
export function taskRun(changes: RunChanges = {}): TaskRun {
  const { createdAtMs = Date.parse("2026-06-01T00:00:00.000Z"), name = "upgrade", spec, status, uid = RUN_ID } =
    changes;
  return {
    apiVersion: API_VERSION,
    kind: "TaskRun",
    metadata: {
      name,
      labels: {},
      uid,
      resourceVersion: "1",
      generation: 1,
      creationTimestamp: new Date(createdAtMs).toISOString(),
    },
    spec: runSpec(spec),
    ...(status === undefined ? {} : { status }),
  };
}

/** Counts of a wave; those that are left out are 0. */
export function waveCounts(counts: Partial<WaveCounts> = {}): WaveCounts {
  return { targets: 0, released: 0, succeeded: 0, failed: 0, ...counts };
}
