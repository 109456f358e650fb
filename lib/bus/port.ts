/**
 * What the programs need of NATS, as a port: the real adapter and the fake pass the same conformance suite. Nothing
 * outside of this folder imports a NATS package.
 *
 * Failures are {@link FleetError}s: `E_BUS_UNREACHABLE` and `E_BUS_TIMEOUT` (transient, `environment`),
 * `E_BUS_UNKNOWN_OUTCOME` for a write that may or may not have happened (re-read before acting on it),
 * `E_BUS_AUTH`, `E_BUS_FULL`, `E_BUS_TOO_LARGE`, `E_BUS_KEY`, `E_BUS_NO_BUCKET`, `E_BUS_SNAPSHOT_INCOMPLETE`,
 * `E_BUS_REJECTED` (any other refusal of the server), `E_BUS_CLOSED`. Without a connection a write fails at once with
 * `E_BUS_UNREACHABLE` and has not happened.
 *
 * @module
 */
import type { BucketName, BucketSpec } from "../../contracts/buckets.ts";

/** One value of a bucket, or the marker of a deleted one. */
export interface BusEntry {
  readonly key: string;
  /** Empty for a deletion. */
  readonly value: Uint8Array;
  /** Rises over the whole bucket. */
  readonly revision: number;
  /** When the broker received it, by the broker's clock, in ms since the epoch. */
  readonly receivedAtMs: number;
  readonly deleted: boolean;
}

/** What a compare-and-set write did. A conflict is an expected outcome, not an error. */
export type WriteResult = { readonly ok: true; readonly revision: number } | { readonly ok: false };

/** What a watch yields. */
export type WatchEvent =
  /**
   * The watch begins again after a loss: every newest value follows, then `current`. A key that has not come by then is
   * gone, and revisions may be lower than before, since the bucket may have been made anew.
   */
  | { readonly kind: "restarted" }
  /**
   * A value or a deletion. A value that is replaced at once may never come; the newest one does. After a loss an entry
   * may come again, never an older one after a newer one.
   */
  | { readonly kind: "entry"; readonly entry: BusEntry }
  /** Everything that was there when the watch began (or began again after a loss) has been yielded. */
  | { readonly kind: "current" };

/** One bucket. It must exist; binding never creates it. */
export interface KvBucket {
  readonly name: BucketName;
  /** The newest value, or null when there is none or it is deleted. */
  get(key: string): Promise<BusEntry | null>;
  /**
   * Writes whatever stands there; for documents that only the caller writes.
   *
   * @returns the revision
   */
  put(key: string, value: Uint8Array): Promise<number>;
  /** Writes if there is no value or it is deleted. */
  create(key: string, value: Uint8Array): Promise<WriteResult>;
  /** Writes if the newest revision of the key is `revision`. */
  update(key: string, value: Uint8Array, revision: number): Promise<WriteResult>;
  /** Marks a key deleted if its newest revision is `revision` (any, when left out). Never a purge. */
  delete(key: string, revision?: number): Promise<WriteResult>;
  /**
   * Every newest value under a key filter (`device-1.>`, `*`, `>`), deletions left out, complete or an error.
   * `snapshotMap` of `snapshot_map.ts` gathers it in a map.
   *
   * @param filter Key filter
   * @param onEntry Called for each entry, so that a large snapshot need not be held twice; must not throw. A key that is
   *   written while the snapshot is read comes again, and one that is deleted after it came, comes again as a deletion.
   * @returns the number of values that came, and the highest revision that came (0 for none)
   * @throws {FleetError} `E_BUS_SNAPSHOT_INCOMPLETE` (transient) when it began and did not complete; as `get` when it could not begin
   */
  snapshot(filter: string, onEntry: (entry: BusEntry) => void): Promise<{ entries: number; lastRevision: number }>;
  /**
   * Newest values, `current`, then changes, until the signal aborts. Survives reconnects and server restarts.
   *
   * @param filter Key filter
   * @param signal Ends it
   * @param onLoss Called when what was yielded may not be the newest any more: the connection or the bucket is gone.
   *   `restarted` follows once both are back. For those who must not decide on what may be old
   */
  watch(filter: string, signal: AbortSignal, onLoss?: () => void): AsyncIterable<WatchEvent>;
}

/** State of the connection, for logs, STATUS and vitals. */
export type BusStatus =
  | { readonly kind: "connected"; readonly server: string }
  | { readonly kind: "disconnected" }
  | { readonly kind: "reconnecting" }
  | { readonly kind: "auth-error"; readonly message: string }
  | { readonly kind: "error"; readonly message: string }
  /** The client has given the connection up for good, which no outage makes it do: the program begins anew. */
  | { readonly kind: "closed" };

/** A connection that reconnects for ever. */
export interface Bus {
  /** Binds a bucket. @throws `E_BUS_NO_BUCKET` when it does not exist or may not be read */
  bucket(name: BucketName): Promise<KvBucket>;
  /** Calls a listener for each change of status, from now on. @returns a function that ends it */
  onStatus(listener: (status: BusStatus) => void): () => void;
  readonly connected: boolean;
  /** Waits until everything written has reached the server. */
  flush(timeoutMs: number): Promise<void>;
  /** Device clock minus server clock, in ms, from a round trip; null while it cannot be known. */
  clockSkewMs(): Promise<number | null>;
  /** Ends subscriptions and closes; idempotent, bounded by the request timeout. */
  close(): Promise<void>;
}

/** What only the operator may do. */
export interface BusAdmin {
  /**
   * Creates missing buckets and brings the configuration of existing ones up to date.
   *
   * @param fleetSize Devices that `max_bytes` is made for
   * @param replicas Copies of each bucket: 1, 3 or 5
   * @throws `E_BUS_BUCKET_CONFLICT` when something that cannot change differs (storage)
   */
  ensureBuckets(specs: readonly BucketSpec[], fleetSize: number, replicas: number): Promise<void>;
}
