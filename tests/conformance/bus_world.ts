/**
 * What the conformance suite of the bus runs in.
 *
 * @module
 */
import { type BucketName, BUCKETS, type BucketSpec } from "../../contracts/buckets.ts";
import { BUCKET_HEADERS_MAX_BYTES } from "../../contracts/limits.ts";
import type { Bus, BusAdmin, BusEntry, KvBucket, WatchEvent } from "../../lib/bus/port.ts";

/** A broker with one connection, and the faults that both adapters can be put to. */
export interface BusWorld {
  readonly bus: Bus & BusAdmin;
  /** Deletes a bucket behind the bus's back. */
  deleteBucket(name: BucketName): Promise<void>;
  /** Takes the broker away; returns when the bus has noticed. */
  beginOutage(): Promise<void>;
  /** Brings it back with its data; returns when the bus has noticed. */
  endOutage(): Promise<void>;
  close(): Promise<void>;
}

/** Registers one test with a world of its own. */
export type RegisterTest = (name: string, body: (world: BusWorld) => Promise<void>) => void;

/** A small file bucket, so that a test can fill it. */
export const SMALL_BUCKET: BucketSpec = {
  name: BUCKETS.deviceInfo,
  storage: "file",
  maxValueBytes: 2_048 + BUCKET_HEADERS_MAX_BYTES,
  bytesPerDevice: 0,
  baseBytes: 8_192,
};

/** Bytes of a text. */
export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Text of an entry's value; null for no entry. */
export function text(entry: BusEntry | null | undefined): string | null {
  return entry === null || entry === undefined ? null : new TextDecoder().decode(entry.value);
}

const EVENT_TIMEOUT_MS = 30_000;

/** An event that never comes is a failure, not a test that never ends. */
async function inTime<T>(event: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Error("Cannot take an event of the watch: none came")),
    EVENT_TIMEOUT_MS,
  );
  try {
    return await Promise.race([event, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Takes events of a watch one by one. */
export class WatchTaker {
  readonly #abort = new AbortController();
  readonly #events: AsyncIterator<WatchEvent>;

  constructor(bucket: KvBucket, filter: string) {
    this.#events = bucket.watch(filter, this.#abort.signal)[Symbol.asyncIterator]();
  }

  /** The next event as short text: `current`, `restarted`, `key=value@revision`, `key deleted@revision`. */
  async next(): Promise<string> {
    const { done, value } = await inTime(this.#events.next());
    if (done === true) return "end";
    if (value.kind !== "entry") return value.kind;
    const { key, revision, deleted } = value.entry;
    return deleted ? `${key} deleted@${revision}` : `${key}=${text(value.entry)}@${revision}`;
  }

  async take(count: number): Promise<string[]> {
    const events: string[] = [];
    while (events.length < count) events.push(await this.next());
    return events;
  }

  /** Events up to and with one that is looked for. */
  async takeUntil(last: string): Promise<string[]> {
    const events: string[] = [];
    while (events.at(-1) !== last) events.push(await this.next());
    return events;
  }

  async end(): Promise<void> {
    this.#abort.abort();
    while (await this.next() !== "end");
  }
}
