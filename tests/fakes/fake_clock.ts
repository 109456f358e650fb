/**
 * A clock that moves only when a test says so.
 *
 * @module
 */
import { setImmediate } from "node:timers";
import type { Clock } from "../../lib/deadline.ts";

interface Sleeper {
  readonly dueMs: number;
  wake(): void;
}

/** Lets everything run that is ready to run: promise reactions, and callbacks of finished operations. */
export function settle(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(() => resolve());
  });
}

/** A clock that moves only when a test says so. */
export class FakeClock implements Clock {
  #monotonicMs = 0;
  #wallOffsetMs: number;
  readonly #sleepers = new Set<Sleeper>();

  /** @param nowMs Wall clock at the start. Default 2026-06-01T00:00:00Z */
  constructor(nowMs: number = Date.UTC(2026, 5, 1)) {
    this.#wallOffsetMs = nowMs;
  }

  /** How many sleeps are under way. */
  get sleeping(): number {
    return this.#sleepers.size;
  }

  nowMs(): number {
    return this.#wallOffsetMs + this.#monotonicMs;
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason);
      const onAbort = () => {
        this.#sleepers.delete(sleeper);
        reject(signal?.reason);
      };
      const sleeper: Sleeper = {
        dueMs: this.#monotonicMs + Math.max(0, ms),
        wake: () => {
          this.#sleepers.delete(sleeper);
          signal?.removeEventListener("abort", onAbort);
          resolve();
        },
      };
      this.#sleepers.add(sleeper);
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** Sets the wall clock alone, as a time server does. */
  setNowMs(nowMs: number): void {
    this.#wallOffsetMs = nowMs - this.#monotonicMs;
  }

  /** Moves time forward, waking each sleep at its own moment and letting its consequences run before the next. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#monotonicMs + ms;
    await settle();
    for (let next = this.#next(); next !== undefined && next.dueMs <= endMs; next = this.#next()) {
      this.#monotonicMs = Math.max(this.#monotonicMs, next.dueMs);
      next.wake();
      await settle();
    }
    this.#monotonicMs = endMs;
  }

  /**
   * Moves time forward, from one sleep to the next, until a promise settles.
   *
   * @throws when time has moved by `limitMs` and it has not, or when nothing sleeps and it has not for 10 real seconds
   */
  async advanceUntil<T>(promise: Promise<T>, limitMs: number): Promise<T> {
    let settled = false;
    const mark = () => settled = true;
    promise.then(mark, mark);
    const endMs = this.#monotonicMs + limitMs;
    let activeMs = performance.now();
    await settle();
    while (!settled) {
      const next = this.#next();
      if (next !== undefined) activeMs = performance.now();
      if (performance.now() - activeMs > 10_000) throw new Error("nothing sleeps, and the promise does not settle");
      if (next !== undefined && next.dueMs > endMs) throw new Error(`not settled within ${limitMs} ms of fake time`);
      if (next !== undefined) {
        this.#monotonicMs = Math.max(this.#monotonicMs, next.dueMs);
        next.wake();
      }
      await settle();
    }
    return await promise;
  }

  #next(): Sleeper | undefined {
    let first: Sleeper | undefined;
    for (const sleeper of this.#sleepers) if (first === undefined || sleeper.dueMs < first.dueMs) first = sleeper;
    return first;
  }
}
