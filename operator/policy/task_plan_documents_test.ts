import { assert, assertEquals, assertLessOrEqual, assertThrows } from "@std/assert";
import { FleetError } from "../../contracts/errors.ts";
import { FLEET_SIZE_MAX, TASK_PLAN_CHUNK_DEVICES_MAX, TASK_PLAN_MAX_BYTES } from "../../contracts/limits.ts";
import { taskPlanManifest } from "../../contracts/task_plan.ts";
import { type PlanDocuments, planDocuments, PlanReader, type TaskPlan } from "./task_plan_documents.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const RUN = "7d2f4c1e-7d52-4a7e-9f5e-0d6f1a2b3c4d";
const NONCE = "8e3f4c1e-7d52-4a7e-9f5e-0d6f1a2b3c4d";
const ids = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}${String(index).padStart(6, "0")}`);

function documentsOf(canaries: readonly string[], others: readonly string[]): PlanDocuments {
  const targets = { canaries, others, incapable: 2 };
  return planDocuments({ runId: RUN, nonce: NONCE, targets, createdAtMs: 1_000, expiresAtMs: 61_000 });
}

function readBack({ chunks, manifest }: PlanDocuments): TaskPlan {
  const reader = new PlanReader(manifest);
  assertEquals(reader.keys, chunks.map(({ key }) => key));
  for (const { bytes } of chunks) reader.add(bytes);
  return reader.plan();
}

pure("a plan is read back as it was frozen, at every boundary of its chunks", () => {
  const size = TASK_PLAN_CHUNK_DEVICES_MAX;
  const cases: [canaries: number, others: number][] = [
    [0, 1],
    [1, 0],
    [1, 2],
    [0, size],
    [0, size + 1],
    [size, size],
    [size - 1, size + 2],
    [size + 1, 3],
    [3, 2 * size],
  ];
  for (const [canaries, others] of cases) {
    const documents = documentsOf(ids("c", canaries), ids("d", others));
    const plan = readBack(documents);
    assertEquals([plan.canaries, plan.others], [ids("c", canaries), ids("d", others)], `${canaries}, ${others}`);
    assertEquals(documents.chunks.length, Math.ceil((canaries + others) / size));
    assertEquals(taskPlanManifest(documents.manifest, ""), documents.manifest);
    const { targets, expiresAt } = plan.manifest;
    assertEquals([targets, plan.manifest.canaries, expiresAt], [
      canaries + others,
      canaries,
      "1970-01-01T00:01:01.000Z",
    ]);
  }
});

pure("the largest plan has the most chunks, and each fits its bound", () => {
  const longest = Array.from({ length: FLEET_SIZE_MAX }, (_, index) => `${index}`.padStart(63, "d"));
  const { chunks, manifest } = documentsOf([], longest);
  assertEquals(manifest.chunks.length, FLEET_SIZE_MAX / TASK_PLAN_CHUNK_DEVICES_MAX);
  for (const { bytes } of chunks) assertLessOrEqual(bytes.byteLength, TASK_PLAN_MAX_BYTES);
  assertEquals(taskPlanManifest(manifest, "").targets, FLEET_SIZE_MAX);
});

pure("a chunk that is gone, another one, or one of another run is a lost plan", () => {
  const { chunks: [chunk], manifest } = documentsOf(["c1"], ["d1", "d2"]);
  assert(chunk !== undefined);
  const foreign = documentsOf(["c1"], ["d1", "d3"]).chunks[0]?.bytes ?? null;
  const cut = chunk.bytes.subarray(0, 20);
  for (const bytes of [null, foreign, cut, new Uint8Array(0)]) {
    const reader = new PlanReader(manifest);
    assertEquals(assertThrows(() => reader.add(bytes), FleetError).code, "E_TASK_PLAN_LOST");
  }
  for (const counted of [{ targets: 4 }, { canaries: 0 }]) {
    const reader = new PlanReader({ ...manifest, ...counted });
    reader.add(chunk.bytes);
    assertEquals(assertThrows(() => reader.plan(), FleetError).code, "E_TASK_PLAN_LOST");
  }
  assertEquals(
    assertThrows(() => new PlanReader(manifest).plan(), FleetError).message,
    "Cannot read the frozen plan: its chunks have other devices than the manifest counts",
  );
});

pure("ids are shared with what is in memory already", () => {
  const { chunks: [chunk], manifest } = documentsOf([], ["d1", "d2"]);
  const shared = new Map([["d1", "d1"], ["d2", "d2"]]);
  const reader = new PlanReader(manifest);
  const asked: string[] = [];
  reader.add(chunk?.bytes ?? null, (id) => {
    asked.push(id);
    return shared.get(id) ?? id;
  });
  assertEquals([asked, reader.plan().others], [["d1", "d2"], ["d1", "d2"]]);
});
