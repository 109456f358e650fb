/**
 * What each kind of resource adds to the common rules: its decoders, and what its names and labels must be. The
 * embedded store applies them to every document that it writes or reads, as a CRD's schema does in a cluster (DESIGN 2).
 *
 * @module
 */
import { agentReleaseSpec, agentReleaseStatus } from "../../contracts/agent_release.ts";
import type { Decoder } from "../../contracts/codec.ts";
import { DEVICE_ID_LABEL, deviceSpec, deviceStatus } from "../../contracts/device_resource.ts";
import { fleetDeploymentSpec, fleetDeploymentStatus } from "../../contracts/fleet_deployment.ts";
import { deviceId, resourceName } from "../../contracts/formats.ts";
import type { ResourceKind } from "../../contracts/resource.ts";
import { TASK_RUN_IMMUTABLE, taskRunSpec, taskRunStatus } from "../../contracts/task_run.ts";
import type { ResourceOf } from "./port.ts";

/** Labels of a resource. */
export type Labels = Readonly<Record<string, string>>;

/** The rules of one kind. */
export interface ResourceRules<K extends ResourceKind> {
  readonly name: Decoder<string>;
  readonly spec: Decoder<ResourceOf[K]["spec"]>;
  readonly status: Decoder<NonNullable<ResourceOf[K]["status"]>>;
  /** Labels that a resource gets whatever its writer gave. */
  readonly forcedLabels: (name: string) => Labels;
  /** Why the spec may not change once the resource is created; absent where it may. */
  readonly immutable?: string;
}

/** The rules of every kind. */
export const RESOURCE_RULES: { readonly [K in ResourceKind]: ResourceRules<K> } = {
  Device: {
    // The name enters keys and subjects, so it is held to the stricter format (DESIGN 4).
    name: deviceId,
    spec: deviceSpec,
    status: deviceStatus,
    forcedLabels: (name) => ({ [DEVICE_ID_LABEL]: name }),
  },
  AgentRelease: {
    name: resourceName,
    spec: agentReleaseSpec,
    status: agentReleaseStatus,
    forcedLabels: () => ({}),
  },
  FleetDeployment: {
    name: resourceName,
    spec: fleetDeploymentSpec,
    status: fleetDeploymentStatus,
    forcedLabels: () => ({}),
  },
  TaskRun: {
    name: resourceName,
    spec: taskRunSpec,
    status: taskRunStatus,
    forcedLabels: () => ({}),
    immutable: TASK_RUN_IMMUTABLE.message,
  },
};
