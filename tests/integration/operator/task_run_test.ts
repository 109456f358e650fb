import { assert, assertEquals } from "@std/assert";
import { BUCKETS } from "../../../contracts/buckets.ts";
import { FleetError } from "../../../contracts/errors.ts";
import { deviceSpecGroups } from "../../../operator/groups/device_spec_groups.ts";
import { FIRST_HEARTBEAT, type SystemScript, systemStatus } from "../../fakes/scripted_system.ts";
import { waitUntil } from "../../nats/wait_until.ts";
import { testOnNats } from "./nats_world.ts";
import { TaskWorld } from "./task_world.ts";

function testTasks(name: string, body: (tasks: TaskWorld) => Promise<void>): void {
  testOnNats(`tasks: ${name}`, async (world) => {
    const tasks = new TaskWorld(world);
    try {
      await body(tasks);
    } finally {
      await tasks.close();
    }
  });
}

const passed = Promise.resolve();
/** Holds a device back before its success. */
const before = (gate: Promise<void>) => ({ gate: (phase: string) => phase === "succeeded" ? gate : passed });

/** Waits until a device has said that it has accepted its attempt. */
async function accepted({ world }: TaskWorld, deviceId: string, runId: string): Promise<void> {
  const statuses = await world.bus.bucket(BUCKETS.systemUpgradeStatus);
  await waitUntil(`${deviceId} to accept`, async () => await statuses.get(`${deviceId}.${runId}`) !== null);
}

testTasks("a run on three devices is complete when each has sent its heartbeat", async (tasks) => {
  await tasks.world.operator();
  await tasks.devices(["d1", "d2", "d3"]);
  const { metadata: { uid } } = await tasks.create("upgrade");
  const { status } = await tasks.until("upgrade", { phase: "Complete" });
  assert(status !== undefined);
  const { canaries, failed, reason, released, succeeded, targets } = status;
  assertEquals([reason, targets, canaries, released, succeeded, failed], ["AllSucceeded", 3, 0, 3, 3, 0]);
  assert(status.startedAt !== undefined && status.completedAt !== undefined && status.expiresAt !== undefined);
  assertEquals(status.conditions?.map(({ type, status }) => `${type}=${status}`), ["Accepted=True", "Complete=True"]);
  await tasks.untilIntents(uid, []);
  const record = await tasks.history(uid);
  assertEquals([record.name, record.phase, record.succeeded, record.lateFailed], ["upgrade", "Complete", 3, 0]);
  assertEquals(tasks.written.map(({ deviceId }) => deviceId).sort(), ["d1", "d2", "d3"]);
});

testTasks("canaries go first, and the others only when every canary has sent its heartbeat", async (tasks) => {
  await tasks.world.operator();
  const gate = Promise.withResolvers<void>();
  await tasks.devices(["c1", "c2", "d1", "d2"], before(gate.promise), 2);
  const { metadata: { uid } } = await tasks.create("upgrade");
  await tasks.until("upgrade", { phase: "Running", reason: "CanariesReleased", released: 2, targets: 4, canaries: 2 });
  await tasks.untilIntents(uid, ["c1", "c2"]);
  gate.resolve();
  await tasks.until("upgrade", { phase: "Complete", succeeded: 4, released: 4 });
  const order = tasks.written.map(({ deviceId }) => deviceId);
  assertEquals([order.slice(0, 2).sort(), order.slice(2).sort()], [["c1", "c2"], ["d1", "d2"]]);
});

testTasks("a canary that fails fails the run at once, and what nobody has accepted is withdrawn", async (tasks) => {
  await tasks.world.operator();
  const gate = Promise.withResolvers<void>();
  const failing: SystemScript = {
    outcome: () => "failed",
    gate: (phase) => phase === "failed" ? gate.promise : passed,
  };
  await tasks.devices(["c1"], failing, 1);
  await tasks.devices(["c2"], { outcome: () => "ignored" }, 1);
  await tasks.devices(["c3"], { outcome: () => "hang" }, 1);
  await tasks.devices(["d1"]);
  const { metadata: { uid } } = await tasks.create("upgrade");
  await accepted(tasks, "c3", uid);
  gate.resolve();
  const { status } = await tasks.until("upgrade", { phase: "Failed", reason: "CanaryFailed" });
  assertEquals(status?.lastError, "c1: IndexRefreshFailed: the mirror is away");
  await tasks.untilIntents(uid, ["c3"]);
  assert(!tasks.written.some(({ deviceId }) => deviceId === "d1"));
  // Its end comes too late: it is removed, recorded, and changes nothing.
  const attempt = { attemptId: uid, runId: uid, deviceId: "c3" };
  await tasks.systems.get("c3")?.publish(systemStatus(attempt, "succeeded", { firstHeartbeat: FIRST_HEARTBEAT }));
  await tasks.untilIntents(uid, []);
  const record = await tasks.history(uid, ({ lateSucceeded }) => lateSucceeded === 1);
  assertEquals([record.phase, record.reason, record.succeeded, record.failed], ["Failed", "CanaryFailed", 0, 1]);
  const after = await tasks.world.store.get("TaskRun", "upgrade");
  assertEquals([after?.status?.phase, after?.status?.succeeded], ["Failed", 0]);
});

testTasks("a device that fails lets the others end first", async (tasks) => {
  await tasks.world.operator();
  await tasks.devices(["d1"], { outcome: () => "failed" });
  await tasks.devices(["d2", "d3"]);
  await tasks.create("upgrade");
  const { status } = await tasks.until("upgrade", { phase: "Failed" });
  assertEquals([status?.reason, status?.succeeded, status?.failed], ["DevicesFailed", 2, 1]);
});

testTasks("nobody who can do it: NoTargets, with how many matched", async (tasks) => {
  await tasks.world.operator();
  tasks.world.device("d1", { capabilities: ["https"] });
  await tasks.world.groups("d1", ["edge"]);
  await tasks.create("upgrade");
  const { status } = await tasks.until("upgrade", { phase: "Failed", reason: "NoTargets" });
  assertEquals([status?.targets, status?.incapable], [0, 1]);
  assertEquals(
    status?.lastError,
    "no authorized device with the capability AptFullUpgradeV1 matches; 1 matched, and their updaters do not have it",
  );
  await tasks.create("expressions", { targetSelector: { matchExpressions: [] } });
  const expressions = await tasks.until("expressions", { phase: "Failed", reason: "NoTargets" });
  assertEquals(expressions.status?.conditions?.[0]?.reason, "MatchExpressionsUnsupported");
});

testTasks("a device that is revoked before its release fails the run, and nobody takes its place", async (tasks) => {
  await tasks.world.operator();
  const gate = Promise.withResolvers<void>();
  await tasks.devices(["c1", "d1", "d2"], before(gate.promise), 1);
  const { metadata: { uid } } = await tasks.create("upgrade");
  await tasks.until("upgrade", { phase: "Running", released: 1 });
  await tasks.world.groups("d2", ["core"]);
  await tasks.devices(["d3"]);
  gate.resolve();
  const { status } = await tasks.until("upgrade", { phase: "Failed", reason: "TargetRevoked" });
  assertEquals(status?.lastError, "d2: lost its authorization before its release");
  // The wave was checked whole before its first intent.
  assertEquals([status?.released, status?.succeeded, status?.targets], [1, 1, 3]);
  await tasks.untilIntents(uid, []);
  assertEquals(tasks.written.map(({ deviceId }) => deviceId), ["c1"]);
});

testTasks("labels that change after the freeze change nothing", async (tasks) => {
  await tasks.world.operator();
  const gate = Promise.withResolvers<void>();
  await tasks.devices(["c1", "d1"], before(gate.promise), 1);
  await tasks.create("upgrade", { targetSelector: {} });
  await tasks.until("upgrade", { phase: "Running", released: 1 });
  await tasks.world.groups("d1", ["edge"], { canary: "true" });
  await tasks.world.groups("c1", ["edge"], {});
  gate.resolve();
  await tasks.until("upgrade", { phase: "Complete", targets: 2, canaries: 1 });
});

testTasks("a group source that fails retries planning, and is never NoTargets", async (tasks) => {
  let fails = true;
  const groups = {
    ...deviceSpecGroups,
    groupsOf: (device: Parameters<typeof deviceSpecGroups.groupsOf>[0]) =>
      fails
        ? Promise.reject(new FleetError("the directory is away", { code: "E_GROUPS", retry: "transient" }))
        : deviceSpecGroups.groupsOf(device),
  };
  await tasks.world.operator({ groups });
  tasks.world.device("d1", { capabilities: ["https", "AptFullUpgradeV1"] });
  tasks.system("d1");
  await tasks.world.groups("d1", ["edge"]);
  await tasks.create("upgrade");
  const { status } = await tasks.until("upgrade", { phase: "Planning", reason: "WaitingForGroups" });
  assertEquals(status?.lastError, "Cannot know the groups of d1: the directory is away");
  fails = false;
  await tasks.until("upgrade", { phase: "Complete", succeeded: 1 });
});

testTasks("at the deadline late and missing devices have failed, and a heartbeat is missing too", async (tasks) => {
  await tasks.world.operator();
  await tasks.devices(["d1"]);
  await tasks.devices(["d2"], { outcome: () => "hang" });
  await tasks.devices(["d3"], { outcome: () => "silent" });
  await tasks.devices(["d4"], { outcome: () => "ignored" });
  const { metadata: { uid } } = await tasks.create("upgrade", { deadlineSeconds: 60 }, 52_000);
  await tasks.until("upgrade", { phase: "Running", released: 4, succeeded: 1 });
  const { status } = await tasks.until("upgrade", { phase: "Failed", reason: "DeadlineExceeded" }, 40_000);
  assertEquals([status?.succeeded, status?.failed, status?.lastError], [1, 3, "3 of 4 targets were late or missing"]);
  assert(Date.parse(status?.completedAt ?? "") >= Date.parse(status?.expiresAt ?? ""));
  // Those that have accepted it keep their intents to the end, which comes too late for the run.
  await tasks.untilIntents(uid, ["d2", "d3"]);
  const attempt = { attemptId: uid, runId: uid, deviceId: "d3" };
  await tasks.systems.get("d3")?.publish(systemStatus(attempt, "succeeded", { firstHeartbeat: FIRST_HEARTBEAT }));
  await tasks.systems.get("d2")?.publish(systemStatus({ ...attempt, deviceId: "d2" }, "failed"));
  await tasks.untilIntents(uid, []);
  const record = await tasks.history(uid, ({ lateFailed, lateSucceeded }) => lateFailed + lateSucceeded === 2);
  assertEquals([record.lateSucceeded, record.lateFailed, record.failed], [1, 1, 3]);
  assertEquals((await tasks.world.store.get("TaskRun", "upgrade"))?.status, status);
});

testTasks("a canary that is late fails the run, and the others are never released", async (tasks) => {
  await tasks.world.operator();
  await tasks.devices(["c1"], { outcome: () => "silent" }, 1);
  await tasks.devices(["d1"]);
  await tasks.create("upgrade", { deadlineSeconds: 60 }, 54_000);
  const { status } = await tasks.until("upgrade", { phase: "Failed", reason: "CanaryTimedOut" }, 40_000);
  assertEquals([status?.released, status?.failed, status?.lastError], [
    1,
    1,
    "1 of 1 canaries had not succeeded by the deadline",
  ]);
  assertEquals(tasks.written.map(({ deviceId }) => deviceId), ["c1"]);
});

testTasks("a run that nobody planned before its deadline fails, and freezes nothing", async (tasks) => {
  const { metadata: { uid } } = await tasks.create("upgrade", { deadlineSeconds: 60 }, 61_000);
  await tasks.world.operator();
  await tasks.until("upgrade", { phase: "Failed", reason: "DeadlineExceeded" });
  assertEquals(await (await tasks.world.bus.bucket(BUCKETS.taskPlan)).get(uid), null);
});

testTasks("a frozen plan that is lost fails the run, since nobody may guess its targets", async (tasks) => {
  const stop = await tasks.world.operator();
  await tasks.devices(["d1"], { outcome: () => "hang" });
  const { metadata: { uid } } = await tasks.create("upgrade");
  await tasks.until("upgrade", { phase: "Running", released: 1 });
  await stop();
  const plans = await tasks.world.bus.bucket(BUCKETS.taskPlan);
  await plans.put(uid, new TextEncoder().encode("{}"));
  await tasks.world.operator({ taskSettleMs: 200 });
  const { status } = await tasks.until("upgrade", { phase: "Failed", reason: "PlanLost" });
  assertEquals([status?.targets, status?.released], [1, 1]);
});

testTasks("a run that is deleted is withdrawn where no device has accepted it", async (tasks) => {
  await tasks.world.operator();
  await tasks.devices(["d1"], { outcome: () => "hang" });
  await tasks.devices(["d2"], { outcome: () => "ignored" });
  const { metadata: { uid } } = await tasks.create("upgrade");
  await tasks.until("upgrade", { phase: "Running", released: 2 });
  await accepted(tasks, "d1", uid);
  await tasks.world.store.delete("TaskRun", "upgrade");
  await tasks.untilIntents(uid, ["d1"]);
  await tasks.systems.get("d1")?.publish(systemStatus({ attemptId: uid, runId: uid, deviceId: "d1" }, "failed"));
  await tasks.untilIntents(uid, []);
});
