import { assert, assertEquals, assertRejects } from "@std/assert";
import { BUCKET_SPECS, BUCKETS } from "../../contracts/buckets.ts";
import { LOST_RACE_PAUSE_MS } from "../../contracts/limits.ts";
import { silentLogger } from "../../lib/log.ts";
import { FakeClock } from "../../tests/fakes/fake_clock.ts";
import { MemoryBroker, type MemoryBus } from "../../tests/fakes/memory_bus.ts";
import { release } from "../../tests/fakes/operator_samples.ts";
import { ScriptedDevice } from "../../tests/fakes/scripted_device.ts";
import { deviceSpecGroups } from "../groups/device_spec_groups.ts";
import { releaseTarget } from "../policy/release_target.ts";
import { WriteThrottle } from "../runtime/write_throttle.ts";
import { EmbeddedStore } from "../stores/embedded.ts";
import { type DeviceBucket, holdDocument } from "./bus_documents.ts";
import { DeviceReconciler, type DeviceReconcilerOptions } from "./device_reconciler.ts";
import { FleetView } from "./fleet_view.ts";
import { type FleetWrites, StoreWrites } from "./fleet_writes.ts";
import { Interner } from "./interner.ts";

const BOUNDS = { heartbeatIntervalMs: 30_000, staleAfterMs: 120_000, lostAfterMs: 1_000_000 };
const RELEASE = release({ name: "stable" });

/** A reconciler over buckets in memory; its view is what a test reads into it, its writes are listed in order. */
class World {
  readonly clock = new FakeClock();
  readonly view = new FleetView();
  readonly order: string[] = [];
  readonly store: EmbeddedStore;
  readonly reconciler: DeviceReconciler;
  readonly bus: MemoryBus;
  readonly options: DeviceReconcilerOptions;
  readonly #interner = new Interner();

  private constructor(bus: MemoryBus, store: EmbeddedStore) {
    this.bus = bus;
    this.store = store;
    this.options = {
      view: this.view,
      store,
      bucket: (name) => bus.bucket(name),
      writes: this.#listed(new StoreWrites(store, () => bus.bucket(BUCKETS.upgradeIntent))),
      groups: deviceSpecGroups,
      time: { nowMs: () => this.clock.nowMs(), watchedSinceMs: 0 },
      throttle: new WriteThrottle(1_000, this.clock),
      bounds: BOUNDS,
      interner: this.#interner,
      onRelease: () => {},
      onPlacement: () => {},
      log: silentLogger,
    };
    this.reconciler = new DeviceReconciler(this.options);
  }

  static async open(): Promise<World> {
    const bus = new MemoryBroker().connect();
    await bus.ensureBuckets(BUCKET_SPECS, 10, 1);
    return new World(bus, new EmbeddedStore(await bus.bucket(BUCKETS.resources)));
  }

  #listed(writes: FleetWrites): FleetWrites {
    const listed = <T>(name: string, work: () => Promise<T>): Promise<T> => {
      this.order.push(name);
      return work();
    };
    return {
      observing: false,
      createDevice: (id) => listed("create", () => writes.createDevice(id)),
      writeAttempt: (content, revision) => listed("attempt", () => writes.writeAttempt(content, revision)),
      withdrawAttempt: (id, revision) => listed("withdraw", () => writes.withdrawAttempt(id, revision)),
      writeDeviceStatus: (device, status) => listed("status", () => writes.writeDeviceStatus(device, status)),
      writeReleaseStatus: (target, status) => listed("release", () => writes.writeReleaseStatus(target, status)),
    };
  }

  /** A device in the group `edge` whose info stands in its bucket. */
  async device(id: string): Promise<ScriptedDevice> {
    const device = new ScriptedDevice(this.bus, id);
    await device.publishInfo();
    await this.store.create("Device", { name: id, labels: {}, spec: { groups: ["edge"] } });
    return device;
  }

  /** Brings the view up to date, as the watches do. */
  async see(
    id: string,
    buckets: readonly DeviceBucket[] = [BUCKETS.deviceInfo, BUCKETS.upgradeStatus, BUCKETS.upgradeIntent],
  ): Promise<void> {
    const device = await this.store.get("Device", id);
    if (device !== null) this.view.putDevice(device);
    for (const name of buckets) {
      const entry = await (await this.bus.bucket(name)).get(id);
      this.view.putDocument(name, id, entry === null ? null : holdDocument(name, entry, this.#interner));
    }
  }

  async put(name: DeviceBucket, id: string, text: string): Promise<void> {
    await (await this.bus.bucket(name)).put(id, new TextEncoder().encode(text));
  }

  async intentVersion(id: string): Promise<string | null> {
    const entry = await (await this.bus.bucket(BUCKETS.upgradeIntent)).get(id);
    return entry === null ? null : JSON.parse(new TextDecoder().decode(entry.value)).targetVersion;
  }

  /** Writes the attempt of a release, and lets the device report a phase of it. */
  async attempted(id: string, phase: "failed" | "complete"): Promise<void> {
    const device = await this.device(id);
    await this.see(id);
    await this.reconciler.reconcile(id);
    const entry = await (await this.bus.bucket(BUCKETS.upgradeIntent)).get(id);
    assert(entry !== null);
    await device.publishPhase(JSON.parse(new TextDecoder().decode(entry.value)), phase, "bad");
    await this.clock.advance(1_000);
    this.order.length = 0;
  }
}

Deno.test("a device info makes the resource, once", async () => {
  const world = await World.open();
  await new ScriptedDevice(world.bus, "d1").publishInfo();
  await world.see("d1");
  await world.reconciler.reconcile("d1");
  assertEquals(world.order, ["create", "status"]);
  await world.clock.advance(1_000);
  await world.reconciler.reconcile("d1");
  assertEquals(world.order, ["create", "status"]);
});

Deno.test("an attempt is written before the status that tells of it", async () => {
  const world = await World.open();
  world.view.putRelease(RELEASE);
  await world.device("d1");
  await world.see("d1");
  await world.reconciler.reconcile("d1");
  assertEquals(world.order, ["attempt", "status"]);
  assertEquals((await world.store.get("Device", "d1"))?.status?.desiredReason, "Pending");
});

Deno.test("a failed identity is stored before the attempt that overwrites the status that told it", async () => {
  const world = await World.open();
  world.view.putRelease(RELEASE);
  await world.attempted("d1", "failed");
  world.view.putRelease(release({ name: "stable", version: "1.2.0", revision: 2 }));
  await world.see("d1");
  await world.reconciler.reconcile("d1");
  assertEquals(world.order, ["status", "attempt"]);
  assertEquals((await world.store.get("Device", "d1"))?.status?.failedIdentities.length, 1);
});

Deno.test("an attempt waits as long as the status that must come first does", async () => {
  const world = await World.open();
  world.view.putRelease(RELEASE);
  await world.attempted("d1", "failed");
  await world.see("d1", []);
  await new ScriptedDevice(world.bus, "d1", { version: "0.9.0" }).publishInfo();
  await world.see("d1", [BUCKETS.deviceInfo]);
  await world.reconciler.reconcile("d1");
  assertEquals(world.order, ["status"]);
  world.view.putRelease(release({ name: "stable", version: "1.2.0", revision: 2 }));
  await world.see("d1");
  await world.clock.advance(400);
  assertEquals(await world.reconciler.reconcile("d1"), 600);
  assertEquals([world.order, await world.intentVersion("d1")], [["status"], "1.1.0"]);
  await world.clock.advance(600);
  await world.reconciler.reconcile("d1");
  assertEquals([world.order, await world.intentVersion("d1")], [["status", "status", "attempt"], "1.2.0"]);
});

Deno.test("what stands in the buckets decides, not a watch that lags behind", async () => {
  const world = await World.open();
  world.view.putRelease(RELEASE);
  const device = await world.device("d1");
  await world.see("d1");
  // The device has reached the version by other means, and the watch has not told it yet.
  device.version = "1.1.0";
  await device.publishInfo();
  await world.reconciler.reconcile("d1");
  assertEquals(world.order, ["status"]);
  assertEquals(await world.intentVersion("d1"), null);
});

Deno.test("an attempt that another operator has just written is kept", async () => {
  const world = await World.open();
  world.view.putRelease(RELEASE);
  await world.device("d1");
  await world.see("d1");
  const other = new StoreWrites(world.store, () => world.bus.bucket(BUCKETS.upgradeIntent));
  const [artifact] = RELEASE.spec.artifacts;
  assert(artifact !== undefined);
  const target = releaseTarget(RELEASE, artifact.arch, artifact.form);
  assert(target !== undefined);
  const { url, maxBytes, sha256 } = artifact;
  const content = {
    deviceId: "d1",
    targetVersion: "1.1.0",
    arch: artifact.arch,
    artifact: { url, maxBytes, sha256 },
    releaseIdentity: target.identity,
  };
  await other.writeAttempt(content, null);
  await world.reconciler.reconcile("d1");
  assertEquals(world.order, ["status"]);
});

Deno.test("a lost race is looked at again soon", async () => {
  const world = await World.open();
  world.view.putRelease(RELEASE);
  await world.device("d1");
  await world.see("d1");
  const racing = new DeviceReconciler({
    ...world.options,
    bucket: async (name) => {
      const bucket = await world.bus.bucket(name);
      if (name !== BUCKETS.upgradeIntent) return bucket;
      const get = async (key: string) => {
        const entry = await bucket.get(key);
        // Somebody writes between the look and the write.
        await world.put(name, key, "{}");
        return entry;
      };
      return new Proxy(bucket, { get: (target, member) => member === "get" ? get : Reflect.get(target, member) });
    },
  });
  assertEquals(await racing.reconcile("d1"), LOST_RACE_PAUSE_MS);
  assertEquals(world.order, ["attempt"]);
});

Deno.test("a device whose resource cannot be read is left alone", async () => {
  const world = await World.open();
  world.view.putRelease(RELEASE);
  await world.device("d1");
  await world.see("d1");
  world.view.dropDevice("d1", "not JSON");
  assertEquals([await world.reconciler.reconcile("d1"), world.order], [null, []]);
  assertEquals([await world.reconciler.reconcile("d2"), world.order], [null, []]);
});

Deno.test("a write whose outcome is unknown is an error, and the next look finds out", async () => {
  for (const outcome of ["applied", "not-applied"] as const) {
    const world = await World.open();
    world.view.putRelease(RELEASE);
    await world.device("d1");
    await world.see("d1");
    world.bus.loseNextAnswer = outcome;
    await assertRejects(() => world.reconciler.reconcile("d1"));
    await world.reconciler.reconcile("d1");
    assertEquals(world.order.filter((name) => name === "attempt").length, outcome === "applied" ? 1 : 2);
    assertEquals(await world.intentVersion("d1"), "1.1.0");
  }
});

Deno.test("an attempt that the device has not taken is withdrawn when no release decides any more", async () => {
  const world = await World.open();
  world.view.putRelease(RELEASE);
  await world.device("d1");
  await world.see("d1");
  await world.reconciler.reconcile("d1");
  world.view.dropRelease("stable", false);
  await world.clock.advance(1_000);
  await world.see("d1");
  await world.reconciler.reconcile("d1");
  assertEquals(world.order, ["attempt", "status", "withdraw", "status"]);
  assertEquals(await world.intentVersion("d1"), null);
  await world.clock.advance(1_000);
  await world.see("d1");
  await world.reconciler.reconcile("d1");
  assertEquals(world.order.length, 4);
});
