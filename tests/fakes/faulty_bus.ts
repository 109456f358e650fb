/**
 * A bus whose n-th write gets no answer, and whose other calls go through.
 *
 * @module
 */
import type { BucketName } from "../../contracts/buckets.ts";
import { busError } from "../../lib/bus/bus_error.ts";
import type { Bus, BusStatus, KvBucket } from "../../lib/bus/port.ts";

/** What becomes of the write whose answer is lost. */
export type Fault = "applied" | "not-applied";

/** A bus with one fault. */
export class FaultyBus implements Bus {
  /** Writes so far. */
  writes = 0;
  readonly #bus: Bus;
  readonly #nth: number;
  readonly #fault: Fault;

  /**
   * @param bus The bus beneath
   * @param nth Which write, from 1
   * @param fault Whether it happens
   */
  constructor(bus: Bus, nth: number, fault: Fault) {
    this.#bus = bus;
    this.#nth = nth;
    this.#fault = fault;
  }

  async bucket(name: BucketName): Promise<KvBucket> {
    const bucket = await this.#bus.bucket(name);
    return {
      name,
      get: (key) => bucket.get(key),
      put: (key, value) => this.#write(() => bucket.put(key, value)),
      create: (key, value) => this.#write(() => bucket.create(key, value)),
      update: (key, value, revision) => this.#write(() => bucket.update(key, value, revision)),
      delete: (key, revision) => this.#write(() => bucket.delete(key, revision)),
      snapshot: (filter, onEntry) => bucket.snapshot(filter, onEntry),
      watch: (...how) => bucket.watch(...how),
    };
  }

  async #write<T>(work: () => Promise<T>): Promise<T> {
    if (++this.writes !== this.#nth) return await work();
    if (this.#fault === "applied") await work();
    throw busError("E_BUS_UNKNOWN_OUTCOME", "Cannot write: no answer, it may have happened");
  }

  onStatus(listener: (status: BusStatus) => void): () => void {
    return this.#bus.onStatus(listener);
  }

  get connected(): boolean {
    return this.#bus.connected;
  }

  flush(timeoutMs: number): Promise<void> {
    return this.#bus.flush(timeoutMs);
  }

  clockSkewMs(): Promise<number | null> {
    return this.#bus.clockSkewMs();
  }

  close(): Promise<void> {
    return this.#bus.close();
  }
}
