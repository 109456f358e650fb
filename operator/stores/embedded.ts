/**
 * The resource store on one JetStream key-value bucket, so that a machine with a `nats-server` is a whole fleet
 * (DESIGN 2). Every write is a compare-and-set on the key's revision, which is the resource's `resourceVersion`.
 *
 * @module
 */
import { canonicalJson } from "../../contracts/canonical_json.ts";
import { FleetError, isFleetError } from "../../contracts/errors.ts";
import { bounded, labels as labelsFormat } from "../../contracts/formats.ts";
import type { ResourceKind } from "../../contracts/resource.ts";
import type { BusEntry, KvBucket, WriteResult } from "../../lib/bus/port.ts";
import { snapshotMap } from "../../lib/bus/snapshot_map.ts";
import { ReplayTracker } from "../runtime/replay_tracker.ts";
import type { ResourceInput, ResourceOf, ResourceStore, StoreDelete, StoreEvent, StoreWrite } from "./port.ts";
import {
  decodeDocument,
  type DocumentParts,
  encodeDocument,
  kindFilter,
  nameOfKey,
  resourceKey,
  resourceOfParts,
  type StoredDocument,
} from "./resource_document.ts";
import { type Labels, RESOURCE_RULES } from "./resource_rules.ts";

/** Options of the {@link EmbeddedStore}. */
export interface EmbeddedStoreOptions {
  /** Told of each document that a list leaves out because it cannot be read. Default nobody. */
  readonly onMalformed?: (kind: ResourceKind, name: string, problem: string) => void;
  /** Wall clock for `creationTimestamp`, in ms since the epoch. Default the system's. */
  readonly nowMs?: () => number;
  /** Makes uids. Default random ones. */
  readonly newUid?: () => string;
}

/** The resource store on a bucket that exists. */
export class EmbeddedStore implements ResourceStore {
  readonly #bucket: KvBucket;
  readonly #onMalformed: NonNullable<EmbeddedStoreOptions["onMalformed"]>;
  readonly #nowMs: () => number;
  readonly #newUid: () => string;

  constructor(bucket: KvBucket, options: EmbeddedStoreOptions = {}) {
    this.#bucket = bucket;
    this.#onMalformed = options.onMalformed ?? (() => {});
    this.#nowMs = options.nowMs ?? Date.now;
    this.#newUid = options.newUid ?? (() => crypto.randomUUID());
  }

  async list<K extends ResourceKind>(kind: K): Promise<ResourceOf[K][]> {
    const resources: ResourceOf[K][] = [];
    // A map: what is written or deleted while it is read comes again.
    for (const entry of (await snapshotMap(this.#bucket, kindFilter(kind))).values()) {
      const read = readEntry(kind, entry);
      if (read.kind === "put") resources.push(read.resource);
      else this.#onMalformed(kind, read.name, read.problem);
    }
    return resources.sort((a, b) => a.metadata.name < b.metadata.name ? -1 : 1);
  }

  async get<K extends ResourceKind>(kind: K, name: string): Promise<ResourceOf[K] | null> {
    return (await this.#read(kind, name))?.resource ?? null;
  }

  async create<K extends ResourceKind>(kind: K, input: ResourceInput<K>): Promise<StoreWrite<K>> {
    const { labels, spec } = checkInput(kind, input);
    const parts: DocumentParts<K> = {
      kind,
      metadata: {
        name: input.name,
        labels,
        uid: this.#newUid(),
        generation: 1,
        creationTimestamp: new Date(this.#nowMs()).toISOString(),
      },
      spec,
    };
    const result = await this.#bucket.create(resourceKey(kind, input.name), encodeDocument(parts));
    return written(parts, result, "exists");
  }

  async replace<K extends ResourceKind>(
    kind: K,
    input: ResourceInput<K>,
    resourceVersion: string,
  ): Promise<StoreWrite<K>> {
    const { labels, spec } = checkInput(kind, input);
    const current = await this.#read(kind, input.name);
    if (current === null) return { ok: false, why: "not-found" };
    const { resource, parts } = current;
    if (resource.metadata.resourceVersion !== resourceVersion) return { ok: false, why: "conflict" };
    const specChanged = canonicalJson(resource.spec) !== canonicalJson(spec);
    const { immutable } = RESOURCE_RULES[kind];
    if (specChanged && immutable !== undefined) {
      throw new FleetError(immutable, { code: "E_STORE_IMMUTABLE", failureClass: "policy", field: "spec" });
    }
    const labelsChanged = canonicalJson(resource.metadata.labels) !== canonicalJson(labels);
    // As in Kubernetes: a write that changes nothing writes nothing.
    if (!specChanged && !labelsChanged) return { ok: true, resource };
    const generation = parts.metadata.generation + (specChanged ? 1 : 0);
    return await this.#update({
      ...parts,
      metadata: { ...parts.metadata, labels, generation },
      spec: specChanged ? spec : parts.spec,
    }, resourceVersion);
  }

  async replaceStatus<K extends ResourceKind>(
    kind: K,
    name: string,
    status: NonNullable<ResourceOf[K]["status"]>,
    resourceVersion: string,
  ): Promise<StoreWrite<K>> {
    const decoded = RESOURCE_RULES[kind].status(status, "status");
    const current = await this.#read(kind, name);
    if (current === null) return { ok: false, why: "not-found" };
    if (current.resource.metadata.resourceVersion !== resourceVersion) return { ok: false, why: "conflict" };
    return await this.#update({ ...current.parts, status: decoded }, resourceVersion);
  }

  async delete(kind: ResourceKind, name: string, resourceVersion?: string): Promise<StoreDelete> {
    const key = resourceKey(kind, name);
    const entry = await this.#bucket.get(key);
    if (entry === null) return { ok: false, why: "not-found" };
    if (resourceVersion !== undefined && String(entry.revision) !== resourceVersion) {
      return { ok: false, why: "conflict" };
    }
    // Nothing is decoded: a deletion is the way out of a document that cannot be read.
    const result = await this.#bucket.delete(key, resourceVersion === undefined ? undefined : entry.revision);
    return result.ok ? { ok: true } : { ok: false, why: "conflict" };
  }

  async *watch<K extends ResourceKind>(kind: K, signal: AbortSignal): AsyncIterable<StoreEvent<K>> {
    const tracker = new ReplayTracker();
    for await (const event of this.#bucket.watch(kindFilter(kind), signal)) {
      if (event.kind === "restarted") {
        tracker.restart();
        continue;
      }
      if (event.kind === "current") {
        for (const name of tracker.current()) yield { kind: "delete", name, vanished: true };
        yield { kind: "current" };
        continue;
      }
      const name = nameOfKey(kind, event.entry.key);
      if (event.entry.deleted) {
        tracker.delete(name);
        yield { kind: "delete", name };
      } else {
        tracker.put(name);
        yield readEntry(kind, event.entry);
      }
    }
  }

  async #read<K extends ResourceKind>(kind: K, name: string): Promise<StoredDocument<K> | null> {
    const key = resourceKey(kind, name);
    const entry = await this.#bucket.get(key);
    return entry === null ? null : decodeDocument(kind, key, entry.value, entry.revision);
  }

  async #update<K extends ResourceKind>(parts: DocumentParts<K>, resourceVersion: string): Promise<StoreWrite<K>> {
    const key = resourceKey(parts.kind, parts.metadata.name);
    const result = await this.#bucket.update(key, encodeDocument(parts), Number(resourceVersion));
    return written(parts, result, "conflict");
  }
}

/** The input that the rules make of what a writer gave. */
function checkInput<K extends ResourceKind>(
  kind: K,
  input: ResourceInput<K>,
): { labels: Labels; spec: ResourceOf[K]["spec"] } {
  const rules = RESOURCE_RULES[kind];
  const name = rules.name(input.name, "metadata.name");
  // Forced before the check, so that what is stored keeps the limit on the number of labels.
  const labels = labelsFormat({ ...input.labels, ...rules.forcedLabels(name) }, "metadata.labels");
  return { labels, spec: rules.spec(input.spec, "spec") };
}

function written<K extends ResourceKind>(
  parts: DocumentParts<K>,
  result: WriteResult,
  why: "conflict" | "exists",
): StoreWrite<K> {
  return result.ok ? { ok: true, resource: resourceOfParts(parts, result.revision) } : { ok: false, why };
}

function readEntry<K extends ResourceKind>(
  kind: K,
  entry: BusEntry,
): Exclude<StoreEvent<K>, { kind: "current" | "delete" }> {
  try {
    return { kind: "put", resource: decodeDocument(kind, entry.key, entry.value, entry.revision).resource };
  } catch (error) {
    if (!isFleetError(error)) throw error;
    return { kind: "malformed", name: nameOfKey(kind, entry.key), problem: bounded(error.message) };
  }
}
