import { report } from "../fakes/report.ts";
import { assert, assertEquals } from "@std/assert";
import { errorText } from "../../contracts/errors.ts";
import type { FileSystem, WritableFile } from "../../lib/durable/file_system.ts";
import type { MemoryFileSystem } from "../fakes/memory_file_system.ts";
import { freshSeed, seededRandom } from "../fakes/seeded_random.ts";
import {
  assertRecovers,
  countPoints,
  cutAt,
  type CutLife,
  killedLife,
  recoveryLife,
  upgradeLife,
} from "./power_cut.ts";
import { SCENARIOS } from "./scenarios.ts";
import type { Scenario } from "./simulated_device.ts";

/** Least number of states that are recovered from when there are more of them (issue 3). */
const SAMPLE_STATES = Number(Deno.env.get("POWER_CUT_STATES") ?? 100_000);
/** Most states of one cut that are gone through one by one; none of these scenarios has as many. */
const STATES_PER_CUT_MAX = 4_096;

/** Every state of every cut of a life, one by one. */
async function* everyCut(life: CutLife): AsyncGenerator<{ what: string; state: CutLife }> {
  const points = await countPoints(life);
  for (let point = 0; point < points; point++) {
    const states = (await cutAt(life, point)).crashStates({ limit: STATES_PER_CUT_MAX });
    assert(states.exhaustive, `${life.scenario.name}, point ${point}: ${states.count} states are a sample`);
    let index = 0;
    for (const disk of states) {
      yield { what: `${life.scenario.name}, cut at ${point}, state ${index++}`, state: recoveryLife(life, disk) };
    }
  }
}

let statesOfOneCut = 0;

Deno.test("a power cut at any point of an upgrade or rollback: every state of the disk is recovered from", async () => {
  for (const scenario of SCENARIOS) {
    for await (const { what, state } of everyCut(await upgradeLife(scenario))) {
      await assertRecovers(what, state);
      statesOfOneCut++;
    }
  }
  report(`power cut: ${statesOfOneCut} disk states after one cut, all of them recovered from`);
  assert(statesOfOneCut > 1_000);
});

Deno.test("a power cut at any point of the recovery from a kill or a cut: a seeded sample of the states is recovered from", async () => {
  const seed = Number(Deno.env.get("POWER_CUT_SEED") ?? freshSeed());
  report(`power cut: seed ${seed}`);
  const random = seededRandom(seed);
  const wanted = Math.max(0, SAMPLE_STATES - statesOfOneCut);
  let states = 0;
  while (states < wanted) {
    const scenario = pick(SCENARIOS, random);
    const recovery = await interrupted(await upgradeLife(scenario), random);
    const points = await countPoints(recovery);
    for (let point = 0; point < points; point++) {
      let index = 0;
      for (const disk of (await cutAt(recovery, point)).crashStates({ limit: STATES_PER_CUT_MAX })) {
        const what = `${scenario.name}, seed ${seed}, cut again at ${point}, state ${index++}`;
        await assertRecovers(what, recoveryLife(recovery, disk));
        states++;
      }
    }
  }
  report(`power cut: ${states} disk states after a kill or cut and a cut, all of them recovered from`);
});

function pick<T>(items: readonly T[], random: () => number): T {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new RangeError("nothing to pick from");
  return item;
}

/** An upgrade that met a power cut, or whose updater was killed while the kernel kept what it had not written. */
async function interrupted(life: CutLife, random: () => number): Promise<CutLife> {
  const point = Math.floor(random() * await countPoints(life));
  if (random() < 0.5) return await killedLife(life, point);
  return recoveryLife(life, pick([...(await cutAt(life, point)).crashStates({ limit: STATES_PER_CUT_MAX })], random));
}

/** A disk that forgets one kind of sync: what a missing line in the durable replace would do. */
function withoutSync(kind: "file" | "directory"): (disk: MemoryFileSystem) => FileSystem {
  const forgetful = (file: WritableFile): WritableFile => ({
    write: (bytes) => file.write(bytes),
    truncate: (sizeBytes) => file.truncate(sizeBytes),
    sync: () => Promise.resolve(),
    close: () => file.close(),
  });
  return (disk) =>
    new Proxy<FileSystem>(disk, {
      get(target, name: keyof FileSystem & string) {
        if (kind === "directory" && name === "syncDirectory") return () => Promise.resolve();
        if (kind === "file" && name === "create") {
          return async (path: string, mode: number) => forgetful(await target.create(path, mode));
        }
        return target[name].bind(target);
      },
    });
}

/** The first illegal end that a cut leads to, or undefined when there is none. */
async function firstIllegal(
  scenario: Scenario,
  view: (disk: MemoryFileSystem) => FileSystem,
): Promise<string | undefined> {
  for await (const { what, state } of everyCut({ ...await upgradeLife(scenario), view })) {
    try {
      await assertRecovers(what, state);
    } catch (error) {
      return errorText(error);
    }
  }
  return undefined;
}

for (const kind of ["file", "directory"] as const) {
  Deno.test(`a durable replace without its ${kind} sync is found out`, async () => {
    const [scenario] = SCENARIOS;
    assert(scenario !== undefined);
    assertEquals(await firstIllegal(scenario, (disk) => disk), undefined);
    assert(await firstIllegal(scenario, withoutSync(kind)) !== undefined, `no state shows the missing ${kind} sync`);
  });
}
