import { assert, assertEquals } from "@std/assert";
import { isTerminalSystemPhase } from "../../contracts/system_upgrade.ts";
import { isFleetError } from "../../contracts/errors.ts";
import { errnoError } from "../../lib/durable/file_system_error.ts";
import { LedgerStore } from "../../updater/system_upgrade/ledger_store.ts";
import { countingGate, killingGate, type KillPoint } from "../crash/killing_gate.ts";
import type { Gate } from "../crash/gated_file_system.ts";
import type { MemoryFileSystem } from "../fakes/memory_file_system.ts";
import { report } from "../fakes/report.ts";
import { freshSeed, seededRandom } from "../fakes/seeded_random.ts";
import {
  bootAgain,
  copyMachine,
  liveOnMachine,
  type Machine,
  MACHINE_SCENARIOS,
  type MachineScenario,
  newDisk,
  newMachine,
  PATHS,
} from "./simulated_machine.ts";

/** Lives in a row that are killed at the same point. */
const LIVES_KILLED = 4;
/** States of the disk after one cut that are gone through one by one. */
const STATES_PER_CUT_MAX = 4_096;

/** Lives until nothing is left to do, over reboots. */
async function liveToTheEnd(disk: MemoryFileSystem, machine: Machine, scenario: MachineScenario): Promise<Machine> {
  let now = machine;
  for (let life = 0; life < 4; life++) {
    const end = await liveOnMachine({ disk, machine: now, scenario, send: false });
    if (end.kind === "idle") return now;
    assertEquals(end.kind, "reboot", JSON.stringify(end));
    now = bootAgain(now);
  }
  throw new Error("it never comes to rest");
}

/** How the ledger says that the attempt ended, after all rules that must hold have been checked. */
async function assertLegal(
  what: string,
  disk: MemoryFileSystem,
  machine: Machine,
  scenario: MachineScenario,
): Promise<string> {
  const { record } = await LedgerStore.open(disk, PATHS);
  assert(machine.upgradesBegun <= 1, `${what}: the upgrade was begun ${machine.upgradesBegun} times`);
  if (record.run === null) {
    assertEquals(machine.upgradesBegun, 0, `${what}: packages were changed without a record of it`);
    return "none";
  }
  const { phase, finding, reason, summary } = record.run;
  assert(isTerminalSystemPhase(phase), `${what}: rests in ${phase}`);
  if (phase === "succeeded") {
    assert(!machine.unfinished, `${what}: succeeded with packages half done`);
    if (reason === "Upgraded") assert(machine.upgraded, `${what}: succeeded without an upgrade`);
    if (reason !== "NothingToDo") assert(summary.bootIdAfter !== summary.bootIdBefore, `${what}: no other boot`);
  }
  // The same attempt again: it never runs, and gets the outcome that it had.
  const again = await liveOnMachine({ disk, machine, scenario, send: true });
  assert(again.kind === "idle" && again.answer?.ok === true, `${what}: ${JSON.stringify(again)}`);
  assertEquals(again.answer.status.phase, phase, what);
  assert(machine.upgradesBegun <= 1, `${what}: run again`);
  return `${phase} ${finding?.reason ?? reason}`;
}

async function pointsOf(scenario: MachineScenario): Promise<KillPoint[]> {
  const disk = await newDisk(scenario);
  const machine = newMachine(scenario);
  const { gate, points } = countingGate();
  const end = await liveOnMachine({ disk, machine, scenario, send: true, gate });
  const after = end.kind === "reboot" ? bootAgain(machine) : machine;
  const last = await liveToTheEnd(disk, after, scenario);
  assertEquals(await assertLegal(scenario.name, disk, last, scenario), scenario.ends);
  return points;
}

for (const scenario of MACHINE_SCENARIOS) {
  Deno.test(`the updater killed before and after every step and file operation: ${scenario.name}`, async () => {
    const points = await pointsOf(scenario);
    for (const point of points) {
      for (const times of [1, LIVES_KILLED]) {
        const what = `${scenario.name}, killed ${times} times at ${point.index} (${point.name})`;
        const disk = await newDisk(scenario);
        let machine = newMachine(scenario);
        for (let life = 0; life < times; life++) {
          const { gate, killed } = killingGate(point.index);
          const end = await liveOnMachine({ disk, machine, scenario, send: life === 0, gate }, killed);
          if (end.kind === "reboot") machine = bootAgain(machine);
          else if (end.kind !== "killed") break;
        }
        machine = await liveToTheEnd(disk, machine, scenario);
        const ends = await assertLegal(what, disk, machine, scenario);
        // A killed updater alone changes nothing: the upgrade goes on, or was never accepted.
        assert(ends === scenario.ends || ends === "none", `${what}: ${ends}`);
      }
    }
    report(`system upgrade: ${scenario.name}: ${points.length} points, each killed once and ${LIVES_KILLED} times`);
  });
}

/** Every state of the disk after a power cut at a point, with the machine in its next boot. */
async function* cutsAt(
  disk: MemoryFileSystem,
  before: Machine,
  scenario: MachineScenario,
  point: number,
  send: boolean,
): AsyncGenerator<{ state: MemoryFileSystem; machine: Machine }> {
  const copy = disk.clone();
  const machine = copyMachine(before);
  const { gate, killed } = killingGate(point);
  const end = await liveOnMachine({ disk: copy, machine, scenario, send, gate }, killed);
  if (end.kind !== "killed") return;
  const states = copy.crashStates({ limit: STATES_PER_CUT_MAX });
  for (const state of states) yield { state, machine: bootAgain(machine) };
}

Deno.test("a power cut at any point, in every state of the disk that it may leave: ends as it must, and never runs twice", async () => {
  let states = 0;
  const ends = new Map<string, number>();
  for (const scenario of MACHINE_SCENARIOS) {
    const points = await pointsOf(scenario);
    const disk = await newDisk(scenario);
    for (const { index, name } of points) {
      for await (const { state, machine } of cutsAt(disk, newMachine(scenario), scenario, index, true)) {
        const what = `${scenario.name}, cut at ${index} (${name}), state ${states++}`;
        const last = await liveToTheEnd(state, machine, scenario);
        const end = await assertLegal(what, state, last, scenario);
        ends.set(end, (ends.get(end) ?? 0) + 1);
        const legal = [scenario.ends, "none", "failed Interrupted", "succeeded Upgraded", "succeeded Rebooted"];
        assert(legal.includes(end), `${what}: ${end}`);
      }
    }
  }
  report(`system upgrade: ${states} disk states after a power cut: ${JSON.stringify(Object.fromEntries(ends))}`);
  assert(states > 200, `only ${states} states`);
});

Deno.test("kills, cuts and repeated requests in any order: never twice, and never a success that was none", async () => {
  const seed = Number(Deno.env.get("SYSTEM_UPGRADE_SEED") ?? freshSeed());
  report(`system upgrade: seed ${seed}`);
  const random = seededRandom(seed);
  for (let round = 0; round < 400; round++) {
    const scenario = MACHINE_SCENARIOS[Math.floor(random() * MACHINE_SCENARIOS.length)];
    assert(scenario !== undefined);
    let disk = await newDisk(scenario);
    let machine = newMachine(scenario);
    for (let life = 0; life < 5; life++) {
      const { gate, killed } = killingGate(Math.floor(random() * 40));
      const end = await liveOnMachine({ disk, machine, scenario, send: random() < 0.7, gate }, killed);
      if (end.kind === "reboot") machine = bootAgain(machine);
      if (end.kind !== "killed" || random() < 0.5) continue;
      const states = [...disk.crashStates({ limit: 64 })];
      disk = states[Math.floor(random() * states.length)] ?? disk;
      machine = bootAgain(machine);
    }
    const last = await liveToTheEnd(disk, machine, scenario);
    await assertLegal(`${scenario.name}, seed ${seed}, round ${round}`, disk, last, scenario);
  }
});

/** Fails the n-th file operation, from 0; with `forEver` also every later one. */
function fault(errno: "EIO" | "ENOSPC", index: number, forEver: boolean): { readonly gate: Gate; hit(): boolean } {
  let passed = 0;
  let hit = false;
  const steps = new Set(["configure", "upgrade", "reboot"]);
  const gate: Gate = (operation, side) => {
    if (side === "after" || steps.has(operation)) return Promise.resolve();
    const position = passed++;
    if (position !== index && !(forEver && position > index)) return Promise.resolve();
    hit = true;
    return Promise.reject(errnoError(errno, `${operation} (injected)`));
  };
  return { gate, hit: () => hit };
}

for (const errno of ["EIO", "ENOSPC"] as const) {
  Deno.test(`${errno} at every file operation of a system upgrade, once and for ever`, async () => {
    for (const scenario of MACHINE_SCENARIOS) {
      for (let index = 0;; index++) {
        const kinds = [fault(errno, index, false), fault(errno, index, true)] as const;
        for (const { gate } of kinds) {
          const what = `${scenario.name}, ${errno} at ${index}`;
          const disk = await newDisk(scenario);
          let machine = newMachine(scenario);
          const end = await liveOnMachine({ disk, machine, scenario, send: true, gate });
          if (end.kind === "fatal") assert(isFleetError(end.error), `${what}: ${String(end.error)}`);
          if (end.kind === "reboot") machine = bootAgain(machine);
          machine = await liveToTheEnd(disk, machine, scenario);
          const ends = await assertLegal(what, disk, machine, scenario);
          assert(ends === scenario.ends || ends === "none", `${what}: ${ends}`);
        }
        if (!kinds[0].hit()) break;
      }
    }
  });
}

Deno.test("the disk is full from every point on: an upgrade that has begun is recorded from the ledger's reserve", async () => {
  for (const scenario of MACHINE_SCENARIOS) {
    for (const point of await pointsOf(scenario)) {
      const what = `${scenario.name}, full from ${point.index} (${point.name})`;
      const disk = await newDisk(scenario);
      let machine = newMachine(scenario);
      let passed = 0;
      const gate: Gate = () => {
        if (passed++ === point.index) disk.setFreeBlocks(0);
        return Promise.resolve();
      };
      const end = await liveOnMachine({ disk, machine, scenario, send: true, gate });
      assert(end.kind === "idle" || end.kind === "reboot", `${what}: ${JSON.stringify(end)}`);
      if (end.kind === "reboot") machine = bootAgain(machine);
      machine = await liveToTheEnd(disk, machine, scenario);
      const ends = await assertLegal(what, disk, machine, scenario);
      assert(ends === scenario.ends || ends === "none" && point.index < 12, `${what}: ${ends}`);
    }
  }
});
