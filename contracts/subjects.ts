/**
 * NATS subjects of the buckets, and the permissions of one device: the smallest set with which the agent works, so
 * that a device reads and writes only its own data (DESIGN 4 and 8).
 *
 * @module
 */
import { type BucketName, BUCKETS, desiredStateFilter, deviceKey } from "./buckets.ts";
import { deviceId as deviceIdFormat } from "./formats.ts";

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

/**
 * Prefix of the names of a device's consumers. What follows must be random: permissions cannot bind a part of a name,
 * so that an unguessable name is what keeps one device from another's consumer.
 *
 * @param deviceId A validated device id
 */
export function consumerNamePrefix(deviceId: string): string {
  return `${deviceId}_`;
}

/** Subjects that a connection may use; everything else is denied. Members are named as in the server's config. */
export interface SubjectPermissions {
  /** Subjects that it may send to. */
  readonly publish: { readonly allow: readonly string[] };
  /** Subjects that it may hear. */
  readonly subscribe: { readonly allow: readonly string[] };
}

/** What a device may do with its own keys of one bucket. */
interface BucketGrant {
  readonly bucket: BucketName;
  /** One key, or a filter. */
  readonly keys: string;
  readonly read: boolean;
  readonly watch: boolean;
  readonly write: boolean;
}

function bucketGrants(device: string): BucketGrant[] {
  const own = deviceKey(device);
  return [
    { bucket: BUCKETS.desiredState, keys: desiredStateFilter(device), read: true, watch: true, write: false },
    { bucket: BUCKETS.deviceInfo, keys: own, read: true, watch: false, write: true },
    { bucket: BUCKETS.deviceHeartbeat, keys: own, read: true, watch: false, write: true },
    { bucket: BUCKETS.upgradeIntent, keys: own, read: true, watch: true, write: false },
    { bucket: BUCKETS.upgradeStatus, keys: own, read: true, watch: false, write: true },
  ];
}

/**
 * The smallest set of subjects with which an agent works (DESIGN 4 and 8). The agent binds buckets without asking for
 * stream info, reads single keys by direct get, and watches with push consumers that deliver to its own inbox.
 *
 * * A consumer is created by the one subject form that ends in its filter; the server refuses a request whose body has
 *   another filter. The forms without it, which could read every device's keys, are not in the list.
 * * There is no pull (`CONSUMER.MSG.NEXT`), no list of consumers, no stream API, and no publish to an inbox.
 * * A push consumer may name any delivery subject. The server delivers to subscriptions of clients only, never into
 *   another stream, so that a device cannot write another's key this way; it is why every inbox has a random part.
 *
 * @param deviceId The device; it is validated again here, since it enters subjects
 * @throws {FleetError} `E_DECODE` when it is not a device id
 */
export function devicePermissions(deviceId: string): SubjectPermissions {
  const device = deviceIdFormat(deviceId, "deviceId");
  const publish: string[] = [];
  for (const { bucket, keys, read, watch, write } of bucketGrants(device)) {
    const stream = streamName(bucket);
    const subject = keySubject(bucket, keys);
    if (read) publish.push(`$JS.API.DIRECT.GET.${stream}.${subject}`);
    if (watch) {
      publish.push(`$JS.API.CONSUMER.CREATE.${stream}.*.${subject}`);
      publish.push(`$JS.API.CONSUMER.DELETE.${stream}.*`);
      // Replies to the server's flow control of a push consumer.
      publish.push(`$JS.FC.${stream}.*.*`);
    }
    if (write) publish.push(subject);
  }
  return { publish: { allow: publish }, subscribe: { allow: [`${inboxPrefix(device)}.>`] } };
}
