/**
 * What a command needs of a fleet: the resources, and what devices report themselves.
 *
 * @module
 */
import type { AgentUpgradeAttempt, AgentUpgradeStatus } from "../../contracts/agent_upgrade.ts";
import type { DeploymentStatus } from "../../contracts/deployment_status.ts";
import type { DesiredEntry } from "../../contracts/desired_state.ts";
import type { Heartbeat } from "../../contracts/device.ts";
import type { SystemUpgradeStatus } from "../../contracts/system_upgrade.ts";
import type { TaskPlan } from "../policy/task_plan_documents.ts";
import type { ResourceStore } from "../stores/port.ts";

/** A document of a device, as it stands in NATS. */
export type Reported<T> =
  | { readonly kind: "absent" }
  /** `receivedAtMs` is when the broker received it, by its clock, in ms since the epoch. */
  | { readonly kind: "value"; readonly value: T; readonly receivedAtMs: number }
  /** There is one, and it breaks its contract. */
  | { readonly kind: "unreadable"; readonly problem: string; readonly receivedAtMs: number }
  /** Nobody knows: the bucket is not there, or the login may not read it. */
  | { readonly kind: "unavailable"; readonly problem: string };

/** When the broker received the newest heartbeat of each device; `problem` when that cannot be known. */
export interface HeartbeatTimes {
  readonly receivedAtMs: ReadonlyMap<string, number>;
  readonly problem?: string;
}

/** What a device was told of a deployment, and what it says of it. */
export interface DeploymentOnDevice {
  readonly deviceId: string;
  /** UID of the deployment. */
  readonly deploymentId: string;
  readonly told: Reported<DesiredEntry>;
  readonly status: Reported<DeploymentStatus>;
}

/** Deployments on devices; `problem` when they cannot be known. */
export interface DeploymentsOnDevices {
  /** In order of device and deployment. */
  readonly found: readonly DeploymentOnDevice[];
  readonly problem?: string;
}

/** What stands in the buckets of one target of a run. */
export interface TaskTargetDocuments {
  readonly hasIntent: boolean;
  readonly status: Reported<SystemUpgradeStatus>;
}

/** A run on its devices. */
export interface TaskOnDevices {
  /** The frozen plan; null where there is none, or none that can be read. */
  readonly plan: TaskPlan | null;
  /** By device: those that have an intent, or say something. */
  readonly found: ReadonlyMap<string, TaskTargetDocuments>;
  /** Why something of it cannot be known. */
  readonly problem?: string;
}

/** A fleet. Reads of what devices report never throw for a missing bucket: a resource can be shown without it. */
export interface FleetAccess {
  readonly store: ResourceStore;
  /** The present by the broker's clock, in ms since the epoch; by the local one while the broker does not tell. */
  nowMs(): Promise<number>;
  /** The newest heartbeat of a device. */
  heartbeat(deviceId: string): Promise<Reported<Heartbeat>>;
  /** Times of all newest heartbeats, or of the named devices only. */
  heartbeatTimes(deviceIds: readonly string[] | null): Promise<HeartbeatTimes>;
  /** The upgrade status that a device mirrors into NATS. */
  upgradeStatus(deviceId: string): Promise<Reported<AgentUpgradeStatus>>;
  /** The attempt that the operator wants the device to make. */
  upgradeIntent(deviceId: string): Promise<Reported<AgentUpgradeAttempt>>;
  /** Everything that devices were told or say of one deployment, or that is told and said of all on one device. */
  deployments(of: { readonly deploymentId: string } | { readonly deviceId: string }): Promise<DeploymentsOnDevices>;
  /** The plan of a run, its intents, and what devices say. */
  task(runId: string): Promise<TaskOnDevices>;
  /** Calls a listener when the connection is lost (false) and when it is back (true). @returns a function that ends it */
  onConnection(listener: (connected: boolean) => void): () => void;
  close(): Promise<void>;
}
