import { assert, assertEquals } from "@std/assert";
import { BUCKETS } from "../../../contracts/buckets.ts";
import { waitUntil } from "../../nats/wait_until.ts";
import { testOnNats } from "./nats_world.ts";

testOnNats("a broker that dies and comes back costs no device and no attempt", async (world, server) => {
  await world.operator();
  const ids = ["d1", "d2", "d3"];
  for (const id of ids) world.device(id, { phaseMs: 50 });
  for (const id of ids) await world.groups(id, ["edge"]);
  await world.release("stable");
  await world.untilRelease("stable", { current: 3 });
  await world.rest();
  const before = await Promise.all(ids.map((id) => world.store.get("Device", id)));

  await server.kill9();
  // Longer than a silence that makes a device stale.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  await server.restart();
  await waitUntil("the connection", () => world.bus.connected);
  // The heartbeats were in memory: the operator makes their bucket again.
  const beats = await world.revision(BUCKETS.deviceHeartbeat);
  await waitUntil("more heartbeats", async () => await world.revision(BUCKETS.deviceHeartbeat) > beats + 10);
  await world.rest();
  const after = await Promise.all(ids.map((id) => world.store.get("Device", id)));
  assertEquals(after, before);

  await world.release("next", { version: "1.2.0", priority: 1 });
  await world.untilRelease("next", { current: 3 });
  for (const id of ids) assertEquals(world.devices.get(id)?.executed.length, 2);
});

testOnNats("an outage in the middle of a rollout only delays it", async (world, server) => {
  await world.operator();
  await world.operator();
  const ids = Array.from({ length: 20 }, (_, index) => `d${index}`);
  for (const id of ids) world.device(id, { phaseMs: 100 });
  await Promise.all(ids.map((id) => world.groups(id, ["edge"])));
  await world.release("stable");
  await waitUntil("attempts", () => ids.some((id) => (world.devices.get(id)?.executed.length ?? 0) > 0));
  await server.kill9();
  await server.restart();
  await world.untilRelease("stable", { targets: 20, current: 20, lost: 0 });
  await world.rest();
  for (const id of ids) assertEquals(world.devices.get(id)?.executed.length, 1, id);
});

testOnNats("a broker that stops answering is waited for", async (world, server) => {
  await world.operator();
  world.device("d1");
  await world.groups("d1", ["edge"]);
  await world.untilDevice("d1", ({ liveness }) => liveness === "Online");
  await server.pause();
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  server.resume();
  await world.release("stable");
  await world.untilRelease("stable", { current: 1 });
  assert(world.operators.every((operator) => operator.figures.failing === 0));
});
