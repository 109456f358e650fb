/**
 * Operators that are killed between any two writes of a run, and several of them at once: the run ends as if there had
 * been one that lived, and no device gets its intent twice.
 */
import { assert, assertEquals } from "@std/assert";
import { type BucketName, BUCKETS } from "../../../contracts/buckets.ts";
import type { TaskRun, TaskRunStatus } from "../../../contracts/task_run.ts";
import { deviceSpecGroups } from "../../../operator/groups/device_spec_groups.ts";
import { StoredDeploymentWrites } from "../../../operator/reconcile/deployment_writes.ts";
import { StoreWrites } from "../../../operator/reconcile/fleet_writes.ts";
import { EmbeddedStore } from "../../../operator/stores/embedded.ts";
import { StoredTaskWrites } from "../../../operator/tasks/task_writes.ts";
import { DyingBus } from "../../fakes/dying_bus.ts";
import { testOnNats } from "./nats_world.ts";
import { TaskWorld } from "./task_world.ts";

const TASK_BUCKETS: ReadonlySet<BucketName> = new Set([
  BUCKETS.taskPlan,
  BUCKETS.taskHistory,
  BUCKETS.systemUpgradeIntent,
]);

/** Whether a write is of a run, whatever the bucket. */
function isOfRun({ name, uid }: TaskRun["metadata"], bucket: BucketName, key: string): boolean {
  return TASK_BUCKETS.has(bucket) ? key.includes(uid) : bucket === BUCKETS.resources && key === `taskrun.${name}`;
}

/** Lets an operator work until it is killed at its n-th write of a task. @returns whether it was */
async function operateUntilKilled(
  tasks: TaskWorld,
  { metadata }: TaskRun,
  nth: number,
  isApplied: boolean,
  done: Promise<unknown>,
): Promise<boolean> {
  const { world } = tasks;
  const bus = new DyingBus(await world.connect(), nth, isApplied, (...write) => isOfRun(metadata, ...write));
  const store = new EmbeddedStore(await bus.bucket(BUCKETS.resources));
  const bucket = (name: BucketName) => bus.bucket(name);
  const stop = await world.operator({
    bus,
    store,
    writes: new StoreWrites(store, () => bucket(BUCKETS.upgradeIntent)),
    deploymentWrites: new StoredDeploymentWrites(store, bucket),
    taskWrites: new StoredTaskWrites(store, bucket),
  });
  const isKilled = await Promise.race([bus.dead.then(() => true), done.then(() => false)]);
  const stopped = stop();
  await bus.close();
  await stopped;
  return isKilled;
}

/** One run after the other, each with an operator that is killed at a later write than the one before. */
async function killAtEveryWrite(
  tasks: TaskWorld,
  isApplied: boolean,
  wanted: Partial<TaskRunStatus>,
  check: (runId: string, what: string) => Promise<void>,
): Promise<number> {
  for (let nth = 1;; nth++) {
    const name = `run-${nth}`;
    const run = await tasks.create(name);
    const { uid } = run.metadata;
    const done = async () => {
      await tasks.until(name, wanted);
      await tasks.history(uid);
      await tasks.untilIntents(uid, []);
    };
    const finished = done();
    const isKilled = await operateUntilKilled(tasks, run, nth, isApplied, finished);
    if (isKilled) {
      const stop = await tasks.world.operator({ taskSettleMs: 200 });
      await finished;
      await stop();
    }
    await check(uid, name);
    if (!isKilled) return nth;
    assert(nth < 100, "it is killed for ever");
  }
}

for (const isApplied of [true, false]) {
  const what = isApplied ? "with it" : "before it";
  testOnNats(`tasks: killed at every write of a run that goes well, ${what}`, async (world) => {
    const tasks = new TaskWorld(world);
    try {
      const stop = await world.operator();
      await tasks.devices(["c1", "d1", "d2"], {}, 1);
      await stop();
      const count = await killAtEveryWrite(tasks, isApplied, { phase: "Complete", succeeded: 3 }, async (uid, name) => {
        const devices = tasks.written.filter(({ runId }) => runId === uid).map(({ deviceId }) => deviceId);
        assertEquals([devices[0], devices.slice(1).sort()], ["c1", ["d1", "d2"]], name);
        await Promise.resolve();
      });
      assert(count > 10, `${count} writes`);
    } finally {
      await tasks.close();
    }
  });

  testOnNats(`tasks: killed at every write of a run whose canary fails, ${what}`, async (world) => {
    const tasks = new TaskWorld(world);
    try {
      const stop = await world.operator();
      await tasks.devices(["c1"], { outcome: () => "failed" }, 1);
      await tasks.devices(["c2"], { outcome: () => "ignored" }, 1);
      await tasks.devices(["d1"]);
      await stop();
      const wanted = { phase: "Failed", reason: "CanaryFailed" } as const;
      const count = await killAtEveryWrite(tasks, isApplied, wanted, async (uid, name) => {
        const devices = tasks.written.filter(({ runId }) => runId === uid).map(({ deviceId }) => deviceId);
        // One canary may have failed before the operator that was killed had told the other.
        assert(["c1", "c1,c2"].includes(devices.sort().join()), `${name}: ${devices}`);
        assertEquals((await tasks.history(uid)).reason, "CanaryFailed", name);
      });
      assert(count > 6, `${count} writes`);
    } finally {
      await tasks.close();
    }
  });
}

testOnNats(
  "tasks: three operators on twenty devices with canaries write one plan and one intent each",
  async (world) => {
    const tasks = new TaskWorld(world);
    try {
      for (let operator = 0; operator < 3; operator++) await world.operator({ groups: deviceSpecGroups });
      const ids = Array.from({ length: 20 }, (_, index) => `d${String(index).padStart(2, "0")}`);
      await tasks.devices(ids, {}, 3);
      const { metadata: { uid } } = await tasks.create("upgrade");
      const { status } = await tasks.until("upgrade", { phase: "Complete" });
      assertEquals([status?.targets, status?.canaries, status?.succeeded, status?.failed], [20, 3, 20, 0]);
      await tasks.untilIntents(uid, []);
      await tasks.history(uid);
      const devices = tasks.written.map(({ deviceId }) => deviceId);
      assertEquals(devices.slice(0, 3).sort(), ids.slice(0, 3));
      assertEquals(devices.toSorted(), ids);
      for (const id of ids) assertEquals(tasks.systems.get(id)?.executed, [uid], id);
      await world.rest();
      assertEquals((await tasks.until("upgrade", { phase: "Complete" })).status, status);
    } finally {
      await tasks.close();
    }
  },
);
