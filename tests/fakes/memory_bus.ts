/**
 * A bus in memory with the behaviour of the real one, and switches for its faults.
 *
 * @module
 */
import { bucketMaxBytes, type BucketName, type BucketSpec } from "../../contracts/buckets.ts";
import { busError } from "../../lib/bus/bus_error.ts";
import type { Bus, BusAdmin, BusStatus, KvBucket } from "../../lib/bus/port.ts";
import { MemoryBucket, type MemoryConnection } from "./memory_bucket.ts";
import { MemoryStream } from "./memory_stream.ts";

/** What a write does that gets no answer: whether it happened is what the caller cannot know. */
export type LostAnswer = "applied" | "not-applied";

/** The broker: buckets, and any number of connections to them. */
export class MemoryBroker {
  readonly #nowMs: () => number;
  readonly #streams = new Map<BucketName, MemoryStream>();
  readonly #watchers = new Set<() => void>();

  /** @param nowMs The broker's clock. Default the machine's */
  constructor(nowMs: () => number = () => Date.now()) {
    this.#nowMs = nowMs;
  }

  get nowMs(): number {
    return this.#nowMs();
  }

  /** A new connection. */
  connect(options: MemoryBusOptions = {}): MemoryBus {
    return new MemoryBus(this, options);
  }

  /** The stream of a bucket, or undefined when there is none. */
  stream(name: BucketName): MemoryStream | undefined {
    return this.#streams.get(name);
  }

  createBucket(spec: BucketSpec, fleetSize: number): void {
    this.#streams.set(spec.name, new MemoryStream(spec, bucketMaxBytes(spec, fleetSize), this.#nowMs));
    this.#notify();
  }

  /** Removes a bucket with all that is in it, as a broker does that lost its disk. */
  deleteBucket(name: BucketName): void {
    this.#streams.get(name)?.end();
    this.#streams.delete(name);
  }

  /** Calls a listener whenever a bucket was made. */
  onBucketMade(listener: () => void): () => void {
    this.#watchers.add(listener);
    return () => this.#watchers.delete(listener);
  }

  #notify(): void {
    for (const listener of this.#watchers) listener();
  }
}

/** Options of a connection. */
export interface MemoryBusOptions {
  /** The clock of the program that connects. Default the broker's. */
  readonly nowMs?: () => number;
}

/** One connection to a {@link MemoryBroker}. */
export class MemoryBus implements Bus, BusAdmin, MemoryConnection {
  readonly broker: MemoryBroker;
  /** When set, the next write gets no answer. */
  loseNextAnswer: LostAnswer | null = null;
  /** When set, the next snapshot ends with `E_BUS_SNAPSHOT_INCOMPLETE` after its first entry. */
  breakNextSnapshot = false;
  /** Called once, after the first entry of the next snapshot: what it writes happens in the middle of the snapshot. */
  duringNextSnapshot: (() => void) | null = null;
  readonly #nowMs: () => number;
  readonly #listeners = new Set<(status: BusStatus) => void>();
  readonly #lifetime = new AbortController();
  #connected = true;
  #silent = false;

  constructor(broker: MemoryBroker, options: MemoryBusOptions) {
    this.broker = broker;
    this.#nowMs = options.nowMs ?? (() => broker.nowMs);
  }

  /** Aborts when the bus is closed. */
  get closing(): AbortSignal {
    return this.#lifetime.signal;
  }

  /** Begins an outage: reads and writes fail at once, and nothing happens. */
  disconnect(): void {
    if (!this.#connected) return;
    this.#connected = false;
    this.emit({ kind: "disconnected" });
    this.emit({ kind: "reconnecting" });
  }

  /** Ends an outage. */
  reconnect(): void {
    if (this.#connected) return;
    this.#connected = true;
    this.emit({ kind: "connected", server: "memory" });
  }

  /** A broker that is connected and does not answer: reads time out, writes have an unknown outcome and do not happen. */
  set silent(value: boolean) {
    this.#silent = value;
  }

  bucket(name: BucketName): Promise<KvBucket> {
    return this.answer(`bind bucket ${name}`, "read", () => {
      this.stream(name, `bind bucket ${name}`);
      return new MemoryBucket(this, name);
    });
  }

  async answer<T>(what: string, kind: "read" | "write", work: () => T): Promise<T> {
    // Every answer of a real server comes later.
    await Promise.resolve();
    if (this.closing.aborted) throw busError("E_BUS_CLOSED", `Cannot ${what}: the connection is closed`);
    if (!this.#connected) throw busError("E_BUS_UNREACHABLE", `Cannot ${what}: not connected to NATS`);
    const lost = kind === "write" ? this.loseNextAnswer : null;
    if (lost !== null || this.#silent) {
      if (kind === "read") throw busError("E_BUS_TIMEOUT", `Cannot ${what}: no answer`);
      this.loseNextAnswer = null;
      if (lost === "applied") work();
      throw busError("E_BUS_UNKNOWN_OUTCOME", `Cannot ${what}: no answer, it may have happened`);
    }
    return work();
  }

  stream(name: BucketName, what: string): MemoryStream {
    const stream = this.broker.stream(name);
    if (stream === undefined) throw busError("E_BUS_NO_BUCKET", `Cannot ${what}: there is no such bucket`);
    return stream;
  }

  streamIfThere(name: BucketName): MemoryStream | undefined {
    return this.connected ? this.broker.stream(name) : undefined;
  }

  onBucketMade(listener: () => void): () => void {
    return this.broker.onBucketMade(listener);
  }

  onStatus(listener: (status: BusStatus) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  emit(status: BusStatus): void {
    for (const listener of [...this.#listeners]) listener(status);
  }

  get connected(): boolean {
    return this.#connected && !this.closing.aborted;
  }

  async flush(_timeoutMs: number): Promise<void> {
    await this.answer("flush to NATS", "read", () => {});
  }

  async clockSkewMs(): Promise<number | null> {
    await Promise.resolve();
    return this.connected && !this.#silent ? this.#nowMs() - this.broker.nowMs : null;
  }

  close(): Promise<void> {
    this.#lifetime.abort();
    return Promise.resolve();
  }

  async ensureBuckets(specs: readonly BucketSpec[], fleetSize: number, _replicas: number): Promise<void> {
    await this.answer("ensure buckets", "read", () => {
      for (const spec of specs) {
        const have = this.broker.stream(spec.name)?.storage ?? spec.storage;
        if (have === spec.storage) continue;
        const message =
          `Cannot use bucket ${spec.name}: its storage is ${have}, want ${spec.storage}, and it cannot change`;
        throw busError("E_BUS_BUCKET_CONFLICT", message);
      }
      for (const spec of specs) {
        const stream = this.broker.stream(spec.name);
        if (stream === undefined) this.broker.createBucket(spec, fleetSize);
        else stream.maxBytes = bucketMaxBytes(spec, fleetSize);
      }
    });
  }
}
