import { assert, assertEquals, assertRejects } from "@std/assert";
import { BUCKET_SPECS, type BucketName, BUCKETS } from "../../contracts/buckets.ts";
import { FleetError } from "../../contracts/errors.ts";
import { TASK_DEADLINE_MAX_S } from "../../contracts/limits.ts";
import { silentLogger } from "../../lib/log.ts";
import { FleetView } from "../../operator/reconcile/fleet_view.ts";
import { EmbeddedStore } from "../../operator/stores/embedded.ts";
import { loadPlan } from "../../operator/tasks/load_plan.ts";
import { planRun } from "../../operator/tasks/run_planner.ts";
import { StoredTaskWrites } from "../../operator/tasks/task_writes.ts";
import { MemoryBroker } from "../fakes/memory_bus.ts";
import { RUN_ID, taskRun } from "../fakes/task_samples.ts";

const START_MS = Date.parse("2026-06-01T00:00:00.000Z");
const CAPABLE = ["https", "AptFullUpgradeV1"];

/** What a planner works with; devices as `id site canary`. */
async function planner(devices: readonly string[]) {
  const broker = new MemoryBroker(() => START_MS);
  for (const spec of BUCKET_SPECS) broker.createBucket(spec, 100);
  const bus = broker.connect();
  const bucket = (name: BucketName) => bus.bucket(name);
  const store = new EmbeddedStore(await bucket(BUCKETS.resources));
  const fleet = new FleetView();
  for (const device of devices) {
    const [name = "", site = "", canary] = device.split(" ");
    const labels: Record<string, string> = { site, ...(canary === undefined ? {} : { canary: "true" }) };
    const created = await store.create("Device", { name, labels, spec: { groups: ["edge"] } });
    if (created.ok) fleet.putDevice(created.resource);
    const os = { name: "Debian", version: "12", kernel: "6.1" };
    const updater = { version: "1.0.0", capabilities: CAPABLE };
    const value = {
      agentVersion: "1.0.0",
      arch: "x86_64",
      form: "script",
      os,
      updater,
      step: "ready",
      receivedAtMs: 0,
    } as const;
    fleet.putDocument(BUCKETS.deviceInfo, name, { revision: 1, receivedAtMs: 0, value });
  }
  const asked: string[] = [];
  const failing = new Set<string>();
  return {
    asked,
    failing,
    broker,
    plans: await bucket(BUCKETS.taskPlan),
    context: {
      fleet,
      bucket,
      writes: new StoredTaskWrites(store, bucket),
      groups: {
        groupsOf: (
          { metadata: { name }, spec }: { metadata: { name: string }; spec: { groups: readonly string[] } },
        ) => {
          asked.push(name);
          return failing.has(name) ? Promise.reject(new Error("the directory is away")) : Promise.resolve(spec.groups);
        },
        run: () => Promise.resolve(),
        onChange: () => () => {},
      },
      time: { nowMs: () => START_MS },
      log: silentLogger,
    },
  };
}

const BASEL = { targetSelector: { matchLabels: { site: "basel" } } };

Deno.test("planning: canaries and others as they are at that moment, in order of id", async () => {
  const { context, plans } = await planner(["d2 basel", "d10 basel canary", "d1 basel", "d3 bern"]);
  const planned = await planRun(context, taskRun({ createdAtMs: START_MS, spec: BASEL }));
  assert(planned.kind === "frozen");
  assertEquals([planned.plan.canaries, planned.plan.others], [["d10"], ["d1", "d2"]]);
  assertEquals(await loadPlan(plans, RUN_ID), planned.plan);
});

Deno.test("planning: a device that the labels leave out is not asked for, and cannot stop a run", async () => {
  const { asked, context, failing } = await planner(["d1 basel", "d2 bern"]);
  failing.add("d2");
  assertEquals((await planRun(context, taskRun({ createdAtMs: START_MS, spec: BASEL }))).kind, "frozen");
  assertEquals(asked, ["d1"]);
  failing.add("d1");
  const run = taskRun({ createdAtMs: START_MS, uid: crypto.randomUUID(), spec: BASEL });
  assertEquals((await assertRejects(() => planRun(context, run), FleetError)).code, "E_TASK_GROUPS_UNKNOWN");
});

Deno.test("planning: who comes second loads the first one's plan, whatever the fleet is by then", async () => {
  const first = await planner(["d1 basel", "d2 basel"]);
  const run = taskRun({ createdAtMs: START_MS, spec: BASEL });
  const frozen = await planRun(first.context, run);
  first.context.fleet.dropDevice("d2", null);
  const again = await planRun(first.context, run);
  assert(frozen.kind === "frozen" && again.kind === "frozen");
  assertEquals([again.plan.others, again.plan.manifest], [["d1", "d2"], frozen.plan.manifest]);
});

Deno.test("planning: chunks without a manifest are no plan", async () => {
  const { broker, context, plans } = await planner(["d1 basel"]);
  const bus = broker.connect();
  await assertRejects(() =>
    planRun({
      ...context,
      writes: {
        writePlan: async ({ chunks }) => {
          for (const { bytes, key } of chunks) await (await bus.bucket(BUCKETS.taskPlan)).put(key, bytes);
          throw new Error("killed");
        },
      },
    }, taskRun({ createdAtMs: START_MS }))
  );
  assertEquals(await loadPlan(plans, RUN_ID), null);
  assertEquals((await planRun(context, taskRun({ createdAtMs: START_MS }))).kind, "frozen");
});

Deno.test("planning: an attempt lasts for a week at most, also when the run was made by a clock that is ahead", async () => {
  const { context } = await planner(["d1 basel"]);
  const createdAtMs = START_MS + 5_000;
  const planned = await planRun(context, taskRun({ createdAtMs, spec: { deadlineSeconds: TASK_DEADLINE_MAX_S } }));
  assert(planned.kind === "frozen");
  const { createdAt, expiresAt } = planned.plan.manifest;
  assertEquals(Date.parse(expiresAt) - Date.parse(createdAt), TASK_DEADLINE_MAX_S * 1_000);
  assertEquals(Date.parse(createdAt), createdAtMs);
});

Deno.test("planning: NoTargets says who matched and cannot do it; the deadline comes before everything", async () => {
  const { context } = await planner(["d1 basel"]);
  const none = await planRun(context, taskRun({ createdAtMs: START_MS, spec: { allowedGroups: ["core"] } }));
  assert(none.kind === "failed");
  assertEquals([none.reason, none.incapable], ["NoTargets", 0]);
  const late = await planRun(context, taskRun({ createdAtMs: START_MS - 60_000, spec: { deadlineSeconds: 60 } }));
  assertEquals(late.kind === "failed" ? late.reason : late.kind, "DeadlineExceeded");
});
