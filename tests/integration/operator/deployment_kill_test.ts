import { assert, assertEquals } from "@std/assert";
import { BUCKET_SPECS } from "../../../contracts/buckets.ts";
import { waitUntil } from "../../nats/wait_until.ts";
import { DesiredHistory } from "./desired_history.ts";
import { withMemoryWorld } from "./memory_world.ts";
import type { OperatorWorld } from "./operator_world.ts";

const IN_BASEL = { targetSelector: { matchLabels: { site: "basel" } } };
const NEXT_IMAGE = { podmanV0: { containers: [{ name: "app", image: "registry.example/app:2" }] } };

/** Devices as the operator made them, without one that runs. */
async function makeDevices(world: OperatorWorld): Promise<void> {
  for (const [id, site] of [["d1", "basel"], ["d2", "basel"]] as const) {
    await world.store.create("Device", { name: id, labels: { site }, spec: { groups: ["edge"] } });
  }
}

/** Everything that can change about deployments, at once. */
async function changeEverything(world: OperatorWorld): Promise<void> {
  await world.store.delete("FleetDeployment", "old");
  await world.deployment("edited", NEXT_IMAGE);
  await world.deployment("new");
  await world.groups("d2", ["edge"], { site: "bern" });
}

/**
 * An operator dies at its n-th write; the next one brings everything to its end.
 *
 * @returns the writes that the first one made
 */
async function killedAt(nth: number, isApplied: boolean): Promise<number> {
  let writes = 0;
  await withMemoryWorld(async (world) => {
    await makeDevices(world);
    const stop = await world.operator();
    for (const name of ["kept", "old", "edited"]) await world.deployment(name);
    await world.deployment("local", IN_BASEL);
    const agents = [world.workloads("d1"), world.workloads("d2")];
    for (const id of ["d1", "d2"]) await world.untilTold(id, ["edited 1", "kept 1", "local 1", "old 1"]);
    await waitUntil("the agents", () => agents.every(({ running }) => running.length === 4));
    await stop();

    const ending = new AbortController();
    const history = new DesiredHistory(["kept", "edited"]);
    const watching = history.run(world.bus, ending.signal);
    await changeEverything(world);
    const { bus, stop: bury } = await world.doomedOperator(nth, isApplied);
    let isDead = false;
    bus.dead.then(() => isDead = true);
    const [first, second] = [["edited 2", "kept 1", "local 1", "new 1"], ["edited 2", "kept 1", "new 1"]];
    const isDone = async () => await world.isTold("d1", first) && await world.isTold("d2", second);
    await waitUntil("the first operator's end", async () => isDead || await isDone());
    await bury();
    await world.operator();
    const where = `killed at write ${nth}, ${isApplied ? "applied" : "not applied"}`;
    await world.untilTold("d1", first);
    await world.untilTold("d2", second);
    await world.untilDeployment("new", { targets: 2, ready: 2 });
    await world.untilDeployment("local", { targets: 1, ready: 1 });
    await waitUntil(`the agents, ${where}`, () =>
      agents.map(({ running }) => running.join()).join(" / ") ===
        `${first} / ${second}`);
    assertEquals(history.misread, [], where);
    for (const { history } of agents) assert(!history.includes("-kept") && !history.includes("-edited"), where);
    ending.abort();
    await watching;
    writes = bus.writes;
  });
  return writes;
}

for (const isApplied of [true, false]) {
  const when = isApplied ? "after" : "before";
  Deno.test(`an operator that is killed ${when} any of its writes leaves nothing that a device misreads`, async () => {
    let nth = 1;
    while (await killedAt(nth, isApplied) >= nth) nth++;
    assert(nth > 10, `${nth - 1} writes`);
  });
}

const ALL = ["db 1", "web 1"];

/** As {@link killedAt}, for the first deployments of a fleet whose bucket is empty. */
async function killedWhileFilling(nth: number): Promise<number> {
  let writes = 0;
  await withMemoryWorld(async (world) => {
    await world.bus.ensureBuckets(BUCKET_SPECS, 10, 1);
    await makeDevices(world);
    await world.deployment("web");
    await world.deployment("db");
    const ending = new AbortController();
    const history = new DesiredHistory(["web", "db"]);
    const watching = history.run(world.bus, ending.signal);
    const { bus, stop: bury } = await world.doomedOperator(nth, nth % 2 === 0);
    let isDead = false;
    bus.dead.then(() => isDead = true);
    const isDone = async () => (await Promise.all(["d1", "d2"].map((id) => world.isTold(id, ALL)))).every(Boolean);
    await waitUntil("the first operator's end", async () => isDead || await isDone());
    await bury();
    await world.operator();
    for (const id of ["d1", "d2"]) await world.untilTold(id, ALL);
    assertEquals(history.misread, [], `write ${nth}`);
    ending.abort();
    await watching;
    writes = bus.writes;
  });
  return writes;
}

Deno.test("an operator that is killed while it fills an empty bucket is made up for by the next one", async () => {
  let nth = 1;
  while (await killedWhileFilling(nth) >= nth) nth++;
  assert(nth > 6, `${nth - 1} writes`);
});
