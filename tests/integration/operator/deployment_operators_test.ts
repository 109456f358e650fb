import { assertEquals } from "@std/assert";
import { BUCKETS } from "../../../contracts/buckets.ts";
import { freshSeed, seededRandom } from "../../fakes/seeded_random.ts";
import { waitUntil } from "../../nats/wait_until.ts";
import { DeploymentChurn } from "./deployment_churn.ts";
import { DesiredHistory } from "./desired_history.ts";
import { testOnNats } from "./nats_world.ts";
import { OperatorProcess, withConfig } from "./operator_process.ts";

const IDS = Array.from({ length: 20 }, (_, index) => `d${index}`);

testOnNats("two at once tell every device what it must run, keep what stays, and come to rest", async (world) => {
  const seed = freshSeed();
  const where = `seed ${seed}`;
  const churn = new DeploymentChurn(world, IDS, seed);
  const ending = new AbortController();
  const history = new DesiredHistory([DeploymentChurn.KEPT]);
  const watching = history.run(world.bus, ending.signal);
  await world.operator();
  await world.operator();
  await churn.begin();
  const agents = IDS.map((id) => world.workloads(id));
  await churn.settled();
  for (let step = 0; step < 60; step++) await churn.step();
  await churn.settled();
  await world.rest();
  await churn.settled();
  const wanted = await churn.wanted();
  await waitUntil(
    "the agents",
    () => agents.every(({ id, running }) => running.join() === wanted.get(id)?.join()),
    60_000,
  );
  assertEquals(history.misread, [], where);
  for (const { id, history: done } of agents) assertEquals(done.includes("-kept"), false, `${where}, ${id}`);
  // Nothing is ever written twice, whoever saw it first.
  for (const id of IDS) assertEquals(history.writesOf(id, DeploymentChurn.KEPT), 1, `${where}, ${id}`);
  const revision = await world.revision(BUCKETS.desiredState);
  await world.rest();
  assertEquals(await world.revision(BUCKETS.desiredState), revision, where);
  ending.abort();
  await watching;
});

testOnNats("one that comes and goes at any moment leaves the same as one that stays", async (world) => {
  const seed = freshSeed();
  const churn = new DeploymentChurn(world, IDS, seed);
  const ending = new AbortController();
  const history = new DesiredHistory([DeploymentChurn.KEPT]);
  const watching = history.run(world.bus, ending.signal);
  await churn.begin();
  for (let life = 0; life < 5; life++) {
    const stop = await world.operator();
    for (let step = 0; step < 10; step++) await churn.step();
    await stop();
    // What nobody sees happen must be noticed at the next start.
    for (let step = 0; step < 5; step++) await churn.step();
  }
  await world.operator();
  await churn.settled();
  assertEquals(history.misread, [], `seed ${seed}`);
  ending.abort();
  await watching;
});

testOnNats("a process that is killed again and again leaves nothing that a device misreads", async (world, server) => {
  const seed = freshSeed();
  const random = seededRandom(seed);
  const churn = new DeploymentChurn(world, IDS, seed);
  const ending = new AbortController();
  const history = new DesiredHistory([DeploymentChurn.KEPT]);
  const watching = history.run(world.bus, ending.signal);
  await churn.begin();
  const bounds = {
    natsReconnectMinMs: 20,
    natsReconnectMaxMs: 100,
    statusWriteIntervalMs: 20,
    foreignWriteSettleMs: 50,
  };
  const agents = IDS.map((id) => world.workloads(id));
  await withConfig({ nats: { servers: [server.url] }, fleetSize: 1_000, bounds }, async (path) => {
    for (let life = 0; life < 6; life++) {
      const operator = new OperatorProcess(["--config", path]);
      await waitUntil("the operator", () => operator.stderr.includes("the fleet is read"));
      for (let step = 0; step < 8; step++) await churn.step();
      // Somewhere among the writes of what has just changed, each of which takes a part of a millisecond.
      const untilMs = performance.now() + random() * 20;
      await waitUntil("the moment", () => performance.now() >= untilMs);
      await operator.end("SIGKILL");
    }
    const operator = new OperatorProcess(["--config", path]);
    await churn.settled();
    const wanted = await churn.wanted();
    await waitUntil(
      "the agents",
      () => agents.every(({ id, running }) => running.join() === wanted.get(id)?.join()),
      60_000,
    );
    assertEquals(await operator.end("SIGTERM"), 0);
  });
  assertEquals(history.misread, [], `seed ${seed}`);
  for (const { id, history: done } of agents) assertEquals(done.includes("-kept"), false, `seed ${seed}, ${id}`);
  ending.abort();
  await watching;
});
