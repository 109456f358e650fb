import { assert, assertEquals } from "@std/assert";
import { BUCKET_SPECS, BUCKETS } from "../../../contracts/buckets.ts";
import { MemoryBroker } from "../../fakes/memory_bus.ts";
import { ScriptedDevice } from "../../fakes/scripted_device.ts";
import { waitUntil } from "../../nats/wait_until.ts";
import { OperatorWorld } from "./operator_world.ts";

/** Registers a test of one operator over a broker in memory. */
function test(name: string, body: (world: OperatorWorld, broker: MemoryBroker) => Promise<void>): void {
  Deno.test(`operator: ${name}`, async () => {
    const broker = new MemoryBroker();
    const world = await OperatorWorld.open({
      connect: () => Promise.resolve(broker.connect()),
      close: () => Promise.resolve(),
    });
    try {
      await world.operator();
      await body(world, broker);
    } finally {
      await world.close();
    }
  });
}

test("the first device info makes a device without groups, visible and placed nowhere", async (world) => {
  await world.release("stable");
  world.device("d1");
  const { metadata, spec, status } = await world.untilDevice("d1", ({ liveness }) => liveness === "Online");
  assertEquals([metadata.labels, spec], [{ "device-id": "d1" }, { groups: [] }]);
  assertEquals([status?.agentVersion, status?.desiredReason, status?.quarantined], ["1.0.0", "NoGroups", false]);
  assertEquals(await world.intent("d1"), null);
});

test("a device in the group is upgraded, and everybody can see it", async (world) => {
  const device = world.device("d1");
  await world.groups("d1", ["edge"]);
  await world.release("stable");
  const { status } = await world.untilDevice("d1", ({ desiredReason }) => desiredReason === "UpToDate");
  assertEquals([status?.agentVersion, status?.upgrade?.phase, status?.upgrade?.releaseName], [
    "1.1.0",
    "complete",
    "stable",
  ]);
  await world.untilRelease("stable", { targets: 1, current: 1, upgrading: 0 });
  const { status: figures, metadata } = await world.until("AgentRelease", "stable", () => true);
  assertEquals(figures?.conditions?.find(({ type }) => type === "Ready")?.status, "True");
  assertEquals(figures?.observedGeneration, metadata.generation);
  assertEquals(device.executed.length, 1);
});

test("a failed identity is not tried again, a higher revision is", async (world) => {
  let good = false;
  const device = world.device("d1", { outcome: () => good ? "complete" : "rolled-back" });
  await world.groups("d1", ["edge"]);
  await world.release("stable");
  const { status } = await world.untilDevice("d1", ({ desiredReason }) => desiredReason === "RolledBack");
  assertEquals(status?.failedIdentities.length, 1);
  await world.untilRelease("stable", { rolledBack: 1, lastError: "d1: 1.1.0 is bad" });
  // A selector edit changes no identity.
  await world.release("stable", { targetSelector: { matchLabels: { "device-id": "d1" } }, priority: 5 });
  await world.untilDevice("d1", ({ desiredReason }) => desiredReason === "RolledBack");
  await world.rest();
  assertEquals(device.executed.length, 1);
  good = true;
  await world.release("stable", { revision: 2 });
  const after = await world.untilDevice("d1", ({ desiredReason }) => desiredReason === "UpToDate");
  assertEquals([after.status?.failedIdentities.length, device.executed.length], [1, 2]);
});

test("the newest release wins over one that is under way, and none runs twice", async (world) => {
  const device = world.device("d1", { phaseMs: 100 });
  await world.groups("d1", ["edge"]);
  await world.release("stable");
  await world.untilDevice("d1", ({ upgrade }) => upgrade?.phase === "preparing");
  await world.release("hotfix", { version: "1.2.0", priority: 1 });
  await world.untilDevice(
    "d1",
    ({ desiredReason, agentVersion }) => desiredReason === "UpToDate" && agentVersion === "1.2.0",
  );
  assertEquals(device.executed.map(({ targetVersion }) => targetVersion), ["1.1.0", "1.2.0"]);
  await world.untilRelease("hotfix", { targets: 1, current: 1 });
  await world.untilRelease("stable", { targets: 0 });
});

test("a release that is taken back does not reach a device that was away", async (world) => {
  // Switched off after it had said who it is.
  const device = new ScriptedDevice(world.bus, "d1");
  await device.publishInfo();
  await world.groups("d1", ["edge"]);
  await world.release("stable");
  await world.untilDevice("d1", ({ desiredReason }) => desiredReason === "Pending");
  assertEquals((await world.intent("d1"))?.targetVersion, "1.1.0");
  await world.release("stable", { version: "1.0.0" });
  await waitUntil("the newest intent", async () => (await world.intent("d1"))?.targetVersion === "1.0.0");
  await world.untilDevice("d1", ({ desiredReason }) => desiredReason === "UpToDate");
  world.run(device);
  await waitUntil("the device to answer", () => device.executed.length > 0);
  assertEquals(device.executed.map(({ targetVersion }) => targetVersion), ["1.0.0"]);
  await world.untilDevice("d1", ({ upgrade }) => upgrade?.phase === "complete");
});

test("an attempt that a device has not taken is withdrawn by a pause and by leaving the group", async (world) => {
  const device = new ScriptedDevice(world.bus, "d1");
  await device.publishInfo();
  await world.groups("d1", ["edge"]);
  await world.release("stable");
  await world.untilDevice("d1", ({ desiredReason }) => desiredReason === "Pending");
  const first = await world.intent("d1");
  await world.release("stable", { paused: true });
  await world.untilDevice("d1", ({ desiredReason }) => desiredReason === "Paused");
  assertEquals(await world.intent("d1"), null);
  await world.release("stable");
  await world.untilDevice("d1", ({ desiredReason }) => desiredReason === "Pending");
  const second = await world.intent("d1");
  assert(second !== null && second.attemptId !== first?.attemptId);
  await world.groups("d1", []);
  await world.untilDevice("d1", ({ desiredReason }) => desiredReason === "NoGroups");
  assertEquals(await world.intent("d1"), null);
  world.run(device);
  await world.untilDevice("d1", ({ liveness }) => liveness === "Online");
  await world.rest();
  assertEquals(device.executed, []);
});

test("a tie decides nothing, on the device and on both releases", async (world) => {
  const device = world.device("d1");
  await world.groups("d1", ["edge"]);
  await world.release("a", { priority: 3, paused: true });
  await world.release("b", { priority: 3, version: "1.2.0" });
  const { status } = await world.untilDevice("d1", ({ desiredReason }) => desiredReason === "Conflict");
  assertEquals([status?.tiedReleases, status?.desiredRelease], [["a", "b"], undefined]);
  for (const name of ["a", "b"]) {
    await world.until(
      "AgentRelease",
      name,
      ({ status }) => status?.conditions?.some(({ type, status }) => type === "Conflict" && status === "True") === true,
    );
  }
  assertEquals(device.executed.length, 0);
  await world.store.delete("AgentRelease", "a");
  await world.untilDevice("d1", ({ desiredReason }) => desiredReason === "UpToDate");
  assertEquals(device.executed.map(({ targetVersion }) => targetVersion), ["1.2.0"]);
});

test("a paused release holds its devices, and lets them go", async (world) => {
  const device = world.device("d1");
  await world.release("low");
  await world.release("high", { version: "1.2.0", priority: 1, paused: true });
  await world.groups("d1", ["edge"]);
  await world.untilDevice("d1", ({ desiredReason }) => desiredReason === "Paused");
  await world.untilRelease("high", { targets: 1, current: 0 });
  await world.rest();
  assertEquals(device.executed.length, 0);
  await world.release("high", { version: "1.2.0", priority: 1 });
  await world.untilDevice("d1", ({ desiredReason }) => desiredReason === "UpToDate");
  assertEquals(device.executed.map(({ targetVersion }) => targetVersion), ["1.2.0"]);
});

test("what a device lacks is a counted reason and writes no attempt", async (world) => {
  world.device("arm", { arch: "aarch64" });
  world.device("old", { capabilities: ["oci"] });
  world.device("broken", { capabilities: null });
  world.device("tree", { form: "source" });
  for (const id of ["arm", "old", "broken", "tree"]) await world.groups(id, ["edge"]);
  await world.release("stable");
  const reasons = { arm: "NoArtifact", old: "UpdaterTooOld", broken: "UpdaterUnavailable", tree: "SourceForm" };
  for (const [id, reason] of Object.entries(reasons)) {
    await world.untilDevice(id, ({ desiredReason }) => desiredReason === reason);
    assertEquals(await world.intent(id), null);
  }
  await world.untilRelease("stable", { targets: 4, ineligible: 4 });
});

test("rollback-failed quarantines a device until it reports otherwise", async (world) => {
  const device = world.device("d1", {
    outcome: ({ targetVersion }) => targetVersion === "1.1.0" ? "rollback-failed" : "complete",
  });
  await world.groups("d1", ["edge"]);
  await world.release("stable");
  await world.untilDevice("d1", ({ quarantined }) => quarantined);
  await world.untilRelease("stable", { quarantined: 1 });
  await world.release("next", { version: "1.2.0", priority: 1 });
  await world.untilDevice("d1", ({ desiredRelease }) => desiredRelease === "next");
  await world.rest();
  assertEquals(device.executed.length, 1);
  const [bad] = device.executed;
  assert(bad !== undefined);
  await device.publishPhase(bad, "failed", "repaired by root");
  await world.untilDevice("d1", ({ quarantined, desiredReason }) => !quarantined && desiredReason === "UpToDate");
  assertEquals(device.executed.map(({ targetVersion }) => targetVersion), ["1.1.0", "1.2.0"]);
});

test("a device that was reflashed after complete gets a new attempt", async (world) => {
  const device = world.device("d1");
  await world.groups("d1", ["edge"]);
  await world.release("stable");
  await world.untilDevice("d1", ({ desiredReason }) => desiredReason === "UpToDate");
  await device.reflash("0.9.0");
  // What lies between may be over before anybody looks.
  await waitUntil("the second attempt", () => device.executed.length === 2);
  await world.untilDevice(
    "d1",
    ({ desiredReason, agentVersion }) => desiredReason === "UpToDate" && agentVersion === "1.1.0",
  );
  assert(device.executed[0]?.attemptId !== device.executed[1]?.attemptId);
  assertEquals(device.executed[0]?.releaseIdentity, device.executed[1]?.releaseIdentity);
});

test("a device that falls silent is stale; in the middle of an attempt it is lost, and online when it is back", async (world) => {
  const device = world.device("d1", { outcome: () => "hang", heartbeatMs: 1_000_000 });
  await world.groups("d1", ["edge"]);
  await world.release("stable");
  await world.untilDevice("d1", ({ liveness }) => liveness === "Stale");
  await world.untilDevice("d1", ({ liveness }) => liveness === "Lost");
  await world.untilRelease("stable", { lost: 1, upgrading: 0 });
  await device.heartbeat();
  await world.untilDevice("d1", ({ liveness }) => liveness === "Online");
  await world.untilRelease("stable", { lost: 0, upgrading: 1 });
});

test("a heartbeat bucket that is lost makes devices unknown, never lost", async (world, broker) => {
  world.device("d1", { outcome: () => "hang", heartbeatMs: 1_000_000 });
  await world.groups("d1", ["edge"]);
  await world.release("stable");
  await world.untilDevice("d1", ({ liveness }) => liveness === "Lost");
  broker.deleteBucket(BUCKETS.deviceHeartbeat);
  await world.bus.ensureBuckets(BUCKET_SPECS, 1_000, 1);
  await world.untilDevice("d1", ({ liveness }) => liveness === "Unknown");
  await world.untilRelease("stable", { lost: 0 });
});

test("documents that nobody can read stop nothing, are shown, and are forgotten when they can be read", async (world) => {
  const device = world.device("d1");
  world.device("d2");
  await world.groups("d1", ["edge"]);
  await world.groups("d2", ["edge"]);
  const junk = new TextEncoder().encode("{");
  for (const name of [BUCKETS.deviceInfo, BUCKETS.upgradeStatus, BUCKETS.upgradeIntent]) {
    await (await world.bus.bucket(name)).put("d1", junk);
    await (await world.bus.bucket(name)).put("UPPER.case", junk);
  }
  await (await world.bus.bucket(BUCKETS.resources)).put("agentrelease.junk", junk);
  await (await world.bus.bucket(BUCKETS.resources)).put("device.junk", junk);
  await world.release("stable");
  await world.untilDevice("d2", ({ desiredReason }) => desiredReason === "UpToDate");
  const { status } = await world.untilDevice("d1", ({ desiredReason }) => desiredReason === "NoDeviceInfo");
  const condition = status?.conditions?.find(({ type }) => type === "DocumentsReadable");
  assertEquals([condition?.status, condition?.reason], ["False", "Malformed"]);
  assert(condition?.message.includes("device-info: document: is not JSON"), condition?.message);
  await device.publishInfo();
  await world.untilDevice("d1", ({ desiredReason }) => desiredReason === "UpToDate");
  const after = await world.untilDevice("d1", ({ conditions }) => conditions === undefined);
  assertEquals(after.status?.agentVersion, "1.1.0");
  const told = world.lines.filter((line) => line.includes("a document cannot be read"));
  assertEquals(new Set(told).size, told.length);
});

test("a release that becomes unreadable holds its devices until it is deleted", async (world) => {
  const device = world.device("d1");
  await world.groups("d1", ["edge"]);
  await world.release("low", { version: "0.9.0" });
  await world.untilDevice(
    "d1",
    ({ agentVersion, desiredReason }) => agentVersion === "0.9.0" && desiredReason === "UpToDate",
  );
  await world.release("high", { version: "1.2.0", priority: 1 });
  await world.untilDevice(
    "d1",
    ({ agentVersion, desiredReason }) => agentVersion === "1.2.0" && desiredReason === "UpToDate",
  );
  await (await world.bus.bucket(BUCKETS.resources)).put("agentrelease.high", new TextEncoder().encode("[]"));
  await world.untilDevice("d1", ({ desiredReason }) => desiredReason === "ReleaseUnreadable");
  assertEquals(device.version, "1.2.0");
  await world.store.delete("AgentRelease", "high");
  await world.untilDevice(
    "d1",
    ({ agentVersion, desiredReason }) => agentVersion === "0.9.0" && desiredReason === "UpToDate",
  );
});

test("a device that is deleted is made again without its groups", async (world) => {
  world.device("d1");
  await world.groups("d1", ["edge"]);
  await world.release("stable");
  const before = await world.untilDevice("d1", ({ desiredReason }) => desiredReason === "UpToDate");
  await world.store.delete("Device", "d1");
  const after = await world.until("Device", "d1", ({ metadata }) => metadata.uid !== before.metadata.uid);
  assertEquals(after.spec, { groups: [] });
  await world.untilRelease("stable", { targets: 0 });
});

test("at rest nothing is written, whatever heartbeats come", async (world) => {
  for (let index = 0; index < 5; index++) world.device(`d${index}`);
  for (let index = 0; index < 5; index++) await world.groups(`d${index}`, ["edge"]);
  await world.release("stable");
  await world.untilRelease("stable", { current: 5 });
  await world.rest();
  const before = await world.revision(BUCKETS.resources);
  const beats = await world.revision(BUCKETS.deviceHeartbeat);
  await waitUntil("heartbeats", async () => await world.revision(BUCKETS.deviceHeartbeat) > beats + 40);
  assertEquals(await world.revision(BUCKETS.resources), before);
});
