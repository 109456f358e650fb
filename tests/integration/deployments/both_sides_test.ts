/** A whole operator and a whole agent in this process: everything is real but the broker, the updater and the engine. */
import { assert, assertEquals } from "@std/assert";
import { BUCKET_SPECS, BUCKETS } from "../../../contracts/buckets.ts";
import type { WorkloadContainer } from "../../../contracts/podman_workload.ts";
import { DEVICE_ID } from "../../fakes/agent_samples.ts";
import { FakeEngine } from "../../fakes/fake_engine.ts";
import { untilReported } from "../../fakes/reported_deployments.ts";
import { containerOf, IMAGE } from "../../fakes/workload_samples.ts";
import { waitUntil } from "../../nats/wait_until.ts";
import { AgentFixture } from "../agent/agent_fixture.ts";
import { OperatorWorld } from "../operator/operator_world.ts";

interface Setting {
  readonly fixture: AgentFixture;
  readonly world: OperatorWorld;
  readonly engine: FakeEngine;
}

function test(name: string, body: (setting: Setting) => Promise<void>): void {
  Deno.test(`operator and agent: ${name}`, () =>
    AgentFixture.use(async (fixture) => {
      const engine = new FakeEngine();
      engine.images.add(IMAGE);
      const connect = () => Promise.resolve(fixture.broker.connect());
      const world = await OperatorWorld.open({ connect, close: () => Promise.resolve() });
      try {
        await body({ fixture, world, engine });
      } finally {
        await world.close();
      }
    }));
}

const workload = (...containers: readonly WorkloadContainer[]) => ({ podmanV0: { containers: [...containers] } });
const names = (engine: FakeEngine) => engine.all.map(({ name, phase }) => `${name} ${phase}`).sort();

test("a deployment runs on the device and is counted; deleted, it is gone", async ({ engine, fixture, world }) => {
  await world.operator();
  const life = fixture.start({ engine });
  await world.groups(DEVICE_ID, ["edge"]);
  await world.deployment("web", workload(containerOf("app"), containerOf("metrics")));
  await world.untilDeployment("web", { targets: 1, ready: 1 }, 60_000);
  assertEquals(names(engine), ["web.app running", "web.metrics running"]);
  const [app, metrics] = engine.all;
  // Only what differs is made anew.
  await world.deployment("web", workload(containerOf("app"), containerOf("metrics", { env: { A: "1" } })));
  await world.untilDeployment("web", { ready: 1, observedGeneration: 2 }, 60_000);
  assertEquals(engine.all.some(({ id }) => id === app?.id), true);
  assertEquals(engine.all.some(({ id }) => id === metrics?.id), false);
  // Beside another one, which fails.
  await world.deployment("bad", workload(containerOf("app", { image: "registry.example/gone:1" })));
  await world.untilDeployment("bad", { targets: 1, failed: 1 }, 60_000);
  const { status } = await world.until("FleetDeployment", "bad", ({ status }) => status?.lastError !== undefined);
  assert(status?.lastError?.startsWith(`${DEVICE_ID}: app: `), status?.lastError);
  await world.untilDeployment("web", { ready: 1, failed: 0 });
  for (const name of ["bad", "web"]) await world.store.delete("FleetDeployment", name);
  await untilReported(fixture.operator, []);
  assertEquals(names(engine), []);
  await life.stop();
});

test("leaving the group takes the containers, a failing outage of everything does not", async (setting) => {
  const { engine, fixture, world } = setting;
  let stop = await world.operator();
  const life = fixture.start({ engine });
  await world.groups(DEVICE_ID, ["edge"]);
  await world.deployment("web", workload(containerOf("app")));
  await world.deployment("db", workload(containerOf("app")));
  await untilReported(fixture.operator, ["db 1 ready", "web 1 ready"]);
  const before = engine.all;
  // Both buckets of the operator are lost at once, with an operator that runs and with one that starts.
  for (const isStart of [false, true]) {
    if (isStart) await stop();
    for (const name of [BUCKETS.desiredState, BUCKETS.resources]) fixture.broker.deleteBucket(name);
    await fixture.operator.ensureBuckets(BUCKET_SPECS, 1, 1);
    if (isStart) stop = await world.operator();
    await world.groups(DEVICE_ID, []);
    await world.untilTold(DEVICE_ID, []);
    await world.rest();
    assertEquals(engine.all, before, isStart ? "at a start" : "while it runs");
  }
  await stop();
  await life.stop();
});

test("an agent that was away does what was changed meanwhile", async ({ engine, fixture, world }) => {
  await world.operator();
  let life = fixture.start({ engine });
  await world.groups(DEVICE_ID, ["edge"]);
  await world.deployment("old", workload(containerOf("app")));
  await world.deployment("kept", workload(containerOf("app")));
  await untilReported(fixture.operator, ["kept 1 ready", "old 1 ready"]);
  const kept = engine.all.find(({ name }) => name === "kept.app");
  await life.stop();
  await world.store.delete("FleetDeployment", "old");
  await world.deployment("new", workload(containerOf("app")));
  await world.untilTold(DEVICE_ID, ["kept 1", "new 1"]);
  await world.untilDeployment("new", { targets: 1, ready: 0, pending: 1 });
  life = fixture.start({ engine });
  await world.untilDeployment("new", { targets: 1, ready: 1 }, 60_000);
  await waitUntil("old to be gone", () => names(engine).join() === "kept.app running,new.app running", 60_000);
  assertEquals(engine.all.find(({ name }) => name === "kept.app"), kept);
  // Out of its group: everything goes.
  await world.groups(DEVICE_ID, []);
  await waitUntil("all to be gone", () => engine.all.length === 0, 60_000);
  await world.untilDeployment("kept", { targets: 0 });
  await life.stop();
});
