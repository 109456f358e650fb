/**
 * Where the devices of a run stand, counted as results come: one byte per device, so that a run over the largest fleet
 * fits in memory, and each event costs the same whatever the fleet's size.
 *
 * A device only ever moves forward; what came after the deadline is kept apart.
 *
 * @module
 */
import type { Wave, WaveCounts } from "../policy/task_decision.ts";
import type { TaskPlan } from "../policy/task_plan_documents.ts";
import type { TaskResult } from "../policy/task_result.ts";

/** How a device stands in its run. */
export const TARGET_STATES = ["waiting", "released", "late", "succeeded", "failed"] as const;
/** One of {@link TARGET_STATES}. */
export type TargetState = (typeof TARGET_STATES)[number];

const WAITING = 0;
const RELEASED = 1;
const LATE = 2;
const SUCCEEDED = 3;
const FAILED = 4;

interface Counts {
  targets: number;
  released: number;
  succeeded: number;
  failed: number;
}

/** The latest failure of a device. */
export interface RunError {
  readonly deviceId: string;
  readonly error: string;
  readonly receivedAtMs: number;
}

/** Devices of a run. */
export class RunProgress {
  readonly #plan: TaskPlan;
  /** Canaries first, then the others. */
  readonly #index = new Map<string, number>();
  readonly #states: Uint8Array;
  readonly #counts: Readonly<Record<Wave, Counts>>;
  /** Before it, every device of the wave is released. */
  readonly #cursor: Record<Wave, number>;
  #latestError: RunError | null = null;

  /** @param plan The frozen plan */
  constructor(plan: TaskPlan) {
    this.#plan = plan;
    for (const id of plan.canaries) this.#index.set(id, this.#index.size);
    for (const id of plan.others) this.#index.set(id, this.#index.size);
    this.#states = new Uint8Array(this.#index.size);
    const counts = (targets: number): Counts => ({ targets, released: 0, succeeded: 0, failed: 0 });
    this.#counts = { canaries: counts(plan.canaries.length), others: counts(plan.others.length) };
    this.#cursor = { canaries: 0, others: 0 };
  }

  /** Counts of a wave. */
  counts(wave: Wave): WaveCounts {
    return { ...this.#counts[wave] };
  }

  /** The latest failure; null while there is none. */
  get latestError(): RunError | null {
    return this.#latestError;
  }

  /** How a device stands; undefined for one that is no target. */
  stateOf(deviceId: string): TargetState | undefined {
    const index = this.#index.get(deviceId);
    return index === undefined ? undefined : TARGET_STATES[this.#states[index] ?? WAITING];
  }

  /** Whether a result of the device has come, late ones included. */
  hasEnded(deviceId: string): boolean {
    const state = this.stateOf(deviceId);
    return state === "late" || state === "succeeded" || state === "failed";
  }

  /** Takes that a device has its intent. */
  release(deviceId: string): void {
    this.#move(deviceId, RELEASED);
  }

  /**
   * Takes what a device's status says.
   *
   * @param deviceId The device
   * @param result What it says
   * @param receivedAtMs When the broker received it, in ms
   */
  take(deviceId: string, result: TaskResult, receivedAtMs: number): void {
    if (result.kind === "ignored") return;
    if (!this.#move(deviceId, stateAfter(result)) || result.kind !== "failed" || result.isLate) return;
    const error = { deviceId, error: result.error, receivedAtMs };
    if (this.#latestError === null || isLater(error, this.#latestError)) this.#latestError = error;
  }

  /** Devices of a wave that have no intent yet, in order. */
  *unreleased(wave: Wave): Generator<string> {
    const ids = this.#plan[wave];
    const offset = wave === "canaries" ? 0 : this.#plan.canaries.length;
    let isFirst = true;
    for (let index = this.#cursor[wave]; index < ids.length; index++) {
      if (this.#states[offset + index] !== WAITING) continue;
      if (isFirst) this.#cursor[wave] = index;
      isFirst = false;
      const id = ids[index];
      if (id !== undefined) yield id;
    }
    if (isFirst) this.#cursor[wave] = ids.length;
  }

  /** Moves a device forward. @returns whether it moved */
  #move(deviceId: string, to: number): boolean {
    const index = this.#index.get(deviceId);
    if (index === undefined) return false;
    const from = this.#states[index] ?? WAITING;
    // A result is final, a late one too: the device has ended once and for all.
    if (from >= to || from >= LATE) return false;
    this.#states[index] = to;
    const counts = this.#counts[index < this.#plan.canaries.length ? "canaries" : "others"];
    if (from === WAITING) counts.released++;
    if (to === SUCCEEDED) counts.succeeded++;
    if (to === FAILED) counts.failed++;
    return true;
  }
}

function stateAfter(result: Exclude<TaskResult, { kind: "ignored" }>): number {
  if (result.kind === "accepted") return RELEASED;
  if (result.isLate) return LATE;
  return result.kind === "succeeded" ? SUCCEEDED : FAILED;
}

function isLater(a: RunError, b: RunError): boolean {
  // The id decides between equal times, so that every operator names the same device.
  return a.receivedAtMs === b.receivedAtMs ? a.deviceId > b.deviceId : a.receivedAtMs > b.receivedAtMs;
}
