/**
 * Binds each bucket once, when it is first needed: binding costs a round trip, and a bucket may not exist yet.
 *
 * @module
 */
import type { BucketName } from "../../contracts/buckets.ts";
import type { Bus, KvBucket } from "../../lib/bus/port.ts";

/** Bound buckets. */
export class BucketBinder {
  readonly #bus: Pick<Bus, "bucket">;
  readonly #bound = new Map<BucketName, Promise<KvBucket>>();

  constructor(bus: Pick<Bus, "bucket">) {
    this.#bus = bus;
  }

  /**
   * A bucket.
   *
   * @throws {FleetError} as binding does; the next call tries again
   */
  bucket(name: BucketName): Promise<KvBucket> {
    let bound = this.#bound.get(name);
    if (bound === undefined) {
      bound = this.#bus.bucket(name);
      this.#bound.set(name, bound);
      bound.catch(() => this.#bound.delete(name));
    }
    return bound;
  }
}
