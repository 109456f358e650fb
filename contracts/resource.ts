/**
 * What every resource of `fleet.nationtech.io/v1alpha1` has: names, versions and conditions as in Kubernetes, so that
 * the same document works against the embedded store and a cluster (DESIGN 2 and 3).
 *
 * @module
 */
import { type Decoded, type Decoder, integer, list, object, oneOf, optional } from "./codec.ts";
import { detail, instant, labels, reason, resourceName, shortText, uuid } from "./formats.ts";
import { CONDITIONS_MAX } from "./limits.ts";

/** The API group and version. */
export const API_VERSION = "fleet.nationtech.io/v1alpha1";

/** Kinds of resources. */
export const RESOURCE_KINDS = ["Device", "AgentRelease", "FleetDeployment", "TaskRun"] as const;
/** One of {@link RESOURCE_KINDS}. */
export type ResourceKind = (typeof RESOURCE_KINDS)[number];

/** Decodes the metadata of a stored resource. */
export const storedMetadata = object({
  name: resourceName,
  labels: optional(labels),
  /** Made by the store, never reused. */
  uid: uuid,
  /** Opaque: compare for equality only. */
  resourceVersion: shortText,
  /** Rises with every change of the spec. */
  generation: integer(1),
  creationTimestamp: instant,
});
/** Metadata of a stored resource. */
export type StoredMetadata = Decoded<typeof storedMetadata>;

/** Decodes one condition. */
export const condition = object({
  type: reason,
  status: oneOf(["True", "False", "Unknown"]),
  reason,
  message: detail,
  lastTransitionTime: instant,
  observedGeneration: optional(integer(0)),
});
/** One condition. */
export type Condition = Decoded<typeof condition>;
/** Decodes a list of conditions. */
export const conditions: Decoder<Condition[]> = list(condition, CONDITIONS_MAX);

/** A resource as the store returns it. */
export interface StoredResource<K extends ResourceKind, Spec, Status> {
  /** The API group and version. */
  readonly apiVersion: typeof API_VERSION;
  /** Which resource it is. */
  readonly kind: K;
  /** Names and versions. */
  readonly metadata: StoredMetadata;
  /** What people want. */
  readonly spec: Spec;
  /** What the operator has found; absent until it has looked. */
  readonly status?: Status;
}
