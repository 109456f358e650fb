/**
 * A pause that can be cut short: by whoever has something to do for a loop, and by its end.
 *
 * @module
 */
import type { Clock } from "../lib/deadline.ts";

/** Wakes one loop. What is poked while the loop works is not lost: its next pause ends at once. */
export class WakeUp {
  readonly #clock: Clock;
  #poked = Promise.withResolvers<void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Ends the pause of the loop, or its next one. */
  poke(): void {
    this.#poked.resolve();
  }

  /**
   * Waits until a time is over, somebody pokes, or the signal aborts; never rejects.
   *
   * @param ms How long, in ms
   * @param signal Ends it
   */
  async pause(ms: number, signal: AbortSignal): Promise<void> {
    const waiting = new AbortController();
    const stop = () => waiting.abort();
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    await Promise.race([this.#clock.sleep(ms, waiting.signal).catch(() => {}), this.#poked.promise]);
    this.#poked = Promise.withResolvers();
    stop();
    signal.removeEventListener("abort", stop);
  }
}
