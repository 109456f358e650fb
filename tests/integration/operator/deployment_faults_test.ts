import { assert, assertEquals } from "@std/assert";
import { BUCKET_SPECS, BUCKETS, desiredEntryKey, generationKey } from "../../../contracts/buckets.ts";
import { FleetError } from "../../../contracts/errors.ts";
import { snapshotMap } from "../../../lib/bus/snapshot_map.ts";
import type { GroupSource } from "../../../operator/groups/port.ts";
import { StoredDeploymentWrites } from "../../../operator/reconcile/deployment_writes.ts";
import { EmbeddedStore } from "../../../operator/stores/embedded.ts";
import { FaultyBus } from "../../fakes/faulty_bus.ts";
import { waitUntil } from "../../nats/wait_until.ts";
import { withMemoryWorld } from "./memory_world.ts";
import type { OperatorWorld } from "./operator_world.ts";

function test(name: string, body: Parameters<typeof withMemoryWorld>[0]): void {
  Deno.test(`deployments: ${name}`, () => withMemoryWorld(body));
}

async function makeDevice(world: OperatorWorld, id: string, groups = ["edge"]): Promise<void> {
  await world.store.create("Device", { name: id, labels: {}, spec: { groups } });
}

test("a group source that fails takes nothing from a device, and gives it nothing", async (world) => {
  let [names, fails]: [string[], boolean] = [["edge"], false];
  let tell: (id: string) => void = () => {};
  const groups: GroupSource = {
    groupsOf: () =>
      fails
        ? Promise.reject(new FleetError("Cannot read the groups", { code: "E_GROUPS", retry: "transient" }))
        : Promise.resolve(names),
    run: () => Promise.resolve(),
    onChange: (listener) => {
      tell = listener;
      return () => {};
    },
  };
  await world.operator({ groups });
  await makeDevice(world, "d1", []);
  await world.deployment("web");
  await world.untilTold("d1", ["web 1"]);
  await world.untilDeployment("web", { targets: 1 });
  fails = true;
  names = [];
  tell("d1");
  await world.deployment("db");
  await world.store.delete("FleetDeployment", "web");
  await world.until("FleetDeployment", "db", ({ status }) => status?.observedGeneration === 1);
  await world.rest();
  assertEquals(await world.told("d1"), { entries: ["web 1"], count: 1 });
  fails = false;
  tell("d1");
  await world.untilTold("d1", []);
  names = ["edge"];
  tell("d1");
  await world.untilTold("d1", ["db 1"]);
});

test(
  "a bucket that was lost is filled again, above what devices have seen, and no device removes anything",
  async (world, broker) => {
    await world.operator();
    for (const id of ["d1", "d2"]) await makeDevice(world, id);
    await world.deployment("web");
    const agents = [world.workloads("d1"), world.workloads("d2")];
    for (const id of ["d1", "d2"]) await world.untilTold(id, ["web 1"]);
    await world.untilDeployment("web", { targets: 2, ready: 2 });
    const generationOf = async (id: string) => {
      const entry = await (await world.bus.bucket(BUCKETS.desiredState)).get(generationKey(id));
      return entry === null ? 0 : JSON.parse(new TextDecoder().decode(entry.value)).generation as number;
    };
    const before = await generationOf("d1");
    broker.deleteBucket(BUCKETS.desiredState);
    await world.bus.ensureBuckets(BUCKET_SPECS, 1_000, 1);
    for (const id of ["d1", "d2"]) await world.untilTold(id, ["web 1"]);
    assert(await generationOf("d1") > before, "a device takes no older generation for whole");
    await world.deployment("db");
    await waitUntil("the agents", () => agents.every(({ running }) => running.join() === "db 1,web 1"));
    await world.store.delete("FleetDeployment", "web");
    await waitUntil("the removal", () => agents.every(({ running }) => running.join() === "db 1"));
    for (const { history } of agents) assertEquals(history, ["+web", "+db", "-web"]);
  },
);

test("a resource store that was lost removes nothing; what is applied again takes over", async (world, broker) => {
  const stop = await world.operator();
  await makeDevice(world, "d1");
  await world.deployment("web");
  await world.deployment("db");
  const agent = world.workloads("d1");
  await world.untilTold("d1", ["db 1", "web 1"]);
  broker.deleteBucket(BUCKETS.resources);
  await world.bus.ensureBuckets(BUCKET_SPECS, 1_000, 1);
  await world.rest();
  assertEquals(await world.told("d1"), { entries: ["db 1", "web 1"], count: 2 });
  // The same at a start, with a device that is seen again without groups.
  await stop();
  await world.operator();
  await makeDevice(world, "d1", []);
  await world.rest();
  assertEquals(await world.told("d1"), { entries: ["db 1", "web 1"], count: 2 });
  assert(world.lines.some((line) => line.includes("entries of deployments that nobody knows stay")));
  await world.groups("d1", ["edge"]);
  await world.deployment("web");
  await waitUntil(
    "the new web in place of the old",
    async () =>
      (await world.told("d1")).entries.join() === "db 1,web 1" &&
        agent.history.join() === "+db,+web,+web,-web" || agent.history.join() === "+web,+db,+web,-web",
  );
  await world.store.delete("FleetDeployment", "web");
  await world.untilTold("d1", ["db 1"]);
});

test("what somebody else changes in the bucket is put right", async (world) => {
  await world.operator();
  await makeDevice(world, "d1");
  await world.deployment("web");
  await world.untilTold("d1", ["web 1"]);
  const bucket = await world.bus.bucket(BUCKETS.desiredState);
  const uid = (await world.store.get("FleetDeployment", "web"))?.metadata.uid ?? "";
  const right = (await bucket.get(desiredEntryKey("d1", uid)))?.value;
  for (const text of ["{", JSON.stringify({ schema: 1, deploymentId: uid, name: "web", generation: 9 })]) {
    await bucket.put(desiredEntryKey("d1", uid), new TextEncoder().encode(text));
    await waitUntil("the entry", async () => {
      const value = (await bucket.get(desiredEntryKey("d1", uid)))?.value;
      return new TextDecoder().decode(value) === new TextDecoder().decode(right);
    });
  }
  await bucket.delete(desiredEntryKey("d1", uid));
  await world.untilTold("d1", ["web 1"]);
  await bucket.put(generationKey("d1"), new TextEncoder().encode("no generation"));
  await world.rest();
  await world.untilTold("d1", ["web 1"]);
  await bucket.delete(generationKey("d1"));
  await world.untilTold("d1", ["web 1"]);
});

/** Writes whose answers get lost, one in each run. */
async function runWithFault(nth: number, fault: "applied" | "not-applied"): Promise<number> {
  let writes = 0;
  await withMemoryWorld(async (world, broker) => {
    const bus = new FaultyBus(broker.connect(), nth, fault);
    const store = new EmbeddedStore(await bus.bucket(BUCKETS.resources));
    await world.operator({ deploymentWrites: new StoredDeploymentWrites(store, (name) => bus.bucket(name)) });
    await makeDevice(world, "d1");
    await world.deployment("web");
    world.workloads("d1");
    await world.untilTold("d1", ["web 1"]);
    await world.deployment("db");
    await world.store.delete("FleetDeployment", "web");
    await world.untilTold("d1", ["db 1"]);
    await world.untilDeployment("db", { targets: 1, ready: 1 });
    writes = bus.writes;
  });
  return writes;
}

for (const fault of ["applied", "not-applied"] as const) {
  Deno.test(`deployments: whichever write gets no answer (${fault}), the end is the same`, async () => {
    let nth = 1;
    while (await runWithFault(nth, fault) >= nth) nth++;
    assert(nth > 8, `${nth - 1} writes`);
  });
}

test("one event costs as few writes in a fleet of thousands as in a small one", async (world) => {
  const size = 10_000;
  for (let index = 0; index < size; index++) await makeDevice(world, `d${index}`);
  await world.deployment("web");
  await world.operator();
  await world.untilDeployment("web", { targets: size, pending: size }, 120_000);
  const desired = await snapshotMap(await world.bus.bucket(BUCKETS.desiredState), ">");
  assertEquals(desired.size, 2 * size);
  const before = await world.revision(BUCKETS.desiredState);
  const statuses: string[] = [];
  const ending = new AbortController();
  const watching = (async () => {
    for await (const event of world.store.watch("FleetDeployment", ending.signal)) {
      if (event.kind === "put") statuses.push(event.resource.metadata.resourceVersion);
    }
  })();
  const uid = (await world.store.get("FleetDeployment", "web"))?.metadata.uid ?? "";
  const agent = world.workloads("d7");
  await world.untilDeployment("web", { targets: size, ready: 1, pending: size - 1 });
  assertEquals(agent.running, ["web 1"]);
  await agent.publish(uid, "failed", { name: "web", generation: 1, error: "app: no" });
  await world.untilDeployment("web", { targets: size, ready: 0, failed: 1, lastError: "d7: app: no" });
  await world.groups("d7", []);
  await world.untilTold("d7", []);
  await world.untilDeployment("web", { targets: size - 1, failed: 0, pending: size - 1 });
  ending.abort();
  await watching;
  // One entry and one generation; the status that was there, and one for each of three events.
  assertEquals(await world.revision(BUCKETS.desiredState), before + 2);
  assert(statuses.length <= 5, `${statuses.length} statuses`);
});
