/**
 * Spaces out the writes of each object. It holds no values: who may not write yet comes back later and writes what is
 * true then, which is what makes several changes one write (DESIGN 7).
 *
 * @module
 */
import { type Clock, systemClock } from "../../lib/deadline.ts";

/** Times of the last write of each object. */
export class WriteThrottle {
  readonly #intervalMs: number;
  readonly #clock: Clock;
  /** In order of time, so that what is over stands in front. */
  readonly #writtenAtMs = new Map<string, number>();

  /**
   * @param intervalMs Pause between two writes of one object
   * @param clock Default the system's
   */
  constructor(intervalMs: number, clock: Clock = systemClock) {
    this.#intervalMs = intervalMs;
    this.#clock = clock;
  }

  /** Objects that may not be written now. */
  get size(): number {
    return this.#writtenAtMs.size;
  }

  /** How long an object must wait, in ms; 0 when it may be written now. */
  waitMs(key: string): number {
    const writtenAtMs = this.#writtenAtMs.get(key);
    if (writtenAtMs === undefined) return 0;
    return Math.max(0, writtenAtMs + this.#intervalMs - this.#clock.monotonicMs());
  }

  /** Notes that an object is being written. */
  mark(key: string): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [old, writtenAtMs] of this.#writtenAtMs) {
      if (writtenAtMs + this.#intervalMs > nowMs) break;
      this.#writtenAtMs.delete(old);
    }
    this.#writtenAtMs.delete(key);
    this.#writtenAtMs.set(key, nowMs);
  }
}
