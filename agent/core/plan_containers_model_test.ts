/**
 * From any state, under any wish, taking the planned steps ends with what is desired, touches nothing that is foreign or
 * already right, and does so from wherever it was cut short.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { DEVICE_ID, uuidOf } from "../../tests/fakes/agent_samples.ts";
import { FakeEngine } from "../../tests/fakes/fake_engine.ts";
import { freshSeed, seededRandom } from "../../tests/fakes/seeded_random.ts";
import { containerOf, entryOf, heldOf, IMAGE, madeFrom } from "../../tests/fakes/workload_samples.ts";
import type { EngineContainer } from "../podman/port.ts";
import { type Ownership, ownershipOf, podmanName, successorName } from "./container_labels.ts";
import { containerSpec, isMadeFrom, specDigests } from "./container_spec.ts";
import type { HeldEntry, HeldState } from "./desired_state.ts";
import { hasEndedWell, type PlacePlan, planContainers } from "./plan_containers.ts";

type Random = (bound: number) => number;
const NAMES = ["app", "side", "next"];
const POLICIES = ["no", "on-failure", "always", "unless-stopped"] as const;

function randomEntry(random: Random, digit: number): HeldEntry {
  const count = 1 + random(NAMES.length);
  const containers = NAMES.slice(0, count).map((name) => {
    const restartPolicy = POLICIES[random(POLICIES.length)] ?? "always";
    return containerOf(name, { env: { VERSION: String(random(3)) }, restartPolicy });
  });
  return entryOf(digit, containers, 1 + random(3));
}

function randomHeld(random: Random): HeldState {
  const entries = Array.from({ length: random(4) }, (_, index) => randomEntry(random, index + 1));
  return heldOf(entries.filter(() => random(4) > 0), { whole: random(4) > 0 });
}

/** Containers as any history may have left them: right, stale, half replaced, foreign, ended, never started. */
function randomContainers(random: Random, engine: FakeEngine): void {
  for (let count = random(10); count > 0; count--) {
    const entry = randomEntry(random, 1 + random(4));
    const container = entry.workload.kind === "containers" ? entry.workload.containers[0] : undefined;
    if (container === undefined) continue;
    const made = madeFrom(entry, container);
    const name = random(4) === 0 ? `${made.name}_next` : made.name;
    if (engine.named(name) !== undefined) continue;
    const phase = (["running", "exited", "created"] as const)[random(3)] ?? "running";
    const labels = random(5) === 0 ? {} : made.labels;
    const exited = { exitCode: random(2), exitedAtS: random(2) * 200 };
    engine.add({
      name,
      labels,
      phase,
      state: phase,
      startedAtS: phase === "created" ? 0 : 100,
      ...(phase === "exited" ? exited : {}),
    });
  }
  engine.add({ name: "foreign", labels: {} });
}

async function take({ owner, steps, wanted }: PlacePlan, engine: FakeEngine): Promise<void> {
  let made = "";
  for (const step of steps) {
    if (step.kind === "create" && wanted !== undefined) {
      made = await engine.create(containerSpec(wanted, owner, step.name));
    }
    if (step.kind === "rename") await engine.rename(step.id ?? made, step.name);
    if (step.kind === "start") await engine.start(step.id ?? made);
    if (step.kind === "stop") await engine.stop(step.id);
    if (step.kind === "remove") await engine.remove(step.id);
  }
}

function foreign(engine: FakeEngine): EngineContainer[] {
  return engine.all.filter(({ labels }) => Object.keys(labels).length === 0);
}

/** Whether somebody else's container has one of the names that a place needs: that is for people to solve. */
function isTaken(engine: FakeEngine, owner: Pick<Ownership, "container" | "deployment">): boolean {
  return foreign(engine).some(({ name }) => name === podmanName(owner) || name === successorName(owner));
}

function rightAtFirst(held: HeldState, engine: FakeEngine): EngineContainer[] {
  return planContainers(DEVICE_ID, held, engine.all).places.flatMap(({ state, steps }) =>
    state.kind === "present" && steps.length === 0 ? [state.container] : []
  );
}

function assertConverged(held: HeldState, engine: FakeEngine, what: string): void {
  for (const entry of held.entries.values()) {
    if (entry.workload.kind !== "containers") continue;
    for (const wanted of entry.workload.containers) {
      if (isTaken(engine, { deployment: entry.name, container: wanted.name })) continue;
      const found = engine.named(`${entry.name}.${wanted.name}`);
      assert(found !== undefined, `${what}: ${entry.name}.${wanted.name} is missing`);
      const owner = ownershipOf(DEVICE_ID, found);
      assert(
        owner !== null && isMadeFrom(owner, specDigests(wanted), entry.generation),
        `${what}: ${found.name} is stale`,
      );
      const policy = wanted.restartPolicy ?? "always";
      const rests = policy === "no" || (policy === "on-failure" && hasEndedWell(found));
      assert(
        found.phase === "running" || (rests && found.phase === "exited"),
        `${what}: ${found.name} is ${found.phase}`,
      );
    }
  }
  if (!held.whole) return;
  const ids = new Set(held.entries.keys());
  const orphans = engine.all.filter(({ labels }) => {
    const id = labels["fleet.nationtech.io/deployment-id"];
    return id !== undefined && !ids.has(id);
  });
  assertEquals(orphans.map(({ name }) => name), [], what);
}

Deno.test("planned steps converge from any state, cut short anywhere, and touch nothing else", async () => {
  const seed = Number(Deno.env.get("SEED") ?? freshSeed());
  const next = seededRandom(seed);
  const random: Random = (bound) => Math.floor(next() * bound);
  for (let round = 0; round < 400; round++) {
    const what = `SEED=${seed} round ${round}`;
    const engine = new FakeEngine();
    engine.images.add(IMAGE);
    randomContainers(random, engine);
    const before = foreign(engine);
    // Two wishes one after the other: the second meets what the first has left.
    for (const held of [randomHeld(random), randomHeld(random)]) {
      const right = rightAtFirst(held, engine);
      for (let pass = 0;; pass++) {
        assert(pass < 40, `${what}: does not converge`);
        const cut = random(3) === 0 ? engine.calls.length + random(6) : Number.POSITIVE_INFINITY;
        engine.before = (call) => {
          if (call >= cut) throw new Error("cut");
        };
        const { places } = planContainers(DEVICE_ID, held, engine.all);
        const open = places.filter(({ steps }) => steps.length > 0);
        const taken = open.filter(({ owner, wanted }) => wanted !== undefined && isTaken(engine, owner));
        if (open.length === taken.length) break;
        for (const place of open) await take(place, engine).catch(() => {});
      }
      engine.before = () => {};
      assertConverged(held, engine, what);
      for (const container of right) assertEquals(engine.all.find(({ id }) => id === container.id), container, what);
    }
    assertEquals(foreign(engine), before, what);
  }
});

Deno.test("the identity of a place has no other spelling", () => {
  const { places } = planContainers(DEVICE_ID, heldOf([entryOf(1, [containerOf("app")])]), []);
  assertEquals(places.map(({ key }) => key), [`${uuidOf(1)}/app`]);
});
