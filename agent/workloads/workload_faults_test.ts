/**
 * Every call of the engine fails once, and the agent is killed at every call: it ends with what is desired all the same,
 * and what was right is never touched.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { engineError } from "../podman/engine_error.ts";
import { containerOf, entryOf } from "../../tests/fakes/workload_samples.ts";
import { WorkloadWorld } from "../../tests/fakes/workload_world.ts";

const KEPT = entryOf(3, [containerOf("kept")]);
const BEFORE = [entryOf(1, [containerOf("app"), containerOf("gone")]), entryOf(2, [containerOf("orphan")]), KEPT];
const CHANGED = containerOf("app", { env: { VERSION: "2" }, image: "registry.example/app:2" });
const AFTER = [entryOf(1, [CHANGED], 2), entryOf(4, [containerOf("fresh")]), KEPT];

/** A device that has `BEFORE` and is told `AFTER`: a replacement, two removals, a new one, a pull, and one to keep. */
async function prepared(world: WorkloadWorld): Promise<void> {
  world.engine.registry.set("registry.example/app:2", "image");
  world.engine.add({ name: "foreign" });
  world.desire(BEFORE);
  const life = world.begin();
  await world.until("prepared", () => life.views.length === 3 && life.views.every(({ phase }) => phase === "ready"));
  await world.end();
}

async function converged(world: WorkloadWorld, what: string): Promise<void> {
  await world.until(`${what}: converged`, () => isDone(world));
  assertEquals(world.running(), ["foreign", "web-1.app", "web-3.kept", "web-4.fresh"], what);
  assertEquals(world.engine.all.length, 4, what);
}

/** Only a change has a moment after it: whoever waits for another call waits for the end. */
function isDone({ life: { views } }: WorkloadWorld): boolean {
  return views.length === 3 && views.every(({ phase }) => phase === "ready");
}

async function callsOfRun(): Promise<number> {
  let calls = 0;
  await WorkloadWorld.use(async (world) => {
    await prepared(world);
    const before = world.engine.calls.length;
    world.desire(AFTER);
    world.begin();
    await converged(world, "without a fault");
    calls = world.engine.calls.length - before;
  });
  return calls;
}

const ERRORS = {
  "refused": () => engineError("E_ENGINE_REFUSED", "Cannot do it: injected"),
  "unreachable": () => engineError("E_ENGINE_UNREACHABLE", "Cannot do it: injected"),
} as const;

for (const [kind, error] of Object.entries(ERRORS)) {
  Deno.test(`workloads: each call of the engine is ${kind} once`, async () => {
    const calls = await callsOfRun();
    assert(calls > 15, `${calls} calls`);
    for (let nth = 0; nth < calls; nth++) {
      await WorkloadWorld.use(async (world) => {
        await prepared(world);
        const kept = world.engine.named("web-3.kept");
        const first = world.engine.calls.length;
        let failed = "";
        world.engine.before = (call, what) => {
          if (call !== first + nth) return;
          failed = what;
          throw error();
        };
        world.desire(AFTER);
        world.begin();
        await converged(world, `call ${nth} (${failed}) ${kind}`);
        assert(failed !== "", `call ${nth} never came`);
        assertEquals(world.engine.named("web-3.kept"), kept);
      });
    }
  });
}

Deno.test("workloads: each change that the engine makes is answered with a timeout", async () => {
  const calls = await callsOfRun();
  for (let nth = 0; nth < calls; nth++) {
    await WorkloadWorld.use(async (world) => {
      await prepared(world);
      const first = world.engine.calls.length;
      world.engine.after = (call) => {
        if (call === first + nth) throw engineError("E_ENGINE_TIMEOUT", "Cannot do it: not done within 30000 ms");
      };
      world.desire(AFTER);
      world.begin();
      await converged(world, `call ${nth} timed out after it had happened`);
    });
  }
});

Deno.test("workloads: an agent is killed at each call of the engine, before and after it has happened", async () => {
  const calls = await callsOfRun();
  for (let nth = 0; nth < calls; nth++) {
    for (const moment of ["before", "after"] as const) {
      await WorkloadWorld.use(async (world) => {
        await prepared(world);
        const kept = world.engine.named("web-3.kept");
        const first = world.engine.calls.length;
        let dead = false;
        world.engine[moment] = (call) => {
          if (dead || call !== first + nth) return;
          dead = true;
          // A dead process never hears the answer, and asks nothing more.
          return new Promise(() => {});
        };
        world.desire(AFTER);
        world.begin();
        await world.until(`call ${nth}`, () => dead || isDone(world));
        world.engine[moment] = () => {};
        world.forsake();
        world.begin();
        await converged(world, `killed ${moment} call ${nth}`);
        assertEquals(world.engine.named("web-3.kept"), kept);
      });
    }
  }
});
