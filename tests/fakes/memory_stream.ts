/**
 * What a broker keeps of one bucket.
 *
 * @module
 */
import type { BucketSpec } from "../../contracts/buckets.ts";
import { busError } from "../../lib/bus/bus_error.ts";
import { matchesFilter } from "../../lib/bus/key.ts";
import type { BusEntry, WriteResult } from "../../lib/bus/port.ts";

/** Bytes that a real server keeps beside a key and its value, about. */
const ENTRY_OVERHEAD_BYTES = 64;

/** What follows a stream. */
export interface StreamListener {
  onEntry(entry: BusEntry): void;
  /** The bucket was deleted. */
  onEnd(): void;
}

/** The newest entry of every key, deletions included. */
export class MemoryStream {
  readonly storage: BucketSpec["storage"];
  maxBytes: number;
  readonly #name: string;
  readonly #nowMs: () => number;
  readonly #entries = new Map<string, BusEntry>();
  readonly #listeners = new Set<StreamListener>();
  #lastRevision = 0;
  #bytes = 0;

  constructor(spec: BucketSpec, maxBytes: number, nowMs: () => number) {
    this.#name = spec.name;
    this.storage = spec.storage;
    this.maxBytes = maxBytes;
    this.#nowMs = nowMs;
  }

  get lastRevision(): number {
    return this.#lastRevision;
  }

  /** The newest entry of a key, deletions included. */
  newest(key: string): BusEntry | undefined {
    return this.#entries.get(key);
  }

  /** Newest entries under a filter in the order of their revisions, deletions included. */
  matching(filter: string): BusEntry[] {
    return [...this.#entries.values()].filter((entry) => matchesFilter(filter, entry.key));
  }

  /**
   * Writes.
   *
   * @param expected Revision that the key must have, 0 for none, null for any
   */
  write(key: string, value: Uint8Array, expected: number | null, deleted: boolean): WriteResult {
    const before = this.#entries.get(key);
    if (expected !== null && (before?.revision ?? 0) !== expected) return { ok: false };
    const bytesAfter = this.#bytes - entryBytes(before) + entryBytes({ key, value });
    if (bytesAfter > this.maxBytes && bytesAfter > this.#bytes) {
      throw busError("E_BUS_FULL", `Cannot write ${this.#name}/${key}: maximum bytes exceeded`);
    }
    const revision = ++this.#lastRevision;
    const entry: BusEntry = { key, value: value.slice(), revision, receivedAtMs: this.#nowMs(), deleted };
    // Deleted first, so that the map stays in the order of revisions.
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    this.#bytes = bytesAfter;
    for (const listener of [...this.#listeners]) listener.onEntry(entry);
    return { ok: true, revision };
  }

  listen(listener: StreamListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Tells its listeners that the bucket is gone. */
  end(): void {
    for (const listener of [...this.#listeners]) listener.onEnd();
  }
}

function entryBytes(entry: Pick<BusEntry, "key" | "value"> | undefined): number {
  return entry === undefined ? 0 : entry.key.length + entry.value.length + ENTRY_OVERHEAD_BYTES;
}
