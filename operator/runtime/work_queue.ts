/**
 * Runs a handler for keys that something has happened to.
 *
 * Expected flow: events `add` keys; `run` handles them until its signal aborts. A key stands for "look at it again", so
 * a key that is added twice is handled once, and one that is added while it is being handled is handled once more
 * afterwards. A handler that throws is tried again after a pause with jitter.
 *
 * Guarantees: a key is never handled twice at the same time; at most `concurrency` handlers run; no `add` is lost.
 *
 * Assumptions: handlers are level-triggered, and the number of different keys is bounded by who adds them.
 *
 * @module
 */
import { backoffMs, type Clock, systemClock } from "../../lib/deadline.ts";
import { DelayQueue } from "./delay_queue.ts";
import { EventLoopSlice } from "./event_loop_slice.ts";

/** Options of a {@link WorkQueue}. */
export interface WorkQueueOptions {
  /**
   * Looks at a key. Returns when to look again without an event, in ms from now, or null for never.
   */
  readonly handle: (key: string) => Promise<number | null>;
  /** Told of each failure with the number of failures in a row; must not throw. */
  readonly onError: (key: string, error: unknown, failures: number) => void;
  /** Handlers at a time. */
  readonly concurrency: number;
  /** Ceilings of the pause after a failure, in ms. */
  readonly retry: { readonly minMs: number; readonly maxMs: number };
  /** How long handlers may keep the event loop before messages are let in, in ms. */
  readonly sliceMs: number;
  /** Default the system's. */
  readonly clock?: Clock;
  /** Randomness of pauses in [0, 1). Default `Math.random`. */
  readonly random?: () => number;
}

/** Keys that wait for a handler. */
export class WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #clock: Clock;
  /** In order of arrival. */
  readonly #waiting = new Set<string>();
  readonly #running = new Map<string, Promise<void>>();
  /** Keys that were added while they were being handled. */
  readonly #again = new Set<string>();
  readonly #delayed = new DelayQueue<string>();
  readonly #failures = new Map<string, number>();
  #paused = false;
  #wake: AbortController | undefined;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** Keys that wait or are being handled; delayed ones do not count. */
  get size(): number {
    return this.#waiting.size + this.#running.size + this.#again.size;
  }

  /** Keys that failed and have not succeeded since. */
  get failing(): number {
    return this.#failures.size;
  }

  /** Looks at a key as soon as possible. */
  add(key: string): void {
    if (this.#running.has(key)) this.#again.add(key);
    else if (!this.#waiting.has(key)) {
      this.#waiting.add(key);
      this.#wake?.abort();
    }
  }

  /** Looks at a key after a pause, or when it would be looked at anyway if that is earlier. */
  addAfter(key: string, delayMs: number): void {
    this.#delayed.add(key, this.#clock.monotonicMs() + Math.max(0, delayMs));
    this.#wake?.abort();
  }

  /** Starts no more handlers until {@link resume}; keys are still taken in. */
  pause(): void {
    this.#paused = true;
  }

  /** Ends a {@link pause}. */
  resume(): void {
    this.#paused = false;
    this.#wake?.abort();
  }

  /**
   * Handles keys until the signal aborts, and then waits for the handlers that run.
   *
   * @param signal Ends it
   */
  async run(signal: AbortSignal): Promise<void> {
    // One listener for all waits: a signal derived for each of them would pile up on one that lives for weeks.
    const onAbort = () => this.#wake?.abort();
    signal.addEventListener("abort", onAbort, { once: true });
    const slice = new EventLoopSlice(this.#options.sliceMs);
    while (!signal.aborted) {
      this.#takeDue();
      while (this.#canStart() && !slice.isOver) this.#startNext();
      if (slice.isOver) await slice.renew();
      else await this.#untilWork();
    }
    signal.removeEventListener("abort", onAbort);
    await Promise.all(this.#running.values());
  }

  #canStart(): boolean {
    return !this.#paused && this.#waiting.size > 0 && this.#running.size < this.#options.concurrency;
  }

  #takeDue(): void {
    const nowMs = this.#clock.monotonicMs();
    for (let key = this.#delayed.take(nowMs); key !== undefined; key = this.#delayed.take(nowMs)) this.add(key);
  }

  #startNext(): void {
    const [key] = this.#waiting;
    if (key === undefined) return;
    this.#waiting.delete(key);
    // The handler says anew when the key must be looked at.
    this.#delayed.delete(key);
    // Registered before the handler's own code runs, so that what it adds counts as added meanwhile.
    const started = Promise.withResolvers<void>();
    this.#running.set(key, started.promise.then(() => this.#handle(key)));
    started.resolve();
  }

  async #handle(key: string): Promise<void> {
    try {
      const againAfterMs = await this.#options.handle(key);
      this.#failures.delete(key);
      if (againAfterMs !== null) this.addAfter(key, againAfterMs);
    } catch (error) {
      const failures = (this.#failures.get(key) ?? 0) + 1;
      this.#failures.set(key, failures);
      this.#options.onError(key, error, failures);
      const { retry, random } = this.#options;
      this.addAfter(key, backoffMs(failures - 1, { ...retry, ...(random === undefined ? {} : { random }) }));
    } finally {
      this.#running.delete(key);
      if (this.#again.delete(key)) this.#waiting.add(key);
      this.#wake?.abort();
    }
  }

  /** Waits until something may have changed. */
  async #untilWork(): Promise<void> {
    const wake = new AbortController();
    this.#wake = wake;
    const dueMs = this.#delayed.nextDueMs;
    try {
      if (dueMs === undefined) await aborted(wake.signal);
      else await this.#clock.sleep(dueMs - this.#clock.monotonicMs(), wake.signal);
    } catch {
      // Woken.
    } finally {
      this.#wake = undefined;
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
