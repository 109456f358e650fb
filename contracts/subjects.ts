/**
 * NATS subjects: of the buckets, of the JetStream API, and of what is sent to one program (DESIGN 4).
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

/** Prefix of the JetStream API in the account that holds the buckets. */
export const API_PREFIX = "$JS.API";

/** Prefix of the part of the API that devices have, in the account of the devices (`deviceAccount`). */
export const DEVICE_API_PREFIX = "$JS.fleet.API";

/** First tokens of every subject that consumers of devices deliver to; the account of the devices imports them. */
export const DELIVERY_PREFIX = "fleet.deliver";

/** The server's answer to who one is: the user, its permissions, and the server's clock. */
export const USER_INFO_SUBJECT = "$SYS.REQ.USER.INFO";

/**
 * Prefix of the subjects that a device's consumers deliver to. They are not inboxes, since a wildcard cannot stand for
 * the end of `_INBOX_<device>`, and the import between the accounts must name them all.
 *
 * @param deviceId A validated device id
 */
export function deliveryPrefix(deviceId: string): string {
  return `${DELIVERY_PREFIX}.${deviceId}`;
}

/**
 * Prefix of the names of a device's consumers. What follows must be random: permissions cannot bind a part of a name,
 * so that an unguessable name is what keeps one device from another's consumer.
 *
 * @param deviceId A validated device id
 */
export function consumerNamePrefix(deviceId: string): string {
  return `${deviceId}_`;
}
