/**
 * The JetStream key-value buckets, and the one place where their keys are made (DESIGN 4).
 *
 * @module
 */
import {
  ATTEMPT_MAX_BYTES,
  BUCKET_BASE_BYTES,
  BUCKET_HEADERS_MAX_BYTES,
  BUCKET_LARGEST_TO_AVERAGE,
  DEPLOYMENT_STATUS_AVERAGE_BYTES,
  DEPLOYMENT_STATUS_MAX_BYTES,
  DESIRED_STATE_MAX_BYTES,
  DEVICE_DOCUMENT_MAX_BYTES,
  DEVICE_GROUPS_AVERAGE_BYTES,
  DEVICE_GROUPS_MAX_BYTES,
  RESOURCE_AVERAGE_BYTES,
  RESOURCE_MAX_BYTES,
  STATUS_MAX_BYTES,
  SYSTEM_ATTEMPT_DEVICE_BYTES,
  SYSTEM_ATTEMPT_MAX_BYTES,
  SYSTEM_INTENT_MAX_AGE_S,
  SYSTEM_STATUS_DEVICE_BYTES,
  SYSTEM_STATUS_MAX_AGE_S,
  SYSTEM_STATUS_MAX_BYTES,
  TASK_HISTORY_DEVICE_BYTES,
  TASK_HISTORY_MAX_AGE_S,
  TASK_HISTORY_MAX_BYTES,
  TASK_PLAN_DEVICE_BYTES,
  TASK_PLAN_MAX_AGE_S,
  TASK_PLAN_MAX_BYTES,
} from "./limits.ts";
import { GENERATION_TOKEN } from "./desired_state.ts";

/** Names of the buckets. */
export const BUCKETS = {
  desiredState: "desired-state",
  deploymentStatus: "deployment-status",
  deviceInfo: "device-info",
  deviceHeartbeat: "device-heartbeat",
  upgradeIntent: "agent-upgrade-intent",
  upgradeStatus: "agent-upgrade-status",
  systemUpgradeIntent: "system-upgrade-intent",
  systemUpgradeStatus: "system-upgrade-status",
  /** Frozen plans of runs; no device may read or write them. */
  taskPlan: "task-plan",
  /** What stays of ended runs, likewise. */
  taskHistory: "task-history",
  /** Groups of devices, from a system that decides on them; no device may read or write it. */
  deviceGroups: "device-groups",
  /** Resources of the embedded store. */
  resources: "fleet-resources",
} as const;
/** A bucket's name. */
export type BucketName = (typeof BUCKETS)[keyof typeof BUCKETS];

/** How a bucket is made. Every bucket keeps one value per key. */
export interface BucketSpec {
  /** The bucket. */
  readonly name: BucketName;
  /** Where the server keeps it. */
  readonly storage: "file" | "memory";
  /** The server's bound on one value: the largest document, and the headers that come with it. */
  readonly maxValueBytes: number;
  /** Bytes that one device may need on average, header and index included; `max_bytes` is this times the fleet size. */
  readonly bytesPerDevice: number;
  /** Bytes that the bucket gets whatever the fleet size. */
  readonly baseBytes: number;
  /** Age at which a value goes by itself, in s; absent where it never does. */
  readonly maxAgeS?: number;
}

function spec(
  name: BucketName,
  storage: BucketSpec["storage"],
  documentMaxBytes: number,
  bytesPerDevice: number = documentMaxBytes / BUCKET_LARGEST_TO_AVERAGE,
): BucketSpec {
  return {
    name,
    storage,
    maxValueBytes: documentMaxBytes + BUCKET_HEADERS_MAX_BYTES,
    bytesPerDevice,
    baseBytes: BUCKET_BASE_BYTES,
  };
}

function aged(bucket: BucketSpec, maxAgeS: number): BucketSpec {
  return { ...bucket, maxAgeS };
}

/** All buckets. */
export const BUCKET_SPECS: readonly BucketSpec[] = [
  spec(BUCKETS.desiredState, "file", DESIRED_STATE_MAX_BYTES),
  spec(BUCKETS.deploymentStatus, "file", DEPLOYMENT_STATUS_MAX_BYTES, DEPLOYMENT_STATUS_AVERAGE_BYTES),
  spec(BUCKETS.deviceInfo, "file", DEVICE_DOCUMENT_MAX_BYTES),
  // Memory: a heartbeat is worth nothing after a restart of the broker, and must not wear its disk.
  spec(BUCKETS.deviceHeartbeat, "memory", DEVICE_DOCUMENT_MAX_BYTES),
  spec(BUCKETS.upgradeIntent, "file", ATTEMPT_MAX_BYTES),
  spec(BUCKETS.upgradeStatus, "file", STATUS_MAX_BYTES),
  aged(
    spec(BUCKETS.systemUpgradeIntent, "file", SYSTEM_ATTEMPT_MAX_BYTES, SYSTEM_ATTEMPT_DEVICE_BYTES),
    SYSTEM_INTENT_MAX_AGE_S,
  ),
  aged(
    spec(BUCKETS.systemUpgradeStatus, "file", SYSTEM_STATUS_MAX_BYTES, SYSTEM_STATUS_DEVICE_BYTES),
    SYSTEM_STATUS_MAX_AGE_S,
  ),
  aged(spec(BUCKETS.taskPlan, "file", TASK_PLAN_MAX_BYTES, TASK_PLAN_DEVICE_BYTES), TASK_PLAN_MAX_AGE_S),
  aged(spec(BUCKETS.taskHistory, "file", TASK_HISTORY_MAX_BYTES, TASK_HISTORY_DEVICE_BYTES), TASK_HISTORY_MAX_AGE_S),
  // Made whether or not an operator reads it: it is filled before an operator is told to.
  spec(BUCKETS.deviceGroups, "file", DEVICE_GROUPS_MAX_BYTES, DEVICE_GROUPS_AVERAGE_BYTES),
  spec(BUCKETS.resources, "file", RESOURCE_MAX_BYTES, RESOURCE_AVERAGE_BYTES),
];

/**
 * The `max_bytes` of a bucket.
 *
 * @param bucket The bucket
 * @param fleetSize Number of devices that the fleet may have
 */
export function bucketMaxBytes(bucket: BucketSpec, fleetSize: number): number {
  return bucket.baseBytes + bucket.bytesPerDevice * fleetSize;
}

/**
 * Bytes of the largest document of a bucket: the server's bound on a value, less the room for headers.
 *
 * @param name The bucket
 */
export function documentMaxBytes(name: BucketName): number {
  const bucket = BUCKET_SPECS.find((candidate) => candidate.name === name);
  return (bucket?.maxValueBytes ?? 0) - BUCKET_HEADERS_MAX_BYTES;
}

/**
 * Key of a document of which a device has one per bucket: info, heartbeat, intent, status, groups.
 *
 * @param deviceId A validated device id
 */
export function deviceKey(deviceId: string): string {
  return deviceId;
}

/**
 * Key filter of everything that a device has in `desired-state`.
 *
 * @param deviceId A validated device id
 */
export function desiredStateFilter(deviceId: string): string {
  return `${deviceId}.>`;
}

/**
 * Key of a device's generation in `desired-state`.
 *
 * @param deviceId A validated device id
 */
export function generationKey(deviceId: string): string {
  return `${deviceId}.${GENERATION_TOKEN}`;
}

/**
 * Key of a device's entry in `desired-state`.
 *
 * @param deviceId A validated device id
 * @param deploymentId UID of the deployment
 */
export function desiredEntryKey(deviceId: string, deploymentId: string): string {
  return `${deviceId}.${deploymentId}`;
}

/**
 * Key filter of everything that a device has in `deployment-status`.
 *
 * @param deviceId A validated device id
 */
export function deploymentStatusFilter(deviceId: string): string {
  return `${deviceId}.*`;
}

/**
 * Key of a device's status of one deployment.
 *
 * @param deviceId A validated device id
 * @param deploymentId UID of the deployment
 */
export function deploymentStatusKey(deviceId: string, deploymentId: string): string {
  return `${deviceId}.${deploymentId}`;
}

/**
 * Key filter of everything that a device has in `system-upgrade-intent` or `system-upgrade-status`.
 *
 * @param deviceId A validated device id
 */
export function systemUpgradeFilter(deviceId: string): string {
  return `${deviceId}.*`;
}

/**
 * Key of a device's attempt of a run in `system-upgrade-intent`, and of its status in `system-upgrade-status`.
 *
 * @param deviceId A validated device id
 * @param runId UID of the run, which is the attempt's id
 */
export function systemUpgradeKey(deviceId: string, runId: string): string {
  return `${deviceId}.${runId}`;
}

/**
 * Key filter of what all devices have of one run in the same two buckets.
 *
 * @param runId UID of the run
 */
export function runFilter(runId: string): string {
  return `*.${runId}`;
}

/**
 * The two parts of such a key; null when it is none.
 *
 * @param key A key of `system-upgrade-intent` or `system-upgrade-status`
 */
export function splitSystemUpgradeKey(key: string): { readonly deviceId: string; readonly runId: string } | null {
  const [deviceId = "", runId = "", ...rest] = key.split(".");
  return deviceId === "" || runId === "" || rest.length > 0 ? null : { deviceId, runId };
}

/**
 * Key of a run's manifest in `task-plan`, and of its record in `task-history`. It is created once and never reused.
 *
 * @param runId UID of the run
 */
export function runKey(runId: string): string {
  return runId;
}

/**
 * Key of a chunk in `task-plan`.
 *
 * @param runId UID of the run
 * @param nonce Nonce of the planner
 * @param index Counts from 0
 */
export function planChunkKey(runId: string, nonce: string, index: number): string {
  return `${runId}.${nonce}.${index}`;
}
