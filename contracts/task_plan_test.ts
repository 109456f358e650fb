import { assertEquals } from "@std/assert";
import { assertRejected, assertStrictDecoder } from "../tests/assert/strict_decoder.ts";
import { historyRecord, planChunk, planManifest } from "../tests/golden/task_documents.ts";
import { FLEET_SIZE_MAX, TASK_PLAN_CHUNK_DEVICES_MAX, TASK_PLAN_CHUNKS_MAX } from "./limits.ts";
import { taskHistoryRecord, taskPlanChunk, taskPlanManifest } from "./task_plan.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

pure("task plan: manifest and chunk are strict in every field", () => {
  assertStrictDecoder(taskPlanManifest, planManifest);
  assertStrictDecoder(taskPlanChunk, planChunk);
});

pure("task plan: a manifest has a target at least, and no more canaries than targets", () => {
  assertEquals(taskPlanManifest({ ...planManifest, canaries: 3 }, "").canaries, 3);
  assertRejected(taskPlanManifest, { ...planManifest, canaries: 4 }, "canaries");
  assertRejected(taskPlanManifest, { ...planManifest, targets: 0 }, "targets");
  assertRejected(taskPlanManifest, { ...planManifest, chunks: [] }, "chunks");
});

pure("task plan: bounds of chunks", () => {
  const [digest] = planManifest.chunks;
  for (const count of [TASK_PLAN_CHUNKS_MAX - 1, TASK_PLAN_CHUNKS_MAX]) {
    assertEquals(taskPlanManifest({ ...planManifest, chunks: Array(count).fill(digest) }, "").chunks.length, count);
  }
  assertRejected(
    taskPlanManifest,
    { ...planManifest, chunks: Array(TASK_PLAN_CHUNKS_MAX + 1).fill(digest) },
    "chunks",
  );
  const chunkOf = (count: number) => ({ ...planChunk, others: Array(count).fill("device-2") });
  for (const count of [TASK_PLAN_CHUNK_DEVICES_MAX - 1, TASK_PLAN_CHUNK_DEVICES_MAX]) {
    assertEquals(taskPlanChunk(chunkOf(count), "").others.length, count);
  }
  assertRejected(taskPlanChunk, chunkOf(TASK_PLAN_CHUNK_DEVICES_MAX + 1), "others");
  assertRejected(taskPlanChunk, { ...planChunk, index: TASK_PLAN_CHUNKS_MAX }, "index");
  assertEquals(TASK_PLAN_CHUNKS_MAX * TASK_PLAN_CHUNK_DEVICES_MAX, FLEET_SIZE_MAX);
});

pure("task history: a record is read back, and its counts are needed", () => {
  assertEquals(taskHistoryRecord(historyRecord, ""), historyRecord);
  for (const name of ["runId", "name", "spec", "phase", "reason", "targets", "lateFailed", "completedAt"]) {
    const { [name]: _, ...rest } = { ...historyRecord } as Record<string, unknown>;
    assertRejected(taskHistoryRecord, rest, name);
  }
});
