/**
 * The buckets of the snapshot's comparison.
 *
 * @module
 */
import { type BucketName, BUCKETS } from "../contracts/buckets.ts";

/** Keys of each, by the name that figures have. */
export const SNAPSHOT_SIZES: readonly { readonly name: string; readonly bucket: BucketName; readonly keys: number }[] =
  [
    { name: "10k", bucket: BUCKETS.upgradeStatus, keys: 10_000 },
    { name: "100k", bucket: BUCKETS.deviceInfo, keys: 100_000 },
  ];
