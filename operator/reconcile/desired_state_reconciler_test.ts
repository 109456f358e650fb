import { assertEquals, assertRejects } from "@std/assert";
import { BUCKET_SPECS, BUCKETS, deploymentStatusKey, desiredStateFilter } from "../../contracts/buckets.ts";
import { FleetError } from "../../contracts/errors.ts";
import type { FleetDeploymentSpec } from "../../contracts/fleet_deployment.ts";
import { LOST_RACE_PAUSE_MS } from "../../contracts/limits.ts";
import { silentLogger } from "../../lib/log.ts";
import { snapshotMap } from "../../lib/bus/snapshot_map.ts";
import { FakeClock } from "../../tests/fakes/fake_clock.ts";
import { MemoryBroker, type MemoryBus } from "../../tests/fakes/memory_bus.ts";
import { deployment } from "../../tests/fakes/operator_samples.ts";
import { ScriptedDevice } from "../../tests/fakes/scripted_device.ts";
import { deviceSpecGroups } from "../groups/device_spec_groups.ts";
import type { GroupSource } from "../groups/port.ts";
import { EmbeddedStore } from "../stores/embedded.ts";
import { holdDocument } from "./bus_documents.ts";
import { DeploymentFeeds } from "./deployment_feeds.ts";
import { DeploymentView } from "./deployment_view.ts";
import { type DeploymentWrites, ObservedDeploymentWrites, StoredDeploymentWrites } from "./deployment_writes.ts";
import { DesiredStateReconciler } from "./desired_state_reconciler.ts";
import { FleetView } from "./fleet_view.ts";
import { Interner } from "./interner.ts";
import { Observer } from "./observer.ts";

/** A reconciler over buckets in memory; its view is what a test reads into it. */
class World {
  readonly clock = new FakeClock();
  readonly fleet = new FleetView();
  readonly view = new DeploymentView();
  readonly store: EmbeddedStore;
  readonly bus: MemoryBus;
  readonly feeds: DeploymentFeeds;
  reconciler: DesiredStateReconciler;
  groups: Pick<GroupSource, "groupsOf"> = deviceSpecGroups;
  readonly #interner = new Interner();

  private constructor(bus: MemoryBus, store: EmbeddedStore) {
    this.bus = bus;
    this.store = store;
    const nothing = () => {};
    const look = { device: nothing, deviceLater: nothing, deployment: nothing, deploymentLater: nothing };
    this.feeds = new DeploymentFeeds({
      view: this.view,
      fleet: this.fleet,
      interner: this.#interner,
      look: { ...look, placed: nothing },
      onDeployment: (name) => this.reconciler.forget(name),
      log: silentLogger,
    });
    this.reconciler = this.#with(new StoredDeploymentWrites(store, (name) => bus.bucket(name)));
  }

  static async open(): Promise<World> {
    const bus = new MemoryBroker().connect();
    await bus.ensureBuckets(BUCKET_SPECS, 10, 1);
    return new World(bus, new EmbeddedStore(await bus.bucket(BUCKETS.resources)));
  }

  #with(writes: DeploymentWrites): DesiredStateReconciler {
    return new DesiredStateReconciler({
      fleet: this.fleet,
      view: this.view,
      store: this.store,
      writes,
      groups: { groupsOf: (device) => this.groups.groupsOf(device) },
      time: { nowMs: () => this.clock.nowMs() },
      clock: this.clock,
      onDeployment: () => {},
      log: silentLogger,
    });
  }

  observe(told: string[]): void {
    this.reconciler = this.#with(new ObservedDeploymentWrites(new Observer((line) => told.push(line))));
  }

  async device(id: string, groups: string[] = ["edge"]): Promise<void> {
    await this.store.create("Device", { name: id, labels: {}, spec: { groups } });
    await this.see(id);
  }

  /** Brings the view of a device up to date, as the watch does. */
  async see(id: string): Promise<void> {
    const device = await this.store.get("Device", id);
    if (device !== null) this.fleet.putDevice(device);
    else {
      this.fleet.markDeleted(id);
      this.fleet.dropDevice(id, null);
    }
  }

  async deployment(name: string, changes: Partial<FleetDeploymentSpec> = {}): Promise<void> {
    const input = { name, labels: {}, spec: deployment({ name, ...changes }).spec };
    const present = await this.store.get("FleetDeployment", name);
    if (present === null) await this.store.create("FleetDeployment", input);
    else await this.store.replace("FleetDeployment", input, present.metadata.resourceVersion);
  }

  async seeDeployment(name: string): Promise<void> {
    const resource = await this.store.get("FleetDeployment", name);
    this.feeds.takeDeployment(resource === null ? { kind: "delete", name } : { kind: "put", resource });
  }

  /** What stands in the bucket for a device, as `name generation`, and the count. */
  async told(id: string): Promise<string[]> {
    const bucket = await this.bus.bucket(BUCKETS.desiredState);
    return [...(await snapshotMap(bucket, desiredStateFilter(id))).values()].map(({ value }) => {
      const { entries, generation, name } = JSON.parse(new TextDecoder().decode(value));
      return name === undefined ? `#${entries}` : `${name} ${generation}`;
    }).sort();
  }
}

Deno.test("a device is told once, entries before the generation", async () => {
  const world = await World.open();
  await world.device("d1");
  assertEquals(await world.reconciler.reconcile("d1"), null);
  assertEquals(await world.told("d1"), []);
  await world.deployment("web");
  await world.seeDeployment("web");
  assertEquals(await world.reconciler.reconcile("d1"), null);
  assertEquals(await world.told("d1"), ["#1", "web 1"]);
  const bucket = await world.bus.bucket(BUCKETS.desiredState);
  const { lastRevision } = await bucket.snapshot(">", () => {});
  assertEquals(await world.reconciler.reconcile("d1"), null);
  assertEquals((await bucket.snapshot(">", () => {})).lastRevision, lastRevision);
});

Deno.test("a view that is behind the store writes nothing", async () => {
  const world = await World.open();
  await world.device("d1");
  await world.deployment("web");
  await world.seeDeployment("web");
  // The device has left its group, and the watch has not said so.
  const device = await world.store.get("Device", "d1");
  await world.store.replace(
    "Device",
    { name: "d1", labels: {}, spec: { groups: [] } },
    device?.metadata.resourceVersion ?? "",
  );
  assertEquals(await world.reconciler.reconcile("d1"), LOST_RACE_PAUSE_MS);
  assertEquals(await world.told("d1"), []);
  await world.see("d1");
  await world.reconciler.reconcile("d1");
  assertEquals(await world.told("d1"), []);
});

Deno.test("a deployment that was deleted unseen is not written, and one that came back is not removed", async () => {
  const world = await World.open();
  await world.device("d1");
  await world.deployment("web");
  await world.seeDeployment("web");
  await world.store.delete("FleetDeployment", "web");
  assertEquals(await world.reconciler.reconcile("d1"), LOST_RACE_PAUSE_MS);
  assertEquals(await world.told("d1"), []);
  await world.deployment("db");
  await world.seeDeployment("web");
  await world.seeDeployment("db");
  await world.reconciler.reconcile("d1");
  assertEquals(await world.told("d1"), ["#1", "db 1"]);
  // It leaves the group's devices and comes back, and the watch has told the first half.
  await world.deployment("db", { allowedGroups: ["core"] });
  await world.seeDeployment("db");
  await world.deployment("db");
  assertEquals(await world.reconciler.reconcile("d1"), LOST_RACE_PAUSE_MS);
  assertEquals(await world.told("d1"), ["#1", "db 1"]);
  await world.seeDeployment("db");
  await world.reconciler.reconcile("d1");
  assertEquals(await world.told("d1"), ["#1", "db 3"]);
});

Deno.test("a write that another operator has made first is looked at again", async () => {
  const world = await World.open();
  await world.device("d1");
  await world.deployment("web");
  await world.seeDeployment("web");
  const bucket = await world.bus.bucket(BUCKETS.desiredState);
  await bucket.put("d1._generation", new TextEncoder().encode("{}"));
  assertEquals(await world.reconciler.reconcile("d1"), LOST_RACE_PAUSE_MS);
  assertEquals((await bucket.get("d1._generation"))?.value.length, 2);
});

Deno.test("groups that cannot be known remove nothing", async () => {
  const world = await World.open();
  await world.device("d1");
  await world.deployment("web");
  await world.seeDeployment("web");
  await world.reconciler.reconcile("d1");
  world.groups = { groupsOf: () => Promise.reject(new FleetError("away", { code: "E_GROUPS", retry: "transient" })) };
  await assertRejects(() => world.reconciler.reconcile("d1"), FleetError, "away");
  assertEquals(await world.told("d1"), ["#1", "web 1"]);
});

Deno.test("a device without a resource keeps what it has, unless it was seen to be deleted and does not live", async () => {
  const world = await World.open();
  await world.device("d1");
  await world.deployment("web");
  await world.seeDeployment("web");
  await world.reconciler.reconcile("d1");
  const uid = (await world.store.get("FleetDeployment", "web"))?.metadata.uid ?? "";
  const reports = await world.bus.bucket(BUCKETS.deploymentStatus);
  const revision = await reports.put(deploymentStatusKey("d1", uid), new TextEncoder().encode("{}"));
  world.view.putReport("d1", uid, { revision, receivedAtMs: 1, phase: "pending" });
  world.fleet.dropDevice("d1", null);
  assertEquals(await world.reconciler.reconcile("d1"), null);
  assertEquals(await world.told("d1"), ["#1", "web 1"]);
  // Deleted, but its info is there: it is made again.
  await world.store.delete("Device", "d1");
  await new ScriptedDevice(world.bus, "d1").publishInfo();
  const info = await (await world.bus.bucket(BUCKETS.deviceInfo)).get("d1");
  if (info !== null) {
    world.fleet.putDocument(BUCKETS.deviceInfo, "d1", holdDocument(BUCKETS.deviceInfo, info, new Interner()));
  }
  await world.see("d1");
  assertEquals(await world.reconciler.reconcile("d1"), null);
  assertEquals(await world.told("d1"), ["#1", "web 1"]);
  world.fleet.putDocument(BUCKETS.deviceInfo, "d1", null);
  assertEquals(await world.reconciler.reconcile("d1"), null);
  // The count stays: if it comes back it must run nothing.
  assertEquals(await world.told("d1"), ["#0"]);
  assertEquals(await reports.get(deploymentStatusKey("d1", uid)), null);
});

Deno.test("a device gets its first generation only while nothing speaks of a loss of everything", async () => {
  const world = await World.open();
  await world.device("d1", []);
  const report = (uid: string, name: string) =>
    world.view.putReport("d1", uid, { revision: 1, receivedAtMs: 1, phase: "ready", generation: 1, name });
  report("uid-of-lost", "lost");
  await world.reconciler.reconcile("d1");
  assertEquals(await world.told("d1"), []);
  // Something is placed again, and what the device runs beside it is still unknown.
  await world.store.delete("Device", "d1");
  await world.device("d1");
  await world.deployment("web");
  await world.seeDeployment("web");
  await world.reconciler.reconcile("d1");
  assertEquals(await world.told("d1"), ["web 1"]);
  // Applied and deleted: now it is known to be gone.
  world.feeds.takeDeployment({ kind: "delete", name: "lost" });
  await world.reconciler.reconcile("d1");
  assertEquals(await world.told("d1"), ["#1", "web 1"]);
});

Deno.test("observe mode tells what it would write, and writes nothing", async () => {
  const world = await World.open();
  await world.device("d1");
  await world.deployment("web");
  await world.seeDeployment("web");
  const told: string[] = [];
  world.observe(told);
  assertEquals(await world.reconciler.reconcile("d1"), null);
  await world.reconciler.reconcile("d1");
  const uid = (await world.store.get("FleetDeployment", "web"))?.metadata.uid;
  assertEquals(told.map((line) => JSON.parse(line)), [
    { write: "putEntry", name: `d1.${uid}`, deployment: "web", generation: 1 },
  ]);
  assertEquals(await world.told("d1"), []);
});
