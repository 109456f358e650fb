import { assert, assertEquals, assertLessOrEqual } from "@std/assert";
import { agentUpgradeAttempt } from "../../../contracts/agent_upgrade.ts";
import { BUCKETS } from "../../../contracts/buckets.ts";
import { decodeBytes } from "../../../contracts/codec.ts";
import { waitUntil } from "../../nats/wait_until.ts";
import { testOnNats } from "./nats_world.ts";
import type { OperatorWorld } from "./operator_world.ts";

const DEVICES = 60;
const IDS = Array.from({ length: DEVICES }, (_, index) => `d${index}`);
/** These roll every attempt of version 1.2.0 back. */
const BAD_IDS = IDS.filter((_, index) => index % 10 === 3);

/** Every intent that was ever written, as `device identity`. */
async function recordIntents(world: OperatorWorld, signal: AbortSignal, written: string[]): Promise<void> {
  const intents = await world.bus.bucket(BUCKETS.upgradeIntent);
  for await (const event of intents.watch("*", signal)) {
    if (event.kind !== "entry") continue;
    const { deviceId, releaseIdentity } = decodeBytes(agentUpgradeAttempt, event.entry.value, 100_000);
    written.push(`${deviceId} ${releaseIdentity}`);
  }
}

async function makeFleet(world: OperatorWorld): Promise<void> {
  for (const id of IDS) {
    world.device(id, {
      phaseMs: 20,
      heartbeatMs: 200,
      outcome: ({ targetVersion }) => targetVersion === "1.2.0" && BAD_IDS.includes(id) ? "rolled-back" : "complete",
    });
  }
  await Promise.all(IDS.map((id) => world.groups(id, ["edge"])));
}

testOnNats("two write exactly one attempt per device and identity, and come to rest", async (world) => {
  const ending = new AbortController();
  const written: string[] = [];
  const recording = recordIntents(world, ending.signal, written);
  await world.operator();
  await world.operator();
  await makeFleet(world);
  await world.release("stable");
  await world.untilRelease("stable", { targets: DEVICES, current: DEVICES });
  await world.release("next", { version: "1.2.0", priority: 1 });
  const good = DEVICES - BAD_IDS.length;
  await world.untilRelease("next", { targets: DEVICES, current: good, rolledBack: BAD_IDS.length, upgrading: 0 });
  await world.rest();

  const twice = written.filter((line, index) => written.indexOf(line) !== index);
  assertEquals(twice, []);
  assertEquals(written.length, 2 * DEVICES);
  for (const id of IDS) assertEquals(world.devices.get(id)?.executed.length, 2, id);

  const resources = await world.revision(BUCKETS.resources);
  const intents = await world.revision(BUCKETS.upgradeIntent);
  const beats = await world.revision(BUCKETS.deviceHeartbeat);
  await waitUntil("heartbeats", async () => await world.revision(BUCKETS.deviceHeartbeat) > beats + 5 * DEVICES);
  assertEquals([await world.revision(BUCKETS.resources), await world.revision(BUCKETS.upgradeIntent)], [
    resources,
    intents,
  ]);
  // Creation, groups, liveness, and for each of two upgrades: pending, four or five phases, the new version.
  assertLessOrEqual(resources / DEVICES, 20, "writes per device");
  ending.abort();
  await recording;
});

testOnNats("one that is stopped in the middle is made up for by another", async (world) => {
  const ending = new AbortController();
  const written: string[] = [];
  const recording = recordIntents(world, ending.signal, written);
  const stop = await world.operator();
  await makeFleet(world);
  await world.release("stable");
  await waitUntil("the first attempts", () => written.length > 0);
  await stop();
  const atStop = written.length;
  await world.operator();
  await world.untilRelease("stable", { targets: DEVICES, current: DEVICES });
  await world.rest();
  assert(atStop <= DEVICES);
  assertEquals(written.length, DEVICES);
  assertEquals(new Set(written).size, DEVICES);
  ending.abort();
  await recording;
});
