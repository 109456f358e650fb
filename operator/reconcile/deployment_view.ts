/**
 * What the operator knows of the deployments: the resources, what each device was told, and what it says of it. An
 * event's cost does not depend on the fleet's size, except that of a changed deployment, which concerns all its devices.
 *
 * @module
 */
import { canonicalJson } from "../../contracts/canonical_json.ts";
import { DESIRED_ENTRY_SCHEMA, type DesiredDeployment } from "../../contracts/desired_state.ts";
import { sha256Hex } from "../../contracts/digest.ts";
import type { FleetDeployment } from "../../contracts/fleet_deployment.ts";
import { DESIRED_ENTRIES_MAX } from "../../contracts/limits.ts";
import { type Contribution, DeploymentCounts } from "../policy/deployment_counts.ts";
import type { DeploymentFacts, GenerationFacts, HeldDesired, PlacedDeployment } from "../policy/desired_plan.ts";
import type { HeldEntry, HeldReport } from "./desired_documents.ts";
import { type ResourceChange, resourceChange } from "./fleet_view.ts";

/** A deployment with the entry that devices get of it. */
export interface KnownDeployment extends PlacedDeployment {
  readonly resource: FleetDeployment;
  readonly entryBytes: Uint8Array;
}

/** The buckets that are read again after a loss: `desired-state` and `deployment-status`. */
export type ReplayedBucket = "desired" | "reports";

/** With the number of the reading in which it came last. */
type Marked<T> = T & { replay: number };

interface DeviceRecord extends HeldDesired {
  readonly entries: Map<string, Marked<HeldEntry>>;
  generation: Marked<GenerationFacts> | null;
  readonly reports: Map<string, Marked<HeldReport>>;
}

/** The deployments as the operator knows them. */
export class DeploymentView implements DeploymentFacts {
  /** Counts of the deployments, by the documents of the devices. */
  readonly counts = new DeploymentCounts();
  /** Names of deployments whose devices have not all been looked at since the spec changed. */
  readonly placing = new Set<string>();
  readonly #byName = new Map<string, KnownDeployment>();
  readonly #names = new Map<string, string>();
  readonly #deleted = new Set<string>();
  readonly #devices = new Map<string, DeviceRecord>();
  /** Number of the present reading of each bucket. */
  readonly #replay: Record<ReplayedBucket, number> = { desired: 0, reports: 0 };

  get deployments(): Iterable<KnownDeployment> {
    return this.#byName.values();
  }

  named(name: string): KnownDeployment | undefined {
    return this.#byName.get(name);
  }

  isDeleted(name: string): boolean {
    return this.#deleted.has(name);
  }

  /** Name of the deployment of a UID. */
  nameOf(uid: string): string | undefined {
    return this.#names.get(uid);
  }

  /** Ids of all devices that have any document. */
  get deviceIds(): Iterable<string> {
    return this.#devices.keys();
  }

  /** What stands in `desired-state` for a device. */
  held(id: string): HeldDesired {
    return this.#devices.get(id) ?? NOTHING;
  }

  /** What a device says, by the UID of the deployment. */
  reports(id: string): ReadonlyMap<string, HeldReport> {
    return this.#devices.get(id)?.reports ?? NO_REPORTS;
  }

  /** Devices that were told of a deployment, by its UID or its name. */
  *holders({ uid, name }: { readonly uid?: string; readonly name: string }): Generator<string, void, undefined> {
    for (const [id, { entries }] of this.#devices) {
      const has = uid !== undefined && entries.has(uid);
      if (has || [...entries.values()].some((entry) => entry.name === name)) yield id;
    }
  }

  /** Takes a deployment. @returns what changed */
  putDeployment(resource: FleetDeployment): ResourceChange {
    const { creationTimestamp, generation, name, uid } = resource.metadata;
    const before = this.#byName.get(name);
    const change = resourceChange(before?.resource ?? null, resource);
    if (change === "none") return change;
    this.#deleted.delete(name);
    if (before !== undefined && before.uid !== uid) this.#names.delete(before.uid);
    this.#names.set(uid, name);
    const entry = before?.uid === uid && before.generation === generation ? before : entryOf(resource);
    const { entryBytes, entryDigest } = entry;
    const { spec } = resource;
    this.#byName.set(name, { uid, name, generation, spec, creationTimestamp, entryBytes, entryDigest, resource });
    return change;
  }

  /** Takes that there is no deployment of a name that can be read; `isDeleted` when it was seen to be deleted. */
  dropDeployment(name: string, isDeleted: boolean): void {
    const before = this.#byName.get(name);
    if (before !== undefined) this.#names.delete(before.uid);
    this.#byName.delete(name);
    this.placing.delete(name);
    if (isDeleted) this.#deleted.add(name);
    else this.#deleted.delete(name);
  }

  /** Takes an entry of a device, or that there is none. @returns whether figures of the deployment may have changed */
  putEntry(id: string, token: string, entry: HeldEntry | null): boolean {
    return this.#change(id, token, ({ entries }) => {
      if (entry === null) entries.delete(token);
      else entries.set(token, { ...entry, replay: this.#replay.desired });
    });
  }

  /** Takes a device's generation, or that there is none. */
  putGeneration(id: string, generation: GenerationFacts | null): void {
    const record = this.#record(id);
    record.generation = generation === null ? null : { ...generation, replay: this.#replay.desired };
    this.#forgetIfEmpty(id, record);
  }

  /**
   * Takes what a device says of a deployment, or that it says nothing.
   *
   * @returns whether figures of the deployment may have changed; null when the device says more than is kept
   */
  putReport(id: string, uid: string, report: HeldReport | null): boolean | null {
    const { entries, reports } = this.#record(id);
    // A device writes its keys itself: it must not fill the operator's memory.
    if (report !== null && !reports.has(uid) && !entries.has(uid) && reports.size >= DESIRED_ENTRIES_MAX) return null;
    return this.#change(id, uid, (record) => {
      if (report === null) record.reports.delete(uid);
      else record.reports.set(uid, { ...report, replay: this.#replay.reports });
    });
  }

  /** A watch begins again: what does not come until {@link endReplay} is gone. */
  beginReplay(source: ReplayedBucket): void {
    this.#replay[source]++;
  }

  /**
   * Notes that a document is still there as it was.
   *
   * @returns whether it is the one that is known
   */
  keep(source: ReplayedBucket, id: string, token: string | null, revision: number): boolean {
    const record = this.#devices.get(id);
    const held = token === null
      ? record?.generation
      : source === "desired"
      ? record?.entries.get(token)
      : record?.reports.get(token);
    if (held === undefined || held === null || held.revision !== revision) return false;
    held.replay = this.#replay[source];
    return true;
  }

  /** Everything has come. @returns what is gone, as device and token; the token of a generation is null */
  *endReplay(source: ReplayedBucket): Generator<readonly [id: string, token: string | null], void, undefined> {
    const present = this.#replay[source];
    for (const [id, { entries, generation, reports }] of [...this.#devices]) {
      const held = source === "desired" ? entries : reports;
      for (const [token, { replay }] of [...held]) if (replay !== present) yield [id, token];
      if (source === "desired" && generation !== null && generation.replay !== present) yield [id, null];
    }
  }

  #change(id: string, token: string, change: (record: DeviceRecord) => void): boolean {
    const record = this.#record(id);
    const before = contributionOf(record, token);
    change(record);
    const moved = this.counts.move(token, id, before, contributionOf(record, token));
    this.#forgetIfEmpty(id, record);
    return moved;
  }

  #record(id: string): DeviceRecord {
    let record = this.#devices.get(id);
    if (record === undefined) {
      record = { entries: new Map(), generation: null, reports: new Map() };
      this.#devices.set(id, record);
    }
    return record;
  }

  #forgetIfEmpty(id: string, { entries, generation, reports }: DeviceRecord): void {
    if (entries.size === 0 && generation === null && reports.size === 0) this.#devices.delete(id);
  }
}

const NOTHING: HeldDesired = { entries: new Map(), generation: null };
const NO_REPORTS: ReadonlyMap<string, HeldReport> = new Map();

function contributionOf({ entries, reports }: DeviceRecord, uid: string): Contribution | undefined {
  const entry = entries.get(uid);
  return entry === undefined ? undefined : { generation: entry.generation, report: reports.get(uid) ?? null };
}

function entryOf({ metadata, spec }: FleetDeployment): Pick<KnownDeployment, "entryBytes" | "entryDigest"> {
  const document: DesiredDeployment = {
    schema: DESIRED_ENTRY_SCHEMA,
    deploymentId: metadata.uid,
    name: metadata.name,
    generation: metadata.generation,
    podmanV0: spec.podmanV0,
  };
  const entryBytes = new TextEncoder().encode(canonicalJson(document));
  return { entryBytes, entryDigest: sha256Hex(entryBytes) };
}
