/**
 * Whether the agent's loops still turn. The watchdog is fed by this and not by a timer alone, so that a loop that hangs
 * ends the process (DESIGN 5, Units).
 *
 * @module
 */
import type { Clock } from "../lib/deadline.ts";

/** Whether the agent's loops still turn. */
export class LoopProgress {
  readonly #clock: Clock;
  readonly #stallMs: number;
  readonly #turns = new Map<string, number>();

  /**
   * @param clock Time
   * @param stallMs Silence after which a loop counts as stalled
   */
  constructor(clock: Clock, stallMs: number) {
    this.#clock = clock;
    this.#stallMs = stallMs;
  }

  /** A loop has begun or turned. */
  turned(loop: string): void {
    this.#turns.set(loop, this.#clock.monotonicMs());
  }

  /** Loops that have been silent for too long. */
  stalled(): string[] {
    const nowMs = this.#clock.monotonicMs();
    return [...this.#turns].filter(([, atMs]) => nowMs - atMs > this.#stallMs).map(([loop]) => loop);
  }
}
