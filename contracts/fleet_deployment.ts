/**
 * `FleetDeployment`: containers that a part of the fleet should run (DESIGN 3).
 *
 * @module
 */
import { type Decoded, integer, object, optional } from "./codec.ts";
import { detail } from "./formats.ts";
import { allowedGroups, targetSelector } from "./placement.ts";
import { podmanV0 } from "./podman_workload.ts";
import { conditions, type StoredResource } from "./resource.ts";

/** Decodes the spec of a deployment. */
export const fleetDeploymentSpec = object({ allowedGroups, targetSelector, podmanV0 });
/** The spec of a deployment. */
export type FleetDeploymentSpec = Decoded<typeof fleetDeploymentSpec>;

/** Decodes the status of a deployment: counts and one bounded error, never a list of devices. */
export const fleetDeploymentStatus = object({
  /** Devices that it is placed on. */
  targets: integer(0),
  /** Targets whose status says `ready` for the generation that they were told. */
  ready: integer(0),
  /** Targets whose status says `failed` for that generation. */
  failed: integer(0),
  /** All other targets: under way, or not heard of yet. */
  pending: integer(0),
  /** Latest error of any target, with the device's id. */
  lastError: optional(detail),
  conditions: optional(conditions),
  observedGeneration: optional(integer(0)),
});
/** The status of a deployment. */
export type FleetDeploymentStatus = Decoded<typeof fleetDeploymentStatus>;

/** A stored deployment. */
export type FleetDeployment = StoredResource<"FleetDeployment", FleetDeploymentSpec, FleetDeploymentStatus>;
