import { assert, assertEquals } from "@std/assert";
import { BUCKETS } from "../../../contracts/buckets.ts";
import { Observer } from "../../../operator/reconcile/observer.ts";
import { ObservedTaskWrites } from "../../../operator/tasks/task_writes.ts";
import { waitUntil } from "../../nats/wait_until.ts";
import { testOnNats } from "./nats_world.ts";
import { TaskWorld } from "./task_world.ts";

testOnNats(
  "tasks: in observe mode what would be frozen, written and withdrawn is told, and nothing is",
  async (world) => {
    const tasks = new TaskWorld(world);
    const lines: string[] = [];
    const taskWrites = new ObservedTaskWrites(new Observer((line) => lines.push(line)));
    const told = (write: string) => waitUntil(write, () => lines.some((line) => line.includes(`"write":"${write}"`)));
    try {
      const stop = await world.operator();
      await tasks.devices(["d1", "d2"], { outcome: () => "ignored" });
      await stop();
      const { metadata: { uid } } = await tasks.create("upgrade");
      const stopObserving = await world.operator({ taskWrites });
      await told("writePlan");
      const plan = lines.find((line) => line.includes("writePlan"));
      assert(plan?.includes('"targets":2'), plan);
      assertEquals(await (await world.bus.bucket(BUCKETS.taskPlan)).get(uid), null);
      assertEquals((await world.store.get("TaskRun", "upgrade"))?.status, undefined);
      await stopObserving();

      const stopWorking = await world.operator();
      await tasks.until("upgrade", { phase: "Running", released: 2 });
      await stopWorking();
      const before = await tasks.intents(uid);
      await world.store.delete("TaskRun", "upgrade");
      await world.operator({ taskWrites, taskSettleMs: 50 });
      await told("removeIntent");
      assertEquals([before, await tasks.intents(uid)], [["d1", "d2"], ["d1", "d2"]]);
    } finally {
      await tasks.close();
    }
  },
);
