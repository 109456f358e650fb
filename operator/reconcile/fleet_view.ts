/**
 * What the operator knows of the fleet: the newest resources and documents, as the watches told them, with the indexes
 * that keep one event's cost independent of the fleet's size.
 *
 * @module
 */
import type { AgentRelease } from "../../contracts/agent_release.ts";
import { BUCKETS } from "../../contracts/buckets.ts";
import type { Device } from "../../contracts/device_resource.ts";
import type { ResourceKind } from "../../contracts/resource.ts";
import { ReleaseCounts } from "../policy/release_counts.ts";
import { sameJson } from "../policy/same_json.ts";
import type { ResourceOf } from "../stores/port.ts";
import { DEVICE_BUCKETS, type DeviceBucket, type HeldDocument } from "./bus_documents.ts";

/** What is known of one device; each part is null when there is none. */
export interface DeviceRecord {
  readonly id: string;
  device: Device | null;
  /** Why the resource cannot be read; then `device` is null. */
  deviceProblem: string | null;
  documents: { [B in DeviceBucket]: HeldDocument<B> | null };
  /** Groups as the source said last; null before it did. */
  groups: readonly string[] | null;
}

/** How a resource differs from the one before it. */
export type ResourceChange = "none" | "status" | "spec";

/** The fleet as the operator knows it. */
export class FleetView {
  readonly #devices = new Map<string, DeviceRecord>();
  readonly #releases = new Map<string, AgentRelease>();
  readonly #unreadableReleases = new Set<string>();
  readonly #byGroup = new Map<string, Set<string>>();
  readonly #deletedDevices = new Set<string>();
  /** Counts of the releases, by the devices' statuses. */
  readonly counts = new ReleaseCounts();

  /** Ids of all devices of which anything is known. */
  get deviceIds(): Iterable<string> {
    return this.#devices.keys();
  }

  /** Number of devices of which anything is known. */
  get size(): number {
    return this.#devices.size;
  }

  /** The releases that can be read. */
  get releases(): Iterable<AgentRelease> {
    return this.#releases.values();
  }

  /** Names of releases that cannot be read. */
  get unreadableReleases(): ReadonlySet<string> {
    return this.#unreadableReleases;
  }

  /** What is known of a device. */
  device(id: string): DeviceRecord | undefined {
    return this.#devices.get(id);
  }

  /** Whether somebody was seen to delete a device's resource, and nobody has made it again. */
  isDeleted(id: string): boolean {
    return this.#deletedDevices.has(id);
  }

  /** Takes that somebody was seen to delete a device's resource. */
  markDeleted(id: string): void {
    this.#deletedDevices.add(id);
  }

  /** A release that can be read. */
  release(name: string): AgentRelease | undefined {
    return this.#releases.get(name);
  }

  /**
   * Takes a device's resource.
   *
   * @returns what changed, and the releases whose figures changed with it
   */
  putDevice(device: Device): { change: ResourceChange; releases: string[] } {
    const record = this.#record(device.metadata.name);
    const change = resourceChange(record.device, device);
    this.#deletedDevices.delete(record.id);
    record.device = device;
    record.deviceProblem = null;
    return { change, releases: change === "none" ? [] : this.counts.set(record.id, device.status) };
  }

  /**
   * Takes that a device has no resource, or one that cannot be read. It keeps its place in its release's figures while
   * it cannot be read: nothing is known to have changed.
   *
   * @returns the releases whose figures changed with it
   */
  dropDevice(id: string, problem: string | null): string[] {
    const record = this.#record(id);
    record.device = null;
    record.deviceProblem = problem;
    if (problem !== null) {
      this.#deletedDevices.delete(id);
      return [];
    }
    this.#leaveGroups(record);
    const releases = this.counts.set(id, undefined);
    this.#forgetIfEmpty(record);
    return releases;
  }

  /** Takes a document of a device, or that there is none. */
  putDocument<B extends DeviceBucket>(bucket: B, id: string, document: HeldDocument<B> | null): void {
    const record = this.#record(id);
    // The type of the place follows from the bucket's name, which TypeScript cannot see through the type parameter.
    (record.documents as Record<DeviceBucket, unknown>)[bucket] = document;
    if (document === null) this.#forgetIfEmpty(record);
  }

  /** Takes the groups that the source has answered with. */
  putGroups(id: string, groups: readonly string[]): void {
    const record = this.#devices.get(id);
    if (record === undefined || record.groups?.join() === groups.join()) return;
    this.#leaveGroups(record);
    record.groups = groups;
    for (const group of groups) {
      let members = this.#byGroup.get(group);
      if (members === undefined) this.#byGroup.set(group, members = new Set());
      members.add(id);
    }
  }

  /**
   * Takes a release.
   *
   * @returns what changed
   */
  putRelease(release: AgentRelease): ResourceChange {
    const { name } = release.metadata;
    const wasUnreadable = this.#unreadableReleases.delete(name);
    const change = resourceChange(this.#releases.get(name) ?? null, release);
    this.#releases.set(name, release);
    return wasUnreadable ? "spec" : change;
  }

  /** Takes that there is no release of a name, or one that cannot be read. */
  dropRelease(name: string, isUnreadable: boolean): void {
    this.#releases.delete(name);
    if (isUnreadable) this.#unreadableReleases.add(name);
    else this.#unreadableReleases.delete(name);
  }

  /** Devices in at least one of the groups, as the source said last. */
  devicesIn(groups: Iterable<string>): Set<string> {
    const ids = new Set<string>();
    for (const group of groups) for (const id of this.#byGroup.get(group) ?? []) ids.add(id);
    return ids;
  }

  #record(id: string): DeviceRecord {
    let record = this.#devices.get(id);
    if (record === undefined) {
      record = {
        id,
        device: null,
        deviceProblem: null,
        documents: {
          [BUCKETS.deviceInfo]: null,
          [BUCKETS.deviceHeartbeat]: null,
          [BUCKETS.upgradeIntent]: null,
          [BUCKETS.upgradeStatus]: null,
        },
        groups: null,
      };
      this.#devices.set(id, record);
    }
    return record;
  }

  #forgetIfEmpty(record: DeviceRecord): void {
    if (record.device !== null || record.deviceProblem !== null) return;
    if (DEVICE_BUCKETS.some((bucket) => record.documents[bucket] !== null)) return;
    this.#leaveGroups(record);
    this.#devices.delete(record.id);
  }

  #leaveGroups(record: DeviceRecord): void {
    for (const group of record.groups ?? []) {
      const members = this.#byGroup.get(group);
      members?.delete(record.id);
      if (members?.size === 0) this.#byGroup.delete(group);
    }
    record.groups = null;
  }
}

/** How a resource differs. Versions are opaque: equal ones are the same document, others say nothing of an order. */
export function resourceChange(
  before: ResourceOf[ResourceKind] | null,
  after: ResourceOf[ResourceKind],
): ResourceChange {
  if (before === null || before.metadata.uid !== after.metadata.uid) return "spec";
  if (before.metadata.resourceVersion === after.metadata.resourceVersion) return "none";
  if (before.metadata.generation !== after.metadata.generation) return "spec";
  return sameJson(before.metadata.labels ?? {}, after.metadata.labels ?? {}) ? "status" : "spec";
}
