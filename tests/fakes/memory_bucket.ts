/**
 * One bucket of a connection to the broker in memory.
 *
 * @module
 */
import { type BucketName, documentMaxBytes } from "../../contracts/buckets.ts";
import { AbortableQueue } from "../../lib/bus/abortable_queue.ts";
import { busError } from "../../lib/bus/bus_error.ts";
import { checkFilter, checkKey, matchesFilter } from "../../lib/bus/key.ts";
import type { BusEntry, BusStatus, KvBucket, WatchEvent, WriteResult } from "../../lib/bus/port.ts";
import type { MemoryStream } from "./memory_stream.ts";

const EMPTY = new Uint8Array(0);

type Item = { readonly kind: "entry"; readonly entry: BusEntry } | { readonly kind: "loss" };

/** What a bucket needs of its connection. */
export interface MemoryConnection {
  readonly connected: boolean;
  readonly closing: AbortSignal;
  breakNextSnapshot: boolean;
  duringNextSnapshot: (() => void) | null;
  /** Makes one request: fails as the connection does, or answers. */
  answer<T>(what: string, kind: "read" | "write", work: () => T): Promise<T>;
  /** The stream of a bucket. @throws `E_BUS_NO_BUCKET` */
  stream(name: BucketName, what: string): MemoryStream;
  /** As {@link stream}, and undefined when there is no connection or no bucket. */
  streamIfThere(name: BucketName): MemoryStream | undefined;
  onStatus(listener: (status: BusStatus) => void): () => void;
  /** Calls a listener whenever a bucket was made. */
  onBucketMade(listener: () => void): () => void;
}

/** A bucket bound by a connection. */
export class MemoryBucket implements KvBucket {
  readonly name: BucketName;
  readonly #bus: MemoryConnection;

  constructor(bus: MemoryConnection, name: BucketName) {
    this.#bus = bus;
    this.name = name;
  }

  async get(key: string): Promise<BusEntry | null> {
    checkKey(key);
    const what = `read ${this.name}/${key}`;
    return await this.#bus.answer(what, "read", () => {
      const entry = this.#bus.stream(this.name, what).newest(key);
      return entry === undefined || entry.deleted ? null : copied(entry);
    });
  }

  async put(key: string, value: Uint8Array): Promise<number> {
    const result = await this.#write(key, value, () => null, false);
    if (!result.ok) throw new Error("a write without a condition cannot conflict");
    return result.revision;
  }

  async create(key: string, value: Uint8Array): Promise<WriteResult> {
    const expected = (stream: MemoryStream) => {
      const newest = stream.newest(key);
      return newest?.deleted === true ? newest.revision : 0;
    };
    return await this.#write(key, value, expected, false);
  }

  async update(key: string, value: Uint8Array, revision: number): Promise<WriteResult> {
    return await this.#write(key, value, () => revision, false);
  }

  async delete(key: string, revision?: number): Promise<WriteResult> {
    return await this.#write(key, EMPTY, () => revision ?? null, true);
  }

  async #write(
    key: string,
    value: Uint8Array,
    expected: (stream: MemoryStream) => number | null,
    deleted: boolean,
  ): Promise<WriteResult> {
    checkKey(key);
    const what = `write ${this.name}/${key}`;
    const maxBytes = documentMaxBytes(this.name);
    if (value.length > maxBytes) {
      throw busError("E_BUS_TOO_LARGE", `Cannot ${what}: ${value.length} bytes, want at most ${maxBytes}`);
    }
    return await this.#bus.answer(what, "write", () => {
      const stream = this.#bus.stream(this.name, what);
      return stream.write(key, value, expected(stream), deleted);
    });
  }

  async snapshot(
    filter: string,
    onEntry: (entry: BusEntry) => void,
  ): Promise<{ entries: number; lastRevision: number }> {
    checkFilter(filter);
    const what = `snapshot ${this.name}/${filter}`;
    const live = new Set<string>();
    let entries = 0;
    let lastRevision = 0;
    const take = (entry: BusEntry): void => {
      lastRevision = entry.revision;
      if (!entry.deleted) {
        entries++;
        live.add(entry.key);
      } else if (!live.delete(entry.key)) return;
      onEntry(copied(entry));
      this.#afterSnapshotEntry(what);
    };
    const stream = await this.#bus.answer(what, "read", () => this.#bus.stream(this.name, what));
    const startRevision = stream.lastRevision;
    for (const { key } of stream.matching(filter)) {
      const newest = stream.newest(key);
      if (newest !== undefined && newest.revision <= startRevision) take(newest);
      await Promise.resolve();
    }
    // What was written meanwhile comes after what was there.
    for (const entry of stream.matching(filter)) {
      if (entry.revision > startRevision) take(entry);
    }
    return { entries, lastRevision };
  }

  #afterSnapshotEntry(what: string): void {
    const during = this.#bus.duringNextSnapshot;
    this.#bus.duringNextSnapshot = null;
    during?.();
    if (!this.#bus.breakNextSnapshot && this.#bus.connected) return;
    this.#bus.breakNextSnapshot = false;
    throw busError("E_BUS_SNAPSHOT_INCOMPLETE", `Cannot ${what}: the connection was lost`);
  }

  watch(filter: string, signal: AbortSignal, onLoss?: () => void): AsyncIterable<WatchEvent> {
    checkFilter(filter);
    return this.#follow(filter, AbortSignal.any([signal, this.#bus.closing]), onLoss);
  }

  async *#follow(
    filter: string,
    ended: AbortSignal,
    onLoss?: () => void,
  ): AsyncGenerator<WatchEvent, void, undefined> {
    const queue = new AbortableQueue<Item>(ended);
    for (let isFirst = true;; isFirst = false) {
      const stream = await this.#untilThere(ended);
      if (stream === null) return;
      const existing = stream.matching(filter);
      const endings = [
        stream.listen({
          onEntry: (entry) => {
            if (matchesFilter(filter, entry.key)) queue.push({ kind: "entry", entry });
          },
          onEnd: () => queue.push({ kind: "loss" }),
        }),
        this.#bus.onStatus((status) => {
          if (status.kind === "disconnected") queue.push({ kind: "loss" });
        }),
      ];
      try {
        if (!isFirst) yield { kind: "restarted" };
        for (const entry of existing) {
          if (ended.aborted) return;
          yield { kind: "entry", entry: copied(entry) };
        }
        if (ended.aborted) return;
        yield { kind: "current" };
        for (let item = await queue.take(); item?.kind !== "loss"; item = await queue.take()) {
          if (item === null) return;
          yield { kind: "entry", entry: copied(item.entry) };
        }
        onLoss?.();
      } finally {
        for (const end of endings) end();
        queue.clear();
      }
    }
  }

  /** The stream, as soon as there is a connection and a bucket; null when the watch has ended. */
  async #untilThere(ended: AbortSignal): Promise<MemoryStream | null> {
    const changes = new AbortableQueue<true>(ended);
    const endings = [
      this.#bus.onStatus(() => changes.push(true)),
      this.#bus.onBucketMade(() => changes.push(true)),
    ];
    try {
      do {
        const stream = this.#bus.streamIfThere(this.name);
        if (stream !== undefined) return stream;
      } while (await changes.take() !== null);
      return null;
    } finally {
      for (const end of endings) end();
    }
  }
}

function copied(entry: BusEntry): BusEntry {
  return { ...entry, value: entry.value.slice() };
}
