import { assertEquals } from "@std/assert";
import { taskHistoryRecord } from "../../contracts/task_plan.ts";
import { type TaskRunPhase, type TaskRunReason, taskRunStatus } from "../../contracts/task_run.ts";
import { planManifest } from "../../tests/golden/task_documents.ts";
import { taskRun, waveCounts } from "../../tests/fakes/task_samples.ts";
import { historyRecord, nextRunStatus, runDeadlineMs, type RunStatusFacts } from "./task_run_status.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const RUN = taskRun({ createdAtMs: 1_000 });
const facts = (phase: TaskRunPhase, reason: TaskRunReason, changes: Partial<RunStatusFacts> = {}): RunStatusFacts => ({
  nowMs: 2_000,
  generation: 1,
  spec: RUN.spec,
  phase,
  reason,
  expiresAtMs: runDeadlineMs(RUN),
  canaries: waveCounts(),
  others: waveCounts(),
  ...changes,
});

pure("nextRunStatus(): while it is planned there are no counts, and the error stays until it runs", () => {
  const status = nextRunStatus(undefined, facts("Planning", "WaitingForGroups", { lastError: "d1: no groups" }));
  assertEquals(taskRunStatus(status, ""), status);
  assertEquals([status.targets, status.startedAt, status.completedAt, status.lastError], [
    0,
    undefined,
    undefined,
    "d1: no groups",
  ]);
  assertEquals(status.expiresAt, "1970-01-01T01:00:01.000Z");
  assertEquals(nextRunStatus(status, facts("Running", "AllReleased")).lastError, "d1: no groups");
});

pure("nextRunStatus(): counts are of both waves", () => {
  const status = nextRunStatus(
    undefined,
    facts("Running", "AllReleased", {
      manifest: planManifest,
      canaries: waveCounts({ targets: 2, released: 2, succeeded: 2 }),
      others: waveCounts({ targets: 5, released: 3, succeeded: 1, failed: 1 }),
    }),
  );
  const { canaries, failed, incapable, released, startedAt, succeeded, targets } = status;
  assertEquals([targets, canaries, released, succeeded, failed, incapable], [7, 2, 5, 3, 1, 1]);
  assertEquals([startedAt, status.expiresAt], [planManifest.createdAt, planManifest.expiresAt]);
  assertEquals(
    status.conditions?.map(({ type, status, reason, message }) => [type, status, reason, message]),
    [
      ["Accepted", "True", "Accepted", "the spec is understood"],
      ["Complete", "Unknown", "AllReleased", "3 of 7 targets succeeded, 1 failed, 2 not released"],
    ],
  );
});

pure("nextRunStatus(): who is late or missing at the deadline has failed it, who was not released has not", () => {
  const waves = {
    canaries: waveCounts({ targets: 1, released: 1, succeeded: 1 }),
    others: waveCounts({ targets: 5, released: 4, succeeded: 1, failed: 1 }),
  };
  assertEquals(nextRunStatus(undefined, facts("Failed", "DeadlineExceeded", waves)).failed, 3);
  assertEquals(nextRunStatus(undefined, facts("Failed", "DevicesFailed", waves)).failed, 1);
  assertEquals(nextRunStatus(undefined, facts("Failed", "TargetRevoked", waves)).failed, 1);
});

pure("nextRunStatus(): a selector that is not understood is said in a condition", () => {
  const spec = { ...RUN.spec, targetSelector: { matchExpressions: [] } };
  const status = nextRunStatus(undefined, facts("Failed", "NoTargets", { spec }));
  assertEquals(status.conditions?.[0]?.reason, "MatchExpressionsUnsupported");
  assertEquals(status.conditions?.[1]?.message, "the run has no targets");
  assertEquals(status.completedAt, "1970-01-01T00:00:02.000Z");
});

pure("nextRunStatus(): however many devices, the status has one size", () => {
  const size = (targets: number) =>
    JSON.stringify(nextRunStatus(undefined, facts("Running", "AllReleased", { others: waveCounts({ targets }) })))
      .replaceAll(/\d+/g, "0").length;
  assertEquals(size(1), size(100_000));
});

pure("historyRecord(): of an ended run only, with what came late", () => {
  assertEquals(historyRecord(RUN, { succeeded: 0, failed: 0 }), null);
  const running = nextRunStatus(undefined, facts("Running", "AllReleased"));
  assertEquals(historyRecord({ ...RUN, status: running }, { succeeded: 0, failed: 0 }), null);
  const others = waveCounts({ targets: 2, released: 2, succeeded: 1 });
  const failed = nextRunStatus(undefined, facts("Failed", "DeadlineExceeded", { others, lastError: "d1: late" }));
  const record = historyRecord({ ...RUN, status: failed }, { succeeded: 1, failed: 0 });
  assertEquals(taskHistoryRecord(record, ""), record);
  assertEquals([record?.runId, record?.failed, record?.lateSucceeded, record?.lastError], [
    RUN.metadata.uid,
    1,
    1,
    "d1: late",
  ]);
});

pure("runDeadlineMs(): the creation plus the deadline", () => {
  assertEquals(runDeadlineMs(taskRun({ createdAtMs: 5_000, spec: { deadlineSeconds: 60 } })), 65_000);
});
