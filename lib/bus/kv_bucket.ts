/**
 * One bucket by the plain JetStream API.
 *
 * The client library's own bucket asks for stream info to bind and for consumer info to read keys, which a device may
 * not, and writes purges; these requests are the ones that `devicePermissions` grants.
 *
 * @module
 */
import { headers, type Msg, type MsgHdrs } from "@nats-io/nats-core/internal";
import { type BucketName, documentMaxBytes } from "../../contracts/buckets.ts";
import { keySubject } from "../../contracts/subjects.ts";
import { API_ERROR, apiError, busError } from "./bus_error.ts";
import { answerError, type BusCore, jsonAnswer } from "./bus_core.ts";
import { directGetSubject } from "./api_prefix.ts";
import { checkFilter, checkKey } from "./key.ts";
import type { BusEntry, KvBucket, WatchEvent, WriteResult } from "./port.ts";
import { readSnapshot, type SnapshotResult } from "./snapshot.ts";
import { watchKeys } from "./watch.ts";

const OPERATION_HEADER = "KV-Operation";
const EXPECTED_HEADER = "Nats-Expected-Last-Subject-Sequence";
const EMPTY = new Uint8Array(0);

/** A bucket of a connection. */
export class NatsBucket implements KvBucket {
  readonly name: BucketName;
  readonly #core: BusCore;
  readonly #valueMaxBytes: number;

  constructor(core: BusCore, name: BucketName) {
    this.#core = core;
    this.name = name;
    this.#valueMaxBytes = documentMaxBytes(name);
  }

  async get(key: string): Promise<BusEntry | null> {
    const entry = await this.#newest(key);
    return entry === null || entry.deleted ? null : entry;
  }

  async put(key: string, value: Uint8Array): Promise<number> {
    const result = await this.#write(key, value, null, false);
    if (result.ok) return result.revision;
    throw busError("E_BUS_REJECTED", `Cannot write ${this.name}/${key}: conflict without a condition`);
  }

  async create(key: string, value: Uint8Array): Promise<WriteResult> {
    const result = await this.#write(key, value, 0, false);
    if (result.ok) return result;
    const newest = await this.#newest(key);
    if (newest === null || !newest.deleted) return { ok: false };
    return await this.#write(key, value, newest.revision, false);
  }

  async update(key: string, value: Uint8Array, revision: number): Promise<WriteResult> {
    return await this.#write(key, value, revision, false);
  }

  async delete(key: string, revision?: number): Promise<WriteResult> {
    return await this.#write(key, EMPTY, revision ?? null, true);
  }

  async snapshot(filter: string, onEntry: (entry: BusEntry) => void): Promise<SnapshotResult> {
    checkFilter(filter);
    return await readSnapshot(this.#core, this.name, filter, onEntry);
  }

  watch(filter: string, signal: AbortSignal, onLoss?: () => void): AsyncIterable<WatchEvent> {
    checkFilter(filter);
    return watchKeys(this.#core, this.name, filter, signal, onLoss);
  }

  /** The newest value or deletion of a key. */
  async #newest(key: string): Promise<BusEntry | null> {
    checkKey(key);
    const what = `read ${this.name}/${key}`;
    const subject = directGetSubject(await this.#core.apiPrefix(), this.name, key);
    const message = await this.#core.request({ subject, what, isWrite: false });
    const code = message.headers?.code ?? 0;
    if (code === 404) return null;
    if (code !== 0) throw busError("E_BUS_REJECTED", `Cannot ${what}: ${message.headers?.status}`);
    return storedEntry(key, message, what);
  }

  async #write(key: string, value: Uint8Array, expected: number | null, isDeletion: boolean): Promise<WriteResult> {
    checkKey(key);
    const what = `write ${this.name}/${key}`;
    if (value.length > this.#valueMaxBytes) {
      const message = `Cannot ${what}: ${value.length} bytes, want at most ${this.#valueMaxBytes}`;
      throw busError("E_BUS_TOO_LARGE", message);
    }
    const message = await this.#core.request({
      subject: keySubject(this.name, key),
      what,
      data: value,
      ...writeHeaders(expected, isDeletion),
      isWrite: true,
    });
    const answer = jsonAnswer(message, what);
    const error = answerError(answer);
    if (error !== null && error.err_code === API_ERROR.wrongLastSequence) return { ok: false };
    if (error !== null) throw apiError(error, what);
    if (typeof answer.seq !== "number") throw busError("E_BUS_REJECTED", `Cannot ${what}: the answer has no revision`);
    return { ok: true, revision: answer.seq };
  }
}

function writeHeaders(expected: number | null, isDeletion: boolean): { headers?: MsgHdrs } {
  if (expected === null && !isDeletion) return {};
  const fields = headers();
  if (expected !== null) fields.set(EXPECTED_HEADER, String(expected));
  if (isDeletion) fields.set(OPERATION_HEADER, "DEL");
  return { headers: fields };
}

/** The answer to a direct read. */
function storedEntry(key: string, message: Msg, what: string): BusEntry {
  const fields = message.headers;
  const revision = Number(fields?.get("Nats-Sequence"));
  const receivedAtMs = Date.parse(fields?.get("Nats-Time-Stamp") ?? "");
  if (!Number.isSafeInteger(revision) || revision <= 0 || Number.isNaN(receivedAtMs)) {
    throw busError("E_BUS_REJECTED", `Cannot ${what}: the answer has no revision or time`);
  }
  const deleted = (fields?.get(OPERATION_HEADER) ?? "") !== "";
  return { key, value: deleted ? EMPTY : message.data, revision, receivedAtMs, deleted };
}
