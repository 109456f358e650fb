/**
 * A bus of a program that is killed at its n-th write: that write happens or not, and the program does nothing after it.
 * What it still waits for never comes, until the connection is closed.
 *
 * @module
 */
import type { BucketName, BucketSpec } from "../../contracts/buckets.ts";
import { busError } from "../../lib/bus/bus_error.ts";
import type { Bus, BusAdmin, BusStatus, KvBucket } from "../../lib/bus/port.ts";

/** A bus that dies. */
export class DyingBus implements Bus, BusAdmin {
  /** Counted writes so far. */
  writes = 0;
  /** Resolves when the program is dead. */
  readonly dead: Promise<void>;
  readonly #bus: Bus & BusAdmin;
  readonly #nth: number;
  readonly #isApplied: boolean;
  readonly #counts: (bucket: BucketName, key: string) => boolean;
  readonly #closed = Promise.withResolvers<never>();
  readonly #die: () => void;
  #isDead = false;

  /**
   * @param bus The bus beneath
   * @param nth Which write, from 1
   * @param isApplied Whether it happens
   * @param counts Writes that count. Default all
   */
  constructor(
    bus: Bus & BusAdmin,
    nth: number,
    isApplied: boolean,
    counts: (bucket: BucketName, key: string) => boolean = () => true,
  ) {
    this.#bus = bus;
    this.#nth = nth;
    this.#isApplied = isApplied;
    this.#counts = counts;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.dead = promise;
    this.#die = resolve;
    // Nobody may be waiting when it is closed.
    this.#closed.promise.catch(() => {});
  }

  /** Whether the program is dead. */
  get isDead(): boolean {
    return this.#isDead;
  }

  async bucket(name: BucketName): Promise<KvBucket> {
    const bucket = await this.#alive(() => this.#bus.bucket(name));
    const write = <T>(key: string, work: () => Promise<T>) => this.#write(name, key, work);
    return {
      name,
      get: (key) => this.#alive(() => bucket.get(key)),
      put: (key, value) => write(key, () => bucket.put(key, value)),
      create: (key, value) => write(key, () => bucket.create(key, value)),
      update: (key, value, revision) => write(key, () => bucket.update(key, value, revision)),
      delete: (key, revision) => write(key, () => bucket.delete(key, revision)),
      snapshot: (filter, onEntry) => this.#alive(() => bucket.snapshot(filter, onEntry)),
      watch: (...how) => bucket.watch(...how),
    };
  }

  async #write<T>(bucket: BucketName, key: string, work: () => Promise<T>): Promise<T> {
    return await this.#alive(async () => {
      if (!this.#counts(bucket, key) || ++this.writes < this.#nth) return await work();
      this.#isDead = true;
      if (this.#isApplied) await work();
      this.#die();
      return await this.#closed.promise;
    });
  }

  async #alive<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isDead) return await this.#closed.promise;
    return await work();
  }

  async ensureBuckets(specs: readonly BucketSpec[], fleetSize: number, replicas: number): Promise<void> {
    await this.#alive(() => this.#bus.ensureBuckets(specs, fleetSize, replicas));
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

  /** Closes the connection; what still waits is told so. */
  async close(): Promise<void> {
    this.#isDead = true;
    this.#closed.reject(busError("E_BUS_CLOSED", "Cannot go on: the program was killed"));
    await this.#bus.close();
  }
}
