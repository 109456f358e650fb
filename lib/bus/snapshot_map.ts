/**
 * A snapshot as a map.
 *
 * @module
 */
import type { BusEntry, KvBucket } from "./port.ts";

/**
 * Reads a complete snapshot: the newest value of every key that is there when it ends.
 *
 * @param bucket The bucket
 * @param filter Key filter
 * @throws {FleetError} as {@link KvBucket.snapshot}
 */
export async function snapshotMap(bucket: KvBucket, filter: string): Promise<Map<string, BusEntry>> {
  const entries = new Map<string, BusEntry>();
  await bucket.snapshot(filter, (entry) => {
    if (entry.deleted) entries.delete(entry.key);
    else entries.set(entry.key, entry);
  });
  return entries;
}
