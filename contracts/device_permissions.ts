/**
 * What a device may do in NATS: the account that devices are in, and the permissions of one device. Together they are the
 * smallest set with which the agent works, so that a device reads and writes only its own data (DESIGN 4 and 8).
 *
 * Two walls are needed. Permissions bind the subjects that a device sends to, but not the reply subject that it names,
 * and the server sends its answers there with rights of its own: within one account, a device that may write its own key
 * could have the answer sent to another's key, or to the API's request to purge a bucket (measured with 2.10.27 and
 * 2.15.1, see `tests/nats/device_isolation_test.ts`). So devices are in an account without JetStream and without buckets. It imports
 * the few services below; answers come back into it, where nothing acts on them.
 *
 * @module
 */
import {
  type BucketName,
  BUCKETS,
  deploymentStatusFilter,
  desiredStateFilter,
  deviceKey,
  systemUpgradeFilter,
} from "./buckets.ts";
import { deviceId as deviceIdFormat } from "./formats.ts";
import {
  API_PREFIX,
  DELIVERY_PREFIX,
  deliveryPrefix,
  DEVICE_API_PREFIX,
  inboxPrefix,
  keySubject,
  streamName,
  USER_INFO_SUBJECT,
} from "./subjects.ts";

/** Subjects that a connection may use; everything else is denied. Members are named as in the server's config. */
export interface SubjectPermissions {
  /** Subjects that it may send to. */
  readonly publish: { readonly allow: readonly string[] };
  /** Subjects that it may listen to. */
  readonly subscribe: { readonly allow: readonly string[] };
}

/** What a device may do with its own keys of one bucket. */
interface BucketGrant {
  readonly bucket: BucketName;
  /** One key, or a filter. */
  readonly keys: string;
  readonly watch: boolean;
  readonly write: boolean;
}

/** The grants of one device, or of all of them with `*` for the device. Every grant includes reading single keys. */
function bucketGrants(device: string): BucketGrant[] {
  const own = deviceKey(device);
  return [
    { bucket: BUCKETS.desiredState, keys: desiredStateFilter(device), watch: true, write: false },
    // Watched to find what is left of deployments that were removed while the agent was away.
    { bucket: BUCKETS.deploymentStatus, keys: deploymentStatusFilter(device), watch: true, write: true },
    { bucket: BUCKETS.deviceInfo, keys: own, watch: false, write: true },
    { bucket: BUCKETS.deviceHeartbeat, keys: own, watch: false, write: true },
    { bucket: BUCKETS.upgradeIntent, keys: own, watch: true, write: false },
    { bucket: BUCKETS.upgradeStatus, keys: own, watch: false, write: true },
    { bucket: BUCKETS.systemUpgradeIntent, keys: systemUpgradeFilter(device), watch: true, write: false },
    { bucket: BUCKETS.systemUpgradeStatus, keys: systemUpgradeFilter(device), watch: false, write: true },
  ];
}

/**
 * The permissions of one device. The agent binds buckets without asking for stream info, reads single keys by direct
 * get, and watches with push consumers that deliver to its own subjects.
 *
 * * A consumer is created by the one subject form that ends in its filter; the server refuses a request whose body has
 *   another filter. The forms without it, which could read every device's keys, are not in the list.
 * * There is no pull (`CONSUMER.MSG.NEXT`), no list of consumers, no deletion of one (permissions cannot bind its name;
 *   the server drops what nobody listens to), no stream API, and no publish to an inbox.
 * * A push consumer may name any delivery subject of the buckets' account. The server delivers to subscriptions of
 *   clients; it is why every inbox and every delivery subject has a random part.
 *
 * @param deviceId The device; it is validated again here, since it enters subjects
 * @throws {FleetError} `E_DECODE` when it is not a device id
 */
export function devicePermissions(deviceId: string): SubjectPermissions {
  const device = deviceIdFormat(deviceId, "deviceId");
  const publish = [USER_INFO_SUBJECT];
  for (const { bucket, keys, watch, write } of bucketGrants(device)) {
    const stream = streamName(bucket);
    const subject = keySubject(bucket, keys);
    publish.push(`${DEVICE_API_PREFIX}.DIRECT.GET.${stream}.${subject}`);
    if (watch) {
      publish.push(`${DEVICE_API_PREFIX}.CONSUMER.CREATE.${stream}.*.${subject}`);
      // Replies to the server's flow control of a push consumer.
      publish.push(`$JS.FC.${stream}.*.*`);
    }
    if (write) publish.push(subject);
  }
  return {
    publish: { allow: publish },
    subscribe: { allow: [`${inboxPrefix(device)}.>`, `${deliveryPrefix(device)}.>`] },
  };
}

/** What the two accounts have between them. Members are named for what they become in the server's configuration. */
export interface DeviceAccount {
  /** Services that the account of the buckets exports and the account of the devices imports, under the same subject. */
  readonly services: readonly string[];
  /** Streams of messages likewise: what consumers of devices deliver. */
  readonly streams: readonly string[];
  /** Subject mappings of the account of the buckets. */
  readonly mappings: Readonly<Record<string, string>>;
}

/**
 * The account that all devices are in, which has no JetStream of its own.
 *
 * Requests of the API come under a prefix of their own, since every account has the plain one, and are mapped to the
 * plain one in the account of the buckets. An import that renames them would do the same, but nats-server 2.10 ends in a
 * panic when a device names such an import as its reply subject.
 */
export function deviceAccount(): DeviceAccount {
  const services: string[] = [];
  for (const { bucket, keys, watch, write } of bucketGrants("*")) {
    const stream = streamName(bucket);
    const subject = keySubject(bucket, keys);
    services.push(`${DEVICE_API_PREFIX}.DIRECT.GET.${stream}.${subject}`);
    if (watch) services.push(`${DEVICE_API_PREFIX}.CONSUMER.CREATE.${stream}.*.${subject}`, `$JS.FC.${stream}.*.*`);
    if (write) services.push(subject);
  }
  return {
    services,
    streams: [`${DELIVERY_PREFIX}.>`],
    mappings: { [`${DEVICE_API_PREFIX}.>`]: `${API_PREFIX}.>` },
  };
}
