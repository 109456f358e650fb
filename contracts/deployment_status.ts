/**
 * What a device says of one deployment: bucket `deployment-status`, key `<device>.<deployment UUID>`. It is written on
 * transitions only, and deleted by the device when the deployment and its containers are gone.
 *
 * @module
 */
import { type Decoded, integer, list, object, oneOf, optional } from "./codec.ts";
import { detail, deviceId, instant, reason, resourceName, uuid } from "./formats.ts";
import { DEPLOYMENT_CONTAINERS_MAX } from "./limits.ts";
import { containerName } from "./podman_workload.ts";

/**
 * Where a deployment stands on a device: seen and waiting, being changed, as desired, or not to be had as it is. A
 * `failed` one is tried again with growing pauses; a deployment that is removed stays `progressing` until it is gone.
 */
export const DEPLOYMENT_PHASES = ["pending", "progressing", "ready", "failed"] as const;
/** One of {@link DEPLOYMENT_PHASES}. */
export type DeploymentPhase = (typeof DEPLOYMENT_PHASES)[number];

/**
 * Where a container stands: not made yet, its image on its way, running, waiting for Podman's or the agent's next start,
 * ended well under a policy that does not start it again, or not as desired.
 */
export const CONTAINER_STATES = ["pending", "pulling", "running", "restarting", "completed", "failed"] as const;
/** One of {@link CONTAINER_STATES}. */
export type ContainerState = (typeof CONTAINER_STATES)[number];

/** Reasons of deployments and containers that this program gives; a newer device may give others. */
export const DEPLOYMENT_REASONS = [
  "Waiting",
  "Pulling",
  "Changing",
  "Removing",
  "ImageUnavailable",
  "NameTaken",
  "CreateFailed",
  "RenameFailed",
  "StartFailed",
  "StopFailed",
  "RemoveFailed",
  "ContainerRestarts",
  "ContainerEnded",
  "ContainerFailed",
  "ContainerPaused",
  "ContainerBusy",
  "UnknownWorkload",
  "InvalidWorkload",
  "EntryUnreadable",
  "TooManyContainers",
  "PodmanDisabled",
] as const;
/** One of {@link DEPLOYMENT_REASONS}. */
export type DeploymentReason = (typeof DEPLOYMENT_REASONS)[number];

/** Decodes a deployment status. */
export const deploymentStatus = object({
  schema: integer(1),
  deviceId,
  /** UID of the deployment, which is also the last token of the key. */
  deploymentId: uuid,
  /** Absent where the entry cannot be read. */
  name: optional(resourceName),
  /** Generation of the desired-state entry that this status is about; absent where the entry cannot be read. */
  generation: optional(integer(1)),
  phase: oneOf(DEPLOYMENT_PHASES),
  /** Why, for every phase but `ready`. */
  reason: optional(reason),
  /** Latest error, with the container's name. */
  error: optional(detail),
  /** In the order of the deployment. */
  containers: list(
    object({ name: containerName, state: oneOf(CONTAINER_STATES), reason: optional(reason) }),
    DEPLOYMENT_CONTAINERS_MAX,
  ),
  /** Since when the deployment is in this phase. */
  since: instant,
  updatedAt: instant,
});
/** A deployment status. */
export type DeploymentStatus = Decoded<typeof deploymentStatus>;
