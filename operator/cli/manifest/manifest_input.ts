/**
 * What a person's document asks for, once it is known to be right.
 *
 * @module
 */
import type { AgentReleaseSpec } from "../../../contracts/agent_release.ts";
import type { DeviceSpec } from "../../../contracts/device_resource.ts";
import type { ResourceOf } from "../../stores/port.ts";
import type { FleetDeploymentSpec } from "../../../contracts/fleet_deployment.ts";
import type { TaskRunSpec } from "../../../contracts/task_run.ts";

/** What a document of any kind has. */
interface InputBase {
  readonly name: string;
  /** Labels that the resource shall have; absent when the document has none, and then stored ones are kept. */
  readonly labels?: Readonly<Record<string, string>>;
  /**
   * Present when the document was read from the store: it is applied only if nobody changed the spec since. The
   * resource version alone would tell of every status that the operator writes.
   */
  readonly generation?: number;
  /** As {@link generation}, for a document that has no generation. */
  readonly resourceVersion?: string;
  /** Present when the document was read from the store: it is applied to that very resource only. */
  readonly uid?: string;
}

/** A device as a person writes it. */
export interface DeviceInput extends InputBase {
  readonly kind: "Device";
  readonly spec: DeviceSpec;
}

/**
 * A release as a person writes it. `revision` and `paused` belong to `fleetctl release`: where the document leaves them
 * out, the stored ones are kept.
 */
export interface ReleaseInput extends InputBase {
  readonly kind: "AgentRelease";
  readonly spec: Omit<AgentReleaseSpec, "revision" | "paused"> & Partial<Pick<AgentReleaseSpec, "revision" | "paused">>;
}

/** A deployment as a person writes it. */
export interface DeploymentInput extends InputBase {
  readonly kind: "FleetDeployment";
  readonly spec: FleetDeploymentSpec;
}

/** A run as a person writes it. */
export interface TaskInput extends InputBase {
  readonly kind: "TaskRun";
  readonly spec: TaskRunSpec;
}

/** Kinds that `fleetctl` works with. */
export const FLEETCTL_KINDS = ["Device", "AgentRelease", "FleetDeployment", "TaskRun"] as const;
/** One of {@link FLEETCTL_KINDS}. */
export type FleetctlKind = (typeof FLEETCTL_KINDS)[number];

/** A stored resource of one of them. */
export type FleetctlResource = ResourceOf[FleetctlKind];

/** A document that may be applied. */
export type ManifestInput = DeviceInput | ReleaseInput | DeploymentInput | TaskInput;

/** Something wrong with a document. */
export interface ManifestProblem {
  /** Dotted path of the field; empty for the document itself. */
  readonly path: string;
  /** One line without a final period. */
  readonly message: string;
  /** What to write instead, when that can be told. */
  readonly hint?: string;
}
