/**
 * What the loop remembers of each place between two looks: failed tries and their pauses, and restarts that it did not
 * make. Nothing of it is needed after a restart of the agent.
 *
 * @module
 */
import { RESTART_STABLE_MS, WORKLOAD_RETRY_MAX_MS, WORKLOAD_RETRY_MIN_MS } from "../../contracts/limits.ts";
import { backoffMs } from "../../lib/deadline.ts";
import type { PlacePlan, Problem } from "../core/plan_containers.ts";

interface Memory {
  /** What was wanted; other wishes begin anew. */
  readonly wish: string;
  /** Tries since the place was last in order for a while. */
  tries: number;
  notBeforeMs: number;
  failure: Problem | null;
  /** The container that was last seen running, and its start. */
  seen: { readonly id: string; readonly startedAtS: number } | null;
  restarts: number;
  /** When something last happened that was no good sign. */
  unquietMs: number;
}

/** Pauses of a place. */
export interface PlaceMemoryOptions {
  /** Source of randomness in [0, 1). */
  readonly random: () => number;
  /** Default {@link WORKLOAD_RETRY_MIN_MS}. */
  readonly retryMinMs?: number;
  /** Default {@link WORKLOAD_RETRY_MAX_MS}. */
  readonly retryMaxMs?: number;
  /** Time for which a container must run to count as well again, in ms. Default {@link RESTART_STABLE_MS}. */
  readonly stableMs?: number;
}

function wishOf({ owner, wanted }: PlacePlan): string {
  return wanted === undefined ? "gone" : JSON.stringify(owner.specs);
}

/** What the loop remembers of each place. */
export class PlaceMemory {
  readonly #options: PlaceMemoryOptions;
  readonly #stableMs: number;
  readonly #places = new Map<string, Memory>();

  constructor(options: PlaceMemoryOptions) {
    this.#options = options;
    this.#stableMs = options.stableMs ?? RESTART_STABLE_MS;
  }

  /**
   * Takes a new look in: what is gone is forgotten, what is in order is well again after a while, and a start that the
   * loop did not make is counted.
   *
   * @param places All places
   * @param nowMs Monotonic
   */
  look(places: readonly PlacePlan[], nowMs: number): void {
    const keys = new Set(places.map(({ key }) => key));
    for (const key of this.#places.keys()) if (!keys.has(key)) this.#places.delete(key);
    for (const place of places) this.#lookAt(place, nowMs);
  }

  #lookAt(place: PlacePlan, nowMs: number): void {
    const memory = this.#of(place);
    if (place.steps.length === 0) memory.failure = null;
    if (place.state.kind !== "present") {
      memory.seen = null;
      return;
    }
    const { id, phase, startedAtS } = place.state.container;
    if (phase === "running") {
      if (memory.seen?.id === id && memory.seen.startedAtS !== startedAtS) this.#restarted(memory, nowMs);
      memory.seen = { id, startedAtS };
    } else if (phase === "exited" && memory.seen?.id === id && place.steps.length > 0) {
      this.#restarted(memory, nowMs);
      memory.seen = null;
    }
    if (place.steps.length === 0 && nowMs - memory.unquietMs >= this.#stableMs) {
      memory.restarts = 0;
      memory.tries = 0;
    }
  }

  #restarted(memory: Memory, nowMs: number): void {
    memory.restarts++;
    memory.unquietMs = nowMs;
  }

  #of(place: PlacePlan): Memory {
    const wish = wishOf(place);
    const known = this.#places.get(place.key);
    if (known?.wish === wish) return known;
    const memory = {
      wish,
      tries: 0,
      notBeforeMs: 0,
      failure: null,
      seen: null,
      restarts: 0,
      unquietMs: Number.NEGATIVE_INFINITY,
    };
    this.#places.set(place.key, memory);
    return memory;
  }

  /** Whether a place waits before its next try. */
  waits(place: PlacePlan, nowMs: number): boolean {
    return this.#of(place).notBeforeMs > nowMs;
  }

  /** All steps of a place were taken. A place that needs them again and again waits too. */
  succeeded(place: PlacePlan, nowMs: number): void {
    const memory = this.#of(place);
    memory.failure = null;
    // The start was the loop's own.
    memory.seen = null;
    memory.unquietMs = nowMs;
    this.#pause(memory, nowMs, memory.tries++ - 1);
  }

  /** A step of a place failed. */
  failed(place: PlacePlan, failure: Problem, nowMs: number): void {
    const memory = this.#of(place);
    memory.failure = failure;
    memory.unquietMs = nowMs;
    this.#pause(memory, nowMs, memory.tries++);
  }

  #pause(memory: Memory, nowMs: number, failures: number): void {
    const { random, retryMaxMs = WORKLOAD_RETRY_MAX_MS, retryMinMs = WORKLOAD_RETRY_MIN_MS } = this.#options;
    memory.notBeforeMs = failures < 0
      ? 0
      : nowMs + backoffMs(failures, { minMs: retryMinMs, maxMs: retryMaxMs, random });
  }

  /** Why a place is not as desired, if a step of it failed. */
  failureOf(place: PlacePlan): Problem | null {
    return this.#of(place).failure;
  }

  /** Starts of the place's container in the last while that the loop did not make. */
  restartsOf(place: PlacePlan): number {
    return this.#of(place).restarts;
  }

  /** Whether steps of a place were ever taken for what is wanted now. */
  tried(place: PlacePlan): boolean {
    return this.#of(place).tries > 0;
  }

  /** When the next place that waits may be tried, on the monotonic clock; infinity when none waits. */
  nextDueMs(nowMs: number): number {
    const due = [...this.#places.values()].map(({ notBeforeMs }) => notBeforeMs).filter((dueMs) => dueMs > nowMs);
    return Math.min(Number.POSITIVE_INFINITY, ...due);
  }
}
