import { assert, assertEquals } from "@std/assert";
import { BUCKETS } from "../../../contracts/buckets.ts";
import { FleetError } from "../../../contracts/errors.ts";
import { createLogger } from "../../../lib/log.ts";
import { DEFAULT_BOUNDS } from "../../../operator/config.ts";
import { runOperator } from "../../../operator/run_operator.ts";
import { BucketGroupSource } from "../../../operator/groups/bucket_group_source.ts";
import type { GroupSource } from "../../../operator/groups/port.ts";
import { StoreWrites } from "../../../operator/reconcile/fleet_writes.ts";
import { EmbeddedStore } from "../../../operator/stores/embedded.ts";
import { type Fault, FaultyBus } from "../../fakes/faulty_bus.ts";
import { MemoryBroker, type MemoryBus } from "../../fakes/memory_bus.ts";
import { ScriptedDevice } from "../../fakes/scripted_device.ts";
import { waitUntil } from "../../nats/wait_until.ts";
import { withMemoryWorld } from "./memory_world.ts";

/** Groups that a test gives and takes away. */
class ScriptedGroups implements GroupSource {
  names: readonly string[] = ["edge"];
  fails = false;
  asked = 0;
  #tell: ((deviceId: string) => void) | undefined;

  groupsOf(): Promise<readonly string[]> {
    this.asked++;
    if (!this.fails) return Promise.resolve(this.names);
    const options = { code: "E_GROUPS", retry: "transient", failureClass: "environment" } as const;
    return Promise.reject(new FleetError("Cannot read the groups: the directory is away", options));
  }

  run(): Promise<void> {
    return Promise.resolve();
  }

  onChange(listener: (deviceId: string) => void): () => void {
    this.#tell = listener;
    return () => this.#tell = undefined;
  }

  change(deviceId: string): void {
    this.#tell?.(deviceId);
  }
}

Deno.test("a group source that fails is asked again, and takes no device from its release", () =>
  withMemoryWorld(async (world) => {
    const groups = new ScriptedGroups();
    await world.operator({ groups });
    const device = world.device("d1", { heartbeatMs: 50 });
    await world.release("stable");
    await world.untilRelease("stable", { targets: 1, current: 1 });
    groups.fails = true;
    groups.change("d1");
    await world.release("stable", { version: "1.2.0" });
    const { status } = await world.untilDevice(
      "d1",
      ({ conditions }) => conditions?.some(({ type }) => type === "GroupsKnown") === true,
    );
    assertEquals([status?.desiredRelease, status?.desiredReason], ["stable", "UpToDate"]);
    const asked = groups.asked;
    await world.rest(1_000);
    assert(groups.asked > asked, "asked again");
    assertEquals(device.executed.length, 1);
    // The rest of the device goes on being seen.
    await device.reflash("0.9.0");
    await world.untilDevice("d1", ({ agentVersion }) => agentVersion === "0.9.0");
    await world.untilRelease("stable", { targets: 1 });
    groups.fails = false;
    groups.change("d1");
    await world.untilDevice(
      "d1",
      ({ agentVersion, conditions }) => agentVersion === "1.2.0" && conditions === undefined,
    );
    groups.names = [];
    groups.change("d1");
    await world.untilDevice("d1", ({ desiredReason }) => desiredReason === "NoGroups");
    await world.untilRelease("stable", { targets: 0 });
  }));

/** One device that failed once, and a next release: few writes, and each of them matters. */
async function runWithFault(nth: number, fault: Fault): Promise<number> {
  let writes = 0;
  await withMemoryWorld(async (world, broker) => {
    await world.release("stable");
    const device = world.device("d1", {
      outcome: ({ targetVersion }) => targetVersion === "1.1.0" ? "failed" : "complete",
    });
    const bus = new FaultyBus(broker.connect(), nth, fault);
    const store = new EmbeddedStore(await bus.bucket(BUCKETS.resources));
    const operator = {
      bus,
      store,
      writes: new StoreWrites(store, () => bus.bucket(BUCKETS.upgradeIntent)),
    };
    await world.operator(operator);
    await world.groups("d1", ["edge"]);
    await world.untilRelease("stable", { targets: 1, failed: 1 });
    await world.release("next", { version: "1.2.0", priority: 1 });
    await world.untilRelease("next", { targets: 1, current: 1 });
    await world.untilRelease("stable", { targets: 0 });
    await world.rest(100);
    assertEquals(device.executed.map(({ targetVersion }) => targetVersion), ["1.1.0", "1.2.0"]);
    const [first] = device.executed;
    const final = await world.store.get("Device", "d1");
    assertEquals(final?.status?.failedIdentities, [first?.releaseIdentity]);
    writes = bus.writes;
  });
  return writes;
}

for (const fault of ["applied", "not-applied"] as const) {
  Deno.test(`whichever write gets no answer (${fault}), each attempt is written once and the end is the same`, async () => {
    let nth = 1;
    while (await runWithFault(nth, fault) >= nth) nth++;
    assert(nth > 8, `${nth - 1} writes`);
  });
}

/** A device that fails while no operator runs; then one comes whose n-th write gets no answer. */
async function failUnseen(nth: number, fault: Fault): Promise<number> {
  let writes = 0;
  await withMemoryWorld(async (world, broker) => {
    const stop = await world.operator();
    const device = world.device("d1", {
      phaseMs: 100,
      outcome: ({ targetVersion }) => targetVersion === "1.1.0" ? "failed" : "complete",
    });
    await world.groups("d1", ["edge"]);
    await world.release("stable");
    await world.untilDevice("d1", ({ upgrade }) => upgrade?.phase === "preparing");
    await stop();
    const statuses = await world.bus.bucket(BUCKETS.upgradeStatus);
    await waitUntil(
      "the failure",
      async () => new TextDecoder().decode((await statuses.get("d1"))?.value).includes('"phase":"failed"'),
    );
    await world.release("stable", { version: "1.2.0" });
    const bus = new FaultyBus(broker.connect(), nth, fault);
    const store = new EmbeddedStore(await bus.bucket(BUCKETS.resources));
    await world.operator({ bus, store, writes: new StoreWrites(store, () => bus.bucket(BUCKETS.upgradeIntent)) });
    const { status } = await world.untilDevice("d1", ({ desiredReason }) => desiredReason === "UpToDate");
    assertEquals(status?.failedIdentities, [device.executed[0]?.releaseIdentity], `write ${nth} ${fault}`);
    assertEquals(device.executed.length, 2);
    writes = bus.writes;
  });
  return writes;
}

Deno.test("a failure that nobody saw is remembered before it is overwritten, whichever write gets no answer", async () => {
  let nth = 1;
  while (await failUnseen(nth, "not-applied") >= nth) nth++;
  assert(nth > 3, `${nth - 1} writes`);
});

Deno.test("a connection that was given up is replaced by another one", async () => {
  const broker = new MemoryBroker();
  const made: MemoryBus[] = [];
  const ending = new AbortController();
  const lines: string[] = [];
  const running = runOperator({
    config: { bounds: DEFAULT_BOUNDS, fleetSize: 10, replicas: 1, groups: { source: "device-spec" } },
    connect: () => {
      const bus = broker.connect();
      made.push(bus);
      return Promise.resolve(bus);
    },
    log: createLogger({ sink: (line) => lines.push(line), format: "json" }),
  }, ending.signal);
  const isRead = () => lines.filter((line) => line.includes("the fleet is read")).length;
  await waitUntil("the fleet", () => isRead() === 1);
  made[0]?.emit({ kind: "closed" });
  await waitUntil("the fleet again", () => isRead() === 2);
  assertEquals(made.map(({ connected }) => connected), [false, true]);
  const bus = broker.connect();
  await new ScriptedDevice(bus, "d1").publishInfo();
  const store = new EmbeddedStore(await bus.bucket(BUCKETS.resources));
  await waitUntil("the device", () => store.get("Device", "d1"));
  ending.abort();
  await running;
  assertEquals(made.map(({ connected }) => connected), [false, false]);
});

Deno.test("groups from the bucket authorize in the place of the resource's, and one that cannot be read holds its device", () =>
  withMemoryWorld(async (world, broker) => {
    const log = createLogger({ sink: (line) => world.lines.push(line), format: "json" });
    await world.operator({ groups: new BucketGroupSource({ bus: broker.connect(), log }) });
    const bucket = await world.bus.bucket(BUCKETS.deviceGroups);
    const put = (id: string, document: unknown) => bucket.put(id, new TextEncoder().encode(JSON.stringify(document)));
    const [d1, d2] = [world.device("d1", { heartbeatMs: 50 }), world.device("d2", { heartbeatMs: 50 })];
    await world.groups("d2", ["edge"]);
    await world.release("stable");
    await world.untilDevice("d1", ({ desiredReason }) => desiredReason === "NoGroups");
    await world.untilDevice("d2", ({ desiredReason }) => desiredReason === "NoGroups");
    await put("d1", { schema: 1, groups: ["edge"] });
    await world.untilRelease("stable", { targets: 1, current: 1 });
    await put("d1", { schema: 1, groups: ["edge"], until: "tomorrow" });
    const { status } = await world.untilDevice("d1", ({ conditions }) => conditions !== undefined);
    assertEquals(status?.conditions?.map(({ type, reason, message }) => ({ type, reason, message })), [{
      type: "GroupsKnown",
      reason: "GroupSourceFailed",
      message: "Cannot read device-groups/d1: until: is not known here, known are schema, groups",
    }]);
    await world.release("stable", { version: "1.2.0" });
    await put("d2", { schema: 1, groups: ["edge"] });
    await world.untilDevice("d2", ({ agentVersion }) => agentVersion === "1.2.0");
    assertEquals(d1.executed.map(({ targetVersion }) => targetVersion), ["1.1.0"]);
    assertEquals(d2.executed.map(({ targetVersion }) => targetVersion), ["1.2.0"]);
    await put("d1", { schema: 1, groups: ["edge"] });
    await world.untilRelease("stable", { targets: 2, current: 2 });
    await world.untilDevice("d1", ({ conditions }) => conditions === undefined);
    await bucket.delete("d1");
    await world.untilRelease("stable", { targets: 1, current: 1 });
  }));
