/**
 * A machine whose disk, packages and reboots are simulated, and whose part of the updater that upgrades the system is the
 * real one. One *life* is the updater's process from its start until it is killed, has nothing to do, or the machine goes
 * down for a reboot.
 *
 * @module
 */
import type { ManagedPaths } from "../../contracts/managed_paths.ts";
import { managedPaths } from "../../contracts/managed_paths.ts";
import type { FileSystem } from "../../lib/durable/file_system.ts";
import { silentLogger } from "../../lib/log.ts";
import { AdmissionLock } from "../../updater/admission_lock.ts";
import { openSystemUpgrades } from "../../updater/system_upgrade/open_system_upgrades.ts";
import type { PackageManager, StepResult, UpgradeHost } from "../../updater/system_upgrade/ports.ts";
import type { SystemUpgradeAnswer } from "../../updater/system_upgrade/system_upgrade_service.ts";
import { fastClock } from "../crash/simulated_device.ts";
import { type Gate, gatedFileSystem } from "../crash/gated_file_system.ts";
import { sampleSystemAttempt } from "../fakes/ledger_samples.ts";
import { MemoryFileSystem } from "../fakes/memory_file_system.ts";

/** Paths of the machine. */
export const PATHS: ManagedPaths = managedPaths("");
/** What is asked of it. */
export const ATTEMPT = sampleSystemAttempt();

/** What is tried on a machine. */
export interface MachineScenario {
  readonly name: string;
  /** Packages that an earlier run left unpacked. */
  readonly pending?: boolean;
  readonly nothingToDo?: boolean;
  /** Whether the upgrade fails, with packages half done. */
  readonly breaks?: boolean;
  readonly rebootRefused?: boolean;
  /** How it ends when nothing is interrupted. */
  readonly ends: string;
}

/** What of a machine outlives the updater; `boot` and `changes` do not outlive a boot. */
export interface Machine {
  boot: number;
  /** Changes of packages that were begun in this boot, by kind. */
  changes: Map<"configure" | "upgrade", "running" | "ended">;
  upgraded: boolean;
  unfinished: boolean;
  /** How often an upgrade was begun, ever. */
  upgradesBegun: number;
  goingDown: boolean;
}

/** A machine before its upgrade. */
export function newMachine({ pending = false }: MachineScenario): Machine {
  const unfinished = pending;
  return { boot: 1, changes: new Map(), upgraded: false, unfinished, upgradesBegun: 0, goingDown: false };
}

/** A copy, for a branch of what may happen. */
export function copyMachine(machine: Machine): Machine {
  return { ...machine, changes: new Map(machine.changes) };
}

/** The next boot: what ran is gone, and what it had not finished stays half done. */
export function bootAgain(machine: Machine): Machine {
  const cutShort = [...machine.changes.values()].includes("running");
  return {
    ...machine,
    boot: machine.boot + 1,
    changes: new Map(),
    unfinished: machine.unfinished || cutShort,
    goingDown: false,
  };
}

const FINE: StepResult = { ok: true, value: undefined };
const KERNEL = "6.1.0-28";

function failing(reason: "UpgradeFailed" | "RebootRefused"): StepResult<never> {
  return { ok: false, finding: { reason, failureClass: "policy", error: "it was made to fail" } };
}

function packagesOf(machine: Machine, scenario: MachineScenario, gate: Gate): PackageManager {
  /** As the adapter does it: begun at most once in a boot, and found again. */
  const change = async (kind: "configure" | "upgrade", finish: () => StepResult): Promise<StepResult> => {
    await gate(kind, "before");
    if (!machine.changes.has(kind)) {
      machine.changes.set(kind, "running");
      if (kind === "upgrade") machine.upgradesBegun++;
    }
    await gate(kind, "after");
    if (machine.changes.get(kind) === "running") finish();
    machine.changes.set(kind, "ended");
    return kind === "upgrade" && scenario.breaks === true ? failing("UpgradeFailed") : FINE;
  };
  return {
    look: () =>
      Promise.resolve({ ok: true, value: { readOnly: [], unfinished: machine.unfinished ? ["lab-app"] : [] } }),
    refresh: () => Promise.resolve(FINE),
    simulate: () => {
      const upgraded = scenario.nothingToDo === true || machine.upgraded
        ? []
        : [{ name: "lab-app", from: "1", to: "2" }];
      const plan = { upgraded, installed: [], removed: [], kept: [], keptCount: 0 };
      return Promise.resolve({ ok: true, value: { plan, downloadBytes: 1_000 } });
    },
    download: () => Promise.resolve(FINE),
    configure: () =>
      change("configure", () => {
        machine.unfinished = false;
        return FINE;
      }),
    upgrade: () =>
      change("upgrade", () => {
        machine.upgraded = scenario.breaks !== true;
        machine.unfinished = scenario.breaks === true;
        return FINE;
      }),
    tidy: () => Promise.resolve(),
  };
}

/** How a life ended. */
export type MachineEnd =
  | { readonly kind: "idle"; readonly answer?: SystemUpgradeAnswer }
  | { readonly kind: "killed" }
  /** The machine goes down for a reboot. */
  | { readonly kind: "reboot" }
  /** The process ended itself: the state of its disk was unknown. */
  | { readonly kind: "fatal"; readonly error: unknown };

/** One life of the updater. */
export interface MachineLife {
  readonly disk: FileSystem;
  readonly machine: Machine;
  readonly scenario: MachineScenario;
  /** Whether the attempt is sent. */
  readonly send: boolean;
  readonly gate?: Gate;
}

/**
 * Lives one life. Where the gate never opens again the process counts as killed.
 *
 * @param life Disk, machine, scenario, gate
 * @param killed Resolves when the gate has closed for good
 */
export function liveOnMachine(life: MachineLife, killed: Promise<void> = new Promise(() => {})): Promise<MachineEnd> {
  const { disk, machine, scenario, send, gate = () => Promise.resolve() } = life;
  const ended = Promise.withResolvers<MachineEnd>();
  const host: UpgradeHost = {
    spaces: () => Promise.resolve([{ path: "/", device: 1, freeBytes: 2 ** 40 }]),
    isRebootDue: () => Promise.resolve(false),
    reboot: async () => {
      await gate("reboot", "before");
      if (scenario.rebootRefused === true) return failing("RebootRefused");
      machine.goingDown = true;
      ended.resolve({ kind: "reboot" });
      return await new Promise<never>(() => {});
    },
  };
  const run = async (): Promise<MachineEnd> => {
    const opened = await openSystemUpgrades({
      fs: gatedFileSystem(disk, gate),
      paths: PATHS,
      clock: fastClock(),
      log: silentLogger,
      deviceId: ATTEMPT.deviceId,
      lock: new AdmissionLock(),
      agentSide: () => ({ active: false, quarantined: false }),
      stopping: () => false,
      onFatal: (error) => ended.resolve({ kind: "fatal", error }),
      context: { packages: packagesOf(machine, scenario, gate), host },
      boot: { bootId: `boot-${machine.boot}`, kernel: KERNEL },
    });
    opened.proceed();
    const answer = send ? await opened.upgrades.request(ATTEMPT, ATTEMPT) : undefined;
    await opened.settled();
    await opened.refillReserve();
    return answer === undefined ? { kind: "idle" } : { kind: "idle", answer };
  };
  run().then(ended.resolve, (error) => ended.resolve({ kind: "fatal", error }));
  return Promise.race([ended.promise, killed.then((): MachineEnd => ({ kind: "killed" }))]);
}

/** A disk with an empty ledger and its reserve, all of it durable. */
export async function newDisk(scenario: MachineScenario): Promise<MemoryFileSystem> {
  const disk = new MemoryFileSystem();
  await disk.makeDirectory(PATHS.stateDirectory, 0o700);
  await liveOnMachine({ disk, machine: newMachine(scenario), scenario, send: false });
  disk.syncAll();
  return disk;
}

/** The ways in which a system upgrade goes. */
export const MACHINE_SCENARIOS: readonly MachineScenario[] = [
  { name: "upgrade with a reboot", ends: "succeeded Upgraded" },
  { name: "packages pending from an earlier run", pending: true, ends: "succeeded Upgraded" },
  { name: "nothing to do", nothingToDo: true, ends: "succeeded NothingToDo" },
  { name: "nothing but pending packages", nothingToDo: true, pending: true, ends: "succeeded Rebooted" },
  { name: "an upgrade that breaks", breaks: true, ends: "failed UpgradeFailed" },
  { name: "a reboot that is refused", rebootRefused: true, ends: "failed RebootRefused" },
];
