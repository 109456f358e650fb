/**
 * The resource store, as a port: the embedded store on a JetStream bucket, and Kubernetes, pass the same conformance
 * suite (DESIGN 2).
 *
 * Bad input is a {@link FleetError} `E_DECODE` that names the field; `E_STORE_IMMUTABLE` names a field that may not
 * change. Faults of the store itself are transient errors of the adapter beneath.
 *
 * @module
 */
import type { AgentRelease } from "../../contracts/agent_release.ts";
import type { Device } from "../../contracts/device_resource.ts";
import type { FleetDeployment } from "../../contracts/fleet_deployment.ts";
import type { ResourceKind } from "../../contracts/resource.ts";
import type { TaskRun } from "../../contracts/task_run.ts";

/** The stored resource of each kind. */
export interface ResourceOf {
  readonly Device: Device;
  readonly AgentRelease: AgentRelease;
  readonly FleetDeployment: FleetDeployment;
  readonly TaskRun: TaskRun;
}

/** What a writer gives of a resource; the store makes uid, versions and times. */
export interface ResourceInput<K extends ResourceKind> {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: ResourceOf[K]["spec"];
}

/** The outcome of a compare-and-set write. */
export type StoreWrite<K extends ResourceKind> =
  | { readonly ok: true; readonly resource: ResourceOf[K] }
  | { readonly ok: false; readonly why: "conflict" | "not-found" | "exists" };

/** The outcome of a deletion. */
export type StoreDelete = { readonly ok: true } | { readonly ok: false; readonly why: "conflict" | "not-found" };

/**
 * What a watch yields: the resources that exist, `current`, then every change. `current` comes again after the store
 * was lost and read anew; what has gone in between has then been yielded as `delete`.
 */
export type StoreEvent<K extends ResourceKind> =
  | { readonly kind: "put"; readonly resource: ResourceOf[K] }
  /**
   * `vanished` is true for what is not there any more when the store is read anew, without anybody having been seen to
   * delete it: a store that was lost looks the same.
   */
  | { readonly kind: "delete"; readonly name: string; readonly vanished?: true }
  /** A document that cannot be read stands under the name; it is neither absent nor what it was before. */
  | { readonly kind: "malformed"; readonly name: string; readonly problem: string }
  | { readonly kind: "current" };

/** Resources by kind and name. */
export interface ResourceStore {
  /** All resources of a kind, in order of name; a document that cannot be read is left out and reported by the store. */
  list<K extends ResourceKind>(kind: K): Promise<ResourceOf[K][]>;
  /** One resource, or null. @throws `E_STORE_MALFORMED` when the document cannot be read */
  get<K extends ResourceKind>(kind: K, name: string): Promise<ResourceOf[K] | null>;
  /** Creates; `exists` when the name is taken. */
  create<K extends ResourceKind>(kind: K, input: ResourceInput<K>): Promise<StoreWrite<K>>;
  /**
   * Replaces labels and spec if `resourceVersion` is the newest; status is kept; generation rises if the spec changed.
   *
   * @throws `E_STORE_IMMUTABLE` when the kind's spec never changes, and this one would
   */
  replace<K extends ResourceKind>(kind: K, input: ResourceInput<K>, resourceVersion: string): Promise<StoreWrite<K>>;
  /** Replaces the status only, if `resourceVersion` is the newest. */
  replaceStatus<K extends ResourceKind>(
    kind: K,
    name: string,
    status: NonNullable<ResourceOf[K]["status"]>,
    resourceVersion: string,
  ): Promise<StoreWrite<K>>;
  /** Deletes if `resourceVersion` is the newest (any, when left out); takes a document that cannot be read too. */
  delete(kind: ResourceKind, name: string, resourceVersion?: string): Promise<StoreDelete>;
  /** Existing resources, `current`, then changes, until the signal aborts. */
  watch<K extends ResourceKind>(kind: K, signal: AbortSignal): AsyncIterable<StoreEvent<K>>;
}
