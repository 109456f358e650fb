/**
 * Power cuts on the simulated disk: what was running is gone, and of the disk any state that POSIX allows is left.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import type { MemoryFileSystem } from "../fakes/memory_file_system.ts";
import { countingGate, killingGate } from "./killing_gate.ts";
import { assertLegalEnd } from "./legal_end.ts";
import { type LifeOptions, live, newDevice, type Scenario } from "./simulated_device.ts";
import type { FileSystem } from "../../lib/durable/file_system.ts";
import type { AgentProcess } from "./simulated_service.ts";

/** A life of which the power is cut. */
export interface CutLife {
  readonly scenario: Scenario;
  readonly disk: MemoryFileSystem;
  readonly process: AgentProcess;
  /** Whether the attempt is sent in it. */
  readonly send: boolean;
  /** Whether the machine has just booted. */
  readonly boot: boolean;
  /** What the updater sees of the disk; a test breaks a promise of it. Default the disk */
  readonly view?: (disk: MemoryFileSystem) => FileSystem;
}

/**
 * A device before its upgrade.
 *
 * @param scenario What will be tried
 */
export async function upgradeLife(scenario: Scenario): Promise<CutLife> {
  return { ...await newDevice(scenario), scenario, send: true, boot: false };
}

/**
 * A device after a cut: nothing runs.
 *
 * @param life The life that was cut
 * @param disk A state that the cut left
 */
export function recoveryLife(life: CutLife, disk: MemoryFileSystem): CutLife {
  const { outageStarts = 0, refusedStops = 0 } = life.scenario;
  const process = { running: null, starts: new Map(), outageStarts, refusedStops };
  return { ...life, disk, process, send: false, boot: true };
}

/**
 * A device whose updater was killed: the rest of the machine lives on, with everything that its kernel has not written.
 *
 * @param life The life
 * @param point Where it is killed
 */
export async function killedLife(life: CutLife, point: number): Promise<CutLife> {
  const options = optionsOf(life, life.disk.clone());
  const { gate, killed } = killingGate(point);
  assertEquals((await live({ ...options, gate }, killed)).kind, "killed");
  return { ...life, disk: options.copy, process: options.process, send: false, boot: false };
}

function optionsOf(life: CutLife, copy: MemoryFileSystem): LifeOptions & { readonly copy: MemoryFileSystem } {
  const { scenario, process, send, boot, view } = life;
  const own: AgentProcess = { ...process, starts: new Map(process.starts) };
  return { disk: view?.(copy) ?? copy, process: own, scenario, send, boot, copy };
}

/**
 * Number of points of a life.
 *
 * @param life The life; its disk is left as it is
 */
export async function countPoints(life: CutLife): Promise<number> {
  const { gate, points } = countingGate();
  const end = await live({ ...optionsOf(life, life.disk.clone()), gate });
  assertEquals(end.kind, "idle");
  return points.length;
}

/**
 * Cuts the power at a point.
 *
 * @param life The life; its disk is left as it is
 * @param point The point
 * @returns the disk as the kernel saw it at the cut
 */
export async function cutAt(life: CutLife, point: number): Promise<MemoryFileSystem> {
  const copy = life.disk.clone();
  const { gate, killed } = killingGate(point);
  const end = await live({ ...optionsOf(life, copy), gate }, killed);
  assertEquals(end.kind, "killed");
  return copy;
}

/**
 * Recovers a device after a cut, and asserts that it ends as it must.
 *
 * @param what Where it was cut
 * @param life The recovery; its disk is used up
 */
export async function assertRecovers(what: string, life: CutLife): Promise<void> {
  const options = optionsOf(life, life.disk);
  const end = await live(options);
  assertEquals(end.kind, "idle", `${what}: ${end.kind === "fatal" ? String(end.error) : ""}`);
  await assertLegalEnd(what, options.disk, options.process, life.scenario);
}
