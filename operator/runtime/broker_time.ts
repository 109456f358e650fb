/**
 * The broker's time, and since when the operator has watched the broker without a gap.
 *
 * @module
 */
import { type Clock, systemClock } from "../../lib/deadline.ts";
import type { Bus } from "../../lib/bus/port.ts";

/** What judgements about silence go by. */
export interface WatchedTime {
  /** The broker's clock, in ms since the epoch. */
  nowMs(): number;
  /** Since when the broker has been watched without a gap, by its own clock; null while it is not. */
  readonly watchedSinceMs: number | null;
}

/** The broker's time as the last measurement gave it, run on by the monotonic clock. */
export class BrokerTime implements WatchedTime {
  readonly #bus: Pick<Bus, "clockSkewMs">;
  readonly #clock: Clock;
  /** Broker time minus monotonic time; null before the first measurement. */
  #offsetMs: number | null = null;
  #watchedSinceMs: number | null = null;

  /**
   * @param bus The connection
   * @param clock The operator's clock, which the bus measures against. Default the system's
   */
  constructor(bus: Pick<Bus, "clockSkewMs">, clock: Clock = systemClock) {
    this.#bus = bus;
    this.#clock = clock;
  }

  get watchedSinceMs(): number | null {
    return this.#watchedSinceMs;
  }

  nowMs(): number {
    // Before the first measurement nothing is judged; a time is wanted all the same.
    return this.#offsetMs === null ? this.#clock.nowMs() : Math.round(this.#offsetMs + this.#clock.monotonicMs());
  }

  /**
   * Measures.
   *
   * @returns whether the broker answered
   */
  async measure(): Promise<boolean> {
    const skewMs = await this.#bus.clockSkewMs();
    if (skewMs === null) return false;
    this.#offsetMs = this.#clock.nowMs() - skewMs - this.#clock.monotonicMs();
    return true;
  }

  /** The watch is without a gap from now on. */
  begin(): void {
    this.#watchedSinceMs = this.nowMs();
  }

  /** The watch has a gap. */
  interrupt(): void {
    this.#watchedSinceMs = null;
  }
}
