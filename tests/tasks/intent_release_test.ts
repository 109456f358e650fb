import { assert, assertEquals, assertRejects } from "@std/assert";
import { BUCKET_SPECS, type BucketName, BUCKETS, systemUpgradeKey } from "../../contracts/buckets.ts";
import { FleetError } from "../../contracts/errors.ts";
import { RELEASE_BATCH } from "../../contracts/limits.ts";
import type { TaskRun } from "../../contracts/task_run.ts";
import { silentLogger } from "../../lib/log.ts";
import { planDocuments } from "../../operator/policy/task_plan_documents.ts";
import { FleetView } from "../../operator/reconcile/fleet_view.ts";
import { EmbeddedStore } from "../../operator/stores/embedded.ts";
import { IntentIndex } from "../../operator/tasks/intent_index.ts";
import { type ReleasedRun, releaseWave } from "../../operator/tasks/intent_release.ts";
import { RunProgress } from "../../operator/tasks/run_progress.ts";
import { RunView } from "../../operator/tasks/run_view.ts";
import { StoredTaskWrites } from "../../operator/tasks/task_writes.ts";
import { MemoryBroker } from "../fakes/memory_bus.ts";
import { runSpec } from "../fakes/task_samples.ts";

const START_MS = Date.parse("2026-06-01T00:00:00.000Z");

/** A run over some devices whose authorization a test decides, question by question. */
async function world(deviceCount: number) {
  const broker = new MemoryBroker(() => START_MS);
  for (const spec of BUCKET_SPECS) broker.createBucket(spec, 100);
  const bus = broker.connect();
  const store = new EmbeddedStore(await bus.bucket(BUCKETS.resources));
  const ids = Array.from({ length: deviceCount }, (_, index) => `d${String(index).padStart(3, "0")}`);
  const fleet = new FleetView();
  for (const id of ids) {
    const created = await store.create("Device", { name: id, labels: {}, spec: { groups: ["edge"] } });
    if (created.ok) fleet.putDevice(created.resource);
  }
  const created = await store.create("TaskRun", { name: "upgrade", labels: {}, spec: runSpec() });
  assert(created.ok);
  const { uid, resourceVersion } = created.resource.metadata;
  const counts = { targets: deviceCount, canaries: 0, released: 0, succeeded: 0, failed: 0, incapable: 0 };
  const started = await store.replaceStatus("TaskRun", "upgrade", { phase: "Running", ...counts }, resourceVersion);
  assert(started.ok);
  const { manifest } = planDocuments({
    runId: uid,
    nonce: crypto.randomUUID(),
    targets: { canaries: [], others: ids, incapable: 0 },
    createdAtMs: START_MS,
    expiresAtMs: START_MS + 1_000,
  });
  const plan = { manifest, canaries: [], others: ids };
  const released: ReleasedRun = { plan, progress: new RunProgress(plan), checkedWave: null };
  const told = { asked: 0, groupsOf: (_id: string, _asked: number): string[] => ["edge"], nowMs: START_MS };
  const runs = new RunView();
  const context = {
    fleet,
    runs,
    intents: new IntentIndex({ onIntent: () => {}, share: (id) => id, log: silentLogger }),
    store,
    writes: new StoredTaskWrites(store, (name: BucketName) => bus.bucket(name)),
    groups: {
      groupsOf: ({ metadata }: { metadata: { name: string } }) =>
        Promise.resolve(told.groupsOf(metadata.name, ++told.asked)),
      run: () => Promise.resolve(),
      onChange: () => () => {},
    },
    time: { nowMs: () => told.nowMs },
  };
  const run: TaskRun = started.resource;
  const written = () =>
    broker.stream(BUCKETS.systemUpgradeIntent)?.matching("*.*").map(({ key }) => key.slice(0, 4)) ?? [];
  return {
    broker,
    bus,
    context,
    fleet,
    ids,
    plan,
    release: () => releaseWave(context, run, released, "others"),
    run,
    store,
    told,
    written,
  };
}

Deno.test("release: a wave is checked whole before its first intent", async () => {
  const { release, told, written } = await world(RELEASE_BATCH + 10);
  // The last of them, far behind the first batch.
  told.groupsOf = (id) => id === "d073" ? ["core"] : ["edge"];
  assertEquals(await release(), { kind: "revoked", deviceId: "d073" });
  assertEquals(written(), []);
});

Deno.test("release: each device is checked again right before its own intent", async () => {
  const { release, told, written } = await world(5);
  // Authorized while the wave is looked at, and not any more when its own turn comes.
  told.groupsOf = (id, asked) => id === "d003" && asked > 5 ? [] : ["edge"];
  assertEquals(await release(), { kind: "revoked", deviceId: "d003" });
  assert(!written().includes("d003"));
});

Deno.test("release: goes on in batches, and checks the later ones right before their intents too", async () => {
  const { ids, release, told, written } = await world(RELEASE_BATCH + 3);
  assertEquals(await release(), { kind: "released" });
  assertEquals(written(), ids.slice(0, RELEASE_BATCH));
  assertEquals(told.asked, ids.length + RELEASE_BATCH);
  told.groupsOf = (id) => id === "d065" ? [] : ["edge"];
  assertEquals(await release(), { kind: "revoked", deviceId: "d065" });
});

Deno.test("release: a group source that fails writes nothing, and is asked again", async () => {
  const { context, release, written } = await world(2);
  const { groupsOf } = context.groups;
  context.groups.groupsOf = () => Promise.reject(new FleetError("away", { code: "E_GROUPS", retry: "transient" }));
  const error = await assertRejects(release, FleetError);
  assertEquals([error.code, error.retry, written()], ["E_TASK_GROUPS_UNKNOWN", "transient", []]);
  context.groups.groupsOf = groupsOf;
  assertEquals(await release(), { kind: "released" });
});

Deno.test("release: a device that is gone is revoked, one that cannot be read is not known", async () => {
  const { fleet, release } = await world(2);
  fleet.dropDevice("d001", "schema: is 2");
  assertEquals((await assertRejects(release, FleetError)).code, "E_TASK_GROUPS_UNKNOWN");
  fleet.dropDevice("d001", null);
  assertEquals(await release(), { kind: "revoked", deviceId: "d001" });
});

Deno.test("release: a run that somebody else has ended, or deleted, or made anew, goes no further", async () => {
  for (const what of ["ended", "deleted", "made anew"]) {
    const { release, run, store, written } = await world(2);
    if (what === "ended" && run.status !== undefined) {
      const status = { ...run.status, phase: "Failed", reason: "TargetRevoked" } as const;
      await store.replaceStatus("TaskRun", "upgrade", status, run.metadata.resourceVersion);
    } else await store.delete("TaskRun", "upgrade");
    if (what === "made anew") await store.create("TaskRun", { name: "upgrade", labels: {}, spec: runSpec() });
    assertEquals([await release(), written()], [{ kind: "over" }, []], what);
  }
});

Deno.test("release: nothing at the deadline", async () => {
  for (const [nowMs, kind] of [[START_MS + 999, "released"], [START_MS + 1_000, "over"]] as const) {
    const { release, told } = await world(1);
    told.nowMs = nowMs;
    assertEquals((await release()).kind, kind);
  }
});

Deno.test("release: an intent that was ever there is not written again, a removed one included", async () => {
  const { bus, plan: { manifest }, release, run, written } = await world(3);
  const intents = await bus.bucket(BUCKETS.systemUpgradeIntent);
  const { uid } = run.metadata;
  await intents.put(systemUpgradeKey("d000", uid), new TextEncoder().encode("of another operator"));
  await intents.put(systemUpgradeKey("d001", uid), new TextEncoder().encode("of an earlier life"));
  await intents.delete(systemUpgradeKey("d001", uid));
  assertEquals(await release(), { kind: "released" });
  const texts = await Promise.all(["d000", "d001", "d002"].map(async (id) => {
    const entry = await intents.get(systemUpgradeKey(id, uid));
    return entry === null ? null : new TextDecoder().decode(entry.value).slice(0, 20);
  }));
  assertEquals([texts[0], texts[1]], ["of another operator", null]);
  assert(texts[2]?.startsWith("{") && manifest.runId === uid && written().length === 3);
});
