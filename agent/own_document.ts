/**
 * A document in a bucket that this device alone writes. What stands there is remembered, so that an unchanged document
 * costs no traffic, and read again after every doubt and from time to time, so that a lost one comes back.
 *
 * @module
 */
import { decodeBytes, type Decoder } from "../contracts/codec.ts";
import { canonicalJson } from "../contracts/canonical_json.ts";
import { isFleetError } from "../contracts/errors.ts";
import type { KvBucket } from "../lib/bus/port.ts";
import type { Clock } from "../lib/deadline.ts";

/** How a document is kept. */
export interface OwnDocumentOptions<T> {
  readonly bucket: KvBucket;
  readonly key: string;
  readonly decoder: Decoder<T>;
  /** Most bytes that are read. */
  readonly maxBytes: number;
  /** Age at which what is remembered is read again, in ms. */
  readonly rereadMs: number;
  readonly clock: Clock;
}

interface Known<T> {
  /** Null when there is none or it cannot be read. */
  readonly value: T | null;
  /** Revision that a write replaces; null when there is none. */
  readonly revision: number | null;
  readonly atMs: number;
}

const ENCODER = new TextEncoder();

/** A document in a bucket that this device alone writes. */
export class OwnDocument<T> {
  readonly #options: OwnDocumentOptions<T>;
  #known: Known<T> | null = null;

  constructor(options: OwnDocumentOptions<T>) {
    this.#options = options;
  }

  /**
   * What stands there; null when there is nothing, or nothing that can be read.
   *
   * @throws {FleetError} `E_BUS_*`
   */
  async read(): Promise<T | null> {
    return (await this.#knowledge()).value;
  }

  /**
   * Writes by compare-and-set. The same content is not written again.
   *
   * @returns false when somebody else wrote in between; read again before the next try
   * @throws {FleetError} `E_BUS_*`; what stands there is then read again before it is relied on
   */
  async write(value: T): Promise<boolean> {
    const { value: present, revision } = await this.#knowledge();
    const text = canonicalJson(value);
    if (present !== null && canonicalJson(present) === text) return true;
    const { bucket, clock, key } = this.#options;
    // Forgotten first: whatever ends the write early leaves unknown what stands there.
    this.#known = null;
    const bytes = ENCODER.encode(text);
    const result = revision === null ? await bucket.create(key, bytes) : await bucket.update(key, bytes, revision);
    if (!result.ok) return false;
    this.#known = { value, revision: result.revision, atMs: clock.monotonicMs() };
    return true;
  }

  /** Makes the next call read again. */
  forget(): void {
    this.#known = null;
  }

  async #knowledge(): Promise<Known<T>> {
    const { bucket, clock, decoder, key, maxBytes, rereadMs } = this.#options;
    if (this.#known !== null && clock.monotonicMs() - this.#known.atMs < rereadMs) return this.#known;
    const entry = await bucket.get(key);
    const known = {
      value: entry === null ? null : this.#decode(decoder, entry.value, maxBytes),
      revision: entry?.revision ?? null,
      atMs: clock.monotonicMs(),
    };
    this.#known = known;
    return known;
  }

  #decode(decoder: Decoder<T>, bytes: Uint8Array, maxBytes: number): T | null {
    try {
      return decodeBytes(decoder, bytes, maxBytes);
    } catch (error) {
      // A broken document is replaced by the next write.
      if (isFleetError(error, "E_DECODE")) return null;
      throw error;
    }
  }
}
