/**
 * NATS subjects of the buckets, and the permissions of one device: the smallest set with which the agent works, so
 * that a device reads and writes only its own data (DESIGN 4 and 8).
 *
 * @module
 */
import type { BucketName } from "./buckets.ts";

/**
 * Subject of a key.
 *
 * @param bucket The bucket
 * @param key The key, or a filter
 */
export function keySubject(bucket: BucketName, key: string): string {
  return `$KV.${bucket}.${key}`;
}

/**
 * Stream that holds a bucket.
 *
 * @param bucket The bucket
 */
export function streamName(bucket: BucketName): string {
  return `KV_${bucket}`;
}

/**
 * Inbox prefix of a device: no device can listen to another's replies.
 *
 * @param deviceId A validated device id
 */
export function inboxPrefix(deviceId: string): string {
  return `_INBOX_${deviceId}`;
}
