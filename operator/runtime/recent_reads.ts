/**
 * Reads a thing once for all who ask for it within a short time: a change that concerns a hundred thousand devices must
 * not read the same document a hundred thousand times.
 *
 * @module
 */
import { type Clock, systemClock } from "../../lib/deadline.ts";

interface Read<T> {
  readonly atMs: number;
  readonly value: Promise<T>;
}

/** Values by key, each for a time. */
export class RecentReads<T> {
  readonly #read: (key: string) => Promise<T>;
  readonly #keepMs: number;
  readonly #clock: Clock;
  /** In order of time, so that what is over stands in front. */
  readonly #recent = new Map<string, Read<T>>();

  /**
   * @param read Reads the value of a key
   * @param keepMs How long one reading serves
   * @param clock Default the system's
   */
  constructor(read: (key: string) => Promise<T>, keepMs: number, clock: Clock = systemClock) {
    this.#read = read;
    this.#keepMs = keepMs;
    this.#clock = clock;
  }

  /** Values that are kept. */
  get size(): number {
    return this.#recent.size;
  }

  /** The value of a key, not older than the time that a reading serves. @throws what reading throws */
  get(key: string): Promise<T> {
    const nowMs = this.#clock.monotonicMs();
    for (const [old, { atMs }] of this.#recent) {
      if (atMs + this.#keepMs > nowMs) break;
      this.#recent.delete(old);
    }
    const known = this.#recent.get(key);
    if (known !== undefined) return known.value;
    const read: Read<T> = { atMs: nowMs, value: this.#read(key) };
    this.#recent.set(key, read);
    read.value.catch(() => {
      if (this.#recent.get(key) === read) this.#recent.delete(key);
    });
    return read.value;
  }

  /** Reads a key anew when it is asked for next. */
  forget(key: string): void {
    this.#recent.delete(key);
  }
}
