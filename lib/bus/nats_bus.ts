/**
 * The bus over a real NATS connection.
 *
 * @module
 */
import { type BucketName, BUCKETS, type BucketSpec, deviceKey, generationKey } from "../../contracts/buckets.ts";
import { isFleetError } from "../../contracts/errors.ts";
import { busError } from "./bus_error.ts";
import type { BusCore } from "./bus_core.ts";
import { measureClockSkewMs } from "./clock_skew.ts";
import { ensureBuckets } from "./ensure_buckets.ts";
import { NatsBucket } from "./kv_bucket.ts";
import type { Bus, BusAdmin, BusStatus, KvBucket } from "./port.ts";

/** Buckets of which a device may read the keys below its id, and not the id itself. */
const MANY_KEYS: ReadonlySet<BucketName> = new Set([
  BUCKETS.desiredState,
  BUCKETS.deploymentStatus,
  BUCKETS.systemUpgradeIntent,
  BUCKETS.systemUpgradeStatus,
]);

/** Any key tells whether a bucket is there; this one is never written. */
const ABSENT_KEY = "_bind";

/** A connection that reconnects for ever. What only the operator may do is refused by the server for others. */
export class NatsBus implements Bus, BusAdmin {
  readonly #core: BusCore;

  constructor(core: BusCore) {
    this.#core = core;
  }

  async bucket(name: BucketName): Promise<KvBucket> {
    const bucket = new NatsBucket(this.#core, name);
    try {
      await bucket.get(this.#bindKey(name));
    } catch (error) {
      if (!isFleetError(error, "E_BUS_AUTH")) throw error;
      throw busError("E_BUS_NO_BUCKET", `Cannot bind bucket ${name}: the server forbids it`, error);
    }
    return bucket;
  }

  /** A key that the program may read. */
  #bindKey(name: BucketName): string {
    const { deviceId } = this.#core.options;
    if (deviceId === undefined) return ABSENT_KEY;
    return MANY_KEYS.has(name) ? generationKey(deviceId) : deviceKey(deviceId);
  }

  onStatus(listener: (status: BusStatus) => void): () => void {
    return this.#core.onStatus(listener);
  }

  get connected(): boolean {
    return this.#core.connected;
  }

  async flush(timeoutMs: number): Promise<void> {
    await this.#core.flush(timeoutMs);
  }

  async clockSkewMs(): Promise<number | null> {
    return await measureClockSkewMs(this.#core);
  }

  async close(): Promise<void> {
    await this.#core.close();
  }

  async ensureBuckets(specs: readonly BucketSpec[], fleetSize: number, replicas: number): Promise<void> {
    await ensureBuckets(this.#core, specs, fleetSize, replicas);
  }
}
