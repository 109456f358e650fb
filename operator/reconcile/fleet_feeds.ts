/**
 * Brings what the watches tell into the view, and says what must be looked at again for it.
 *
 * Heartbeats are the bulk of all events, so one that says nothing new only moves its time. What another operator wrote
 * is answered after a pause: it may have seen more.
 *
 * @module
 */
import type { AgentRelease } from "../../contracts/agent_release.ts";
import { BUCKETS } from "../../contracts/buckets.ts";
import { FleetError } from "../../contracts/errors.ts";
import { deviceId } from "../../contracts/formats.ts";
import type { BusEntry, WatchEvent } from "../../lib/bus/port.ts";
import type { Logger } from "../../lib/log.ts";
import type { StoreEvent } from "../stores/port.ts";
import { type DeviceBucket, type HeldDocument, holdDocument } from "./bus_documents.ts";
import type { DeviceRecord, FleetView } from "./fleet_view.ts";
import type { Interner } from "./interner.ts";

/** Who is told what to look at. */
export interface LookAgain {
  device(id: string): void;
  deviceLater(id: string): void;
  /** Where a device stands, or whether there is one, has changed: what is placed on it must be looked at. */
  placement(id: string): void;
  release(name: string): void;
  releaseLater(name: string): void;
}

/** What the feeds work with. */
export interface FleetFeedsOptions {
  readonly view: FleetView;
  readonly interner: Interner;
  readonly look: LookAgain;
  readonly log: Logger;
}

/** Takes the events of every watch. */
export class FleetFeeds {
  readonly #options: FleetFeedsOptions;
  /** Names that came since a watch began again; absent for a watch that goes on. */
  readonly #replays = new Map<DeviceBucket | "Device" | "AgentRelease", Set<string>>();
  #malformed = 0;

  constructor(options: FleetFeedsOptions) {
    this.#options = options;
  }

  /** Documents that came and could not be read, since the start. */
  get malformed(): number {
    return this.#malformed;
  }

  /** A watch begins again: everything that is there follows, and what does not come by `current` is gone. */
  restart(source: DeviceBucket | "Device" | "AgentRelease"): void {
    this.#replays.set(source, new Set());
  }

  /** Takes an event of a device bucket. */
  takeDocument(bucket: DeviceBucket, event: WatchEvent): void {
    if (event.kind === "restarted") return this.restart(bucket);
    if (event.kind === "current") return this.#endDocumentReplay(bucket);
    const { entry } = event;
    const { view } = this.#options;
    if (!this.#isDeviceKey(bucket, entry)) return;
    if (entry.deleted) {
      return this.#dropDocument(bucket, entry.key);
    }
    this.#replays.get(bucket)?.add(entry.key);
    const before = view.device(entry.key)?.documents[bucket];
    if (before?.revision === entry.revision && before.receivedAtMs === entry.receivedAtMs) return;
    this.#putDocument(bucket, entry);
  }

  /** Takes an event of the devices' resources. */
  takeDevice(event: StoreEvent<"Device">): void {
    const { look, view } = this.#options;
    switch (event.kind) {
      case "current":
        return this.#endResourceReplay("Device");
      case "delete":
        if (event.vanished !== true) view.markDeleted(event.name);
        return this.#dropDevice(event.name);
      case "malformed":
        this.#replays.get("Device")?.add(event.name);
        this.#tellMalformed("fleet-resources", event.name, event.problem);
        view.dropDevice(event.name, event.problem);
        return;
      case "put": {
        const { name } = event.resource.metadata;
        this.#replays.get("Device")?.add(name);
        const { change, releases } = view.putDevice(event.resource);
        for (const release of releases) look.release(release);
        if (change === "status") return look.deviceLater(name);
        if (change === "none") return;
        look.device(name);
        look.placement(name);
      }
    }
  }

  /** Takes an event of the releases. */
  takeRelease(event: StoreEvent<"AgentRelease">): void {
    const { look, view } = this.#options;
    switch (event.kind) {
      case "current":
        return this.#endResourceReplay("AgentRelease");
      case "delete":
        return this.#dropRelease(event.name, false);
      case "malformed":
        this.#replays.get("AgentRelease")?.add(event.name);
        this.#tellMalformed("fleet-resources", event.name, event.problem);
        return this.#dropRelease(event.name, true);
      case "put": {
        const { name } = event.resource.metadata;
        this.#replays.get("AgentRelease")?.add(name);
        const wasUnreadable = view.unreadableReleases.has(name);
        const before = view.release(name);
        const change = view.putRelease(event.resource);
        if (change === "status") look.releaseLater(name);
        if (change !== "spec") return;
        look.release(name);
        this.#lookAtDevicesOf(before, event.resource);
        if (wasUnreadable) this.#lookAtHeldDevices(name);
      }
    }
  }

  #putDocument<B extends DeviceBucket>(bucket: B, entry: BusEntry): void {
    const { interner, look, view } = this.#options;
    const before = view.device(entry.key);
    const heartbeat = before?.documents[BUCKETS.deviceHeartbeat] ?? null;
    const document = holdDocument(bucket, entry, interner);
    view.putDocument(bucket, entry.key, document);
    if (document.problem !== undefined) this.#tellMalformed(bucket, entry.key, document.problem);
    if (bucket !== BUCKETS.deviceHeartbeat || saysNews(before, heartbeat, document)) look.device(entry.key);
  }

  #isDeviceKey(bucket: DeviceBucket, { key }: BusEntry): boolean {
    try {
      deviceId(key, "key");
      return true;
    } catch (error) {
      if (!(error instanceof FleetError)) throw error;
      this.#tellMalformed(bucket, key, error.message);
      return false;
    }
  }

  #tellMalformed(bucket: string, key: string, problem: string): void {
    this.#malformed++;
    const fields = { bucket, key: key.slice(0, 128), problem };
    // Once per document and problem: a state that stays is not said again.
    this.#options.log.state(`malformed ${bucket}/${fields.key}`, "a document cannot be read", fields, "warn");
  }

  #endDocumentReplay(bucket: DeviceBucket): void {
    const seen = this.#replays.get(bucket);
    if (seen === undefined) return;
    this.#replays.delete(bucket);
    const { view } = this.#options;
    for (const id of [...view.deviceIds]) {
      if (seen.has(id) || view.device(id)?.documents[bucket] === null) continue;
      this.#dropDocument(bucket, id);
    }
  }

  #dropDocument(bucket: DeviceBucket, id: string): void {
    const { look, view } = this.#options;
    view.putDocument(bucket, id, null);
    look.device(id);
    // A device without info is gone once its resource is deleted.
    if (bucket === BUCKETS.deviceInfo) look.placement(id);
  }

  #endResourceReplay(kind: "Device" | "AgentRelease"): void {
    const seen = this.#replays.get(kind);
    if (seen === undefined) return;
    this.#replays.delete(kind);
    const { view } = this.#options;
    if (kind === "AgentRelease") {
      const known = [...view.releases].map(({ metadata }) => metadata.name);
      for (const name of [...known, ...view.unreadableReleases]) if (!seen.has(name)) this.#dropRelease(name, false);
      return;
    }
    for (const id of [...view.deviceIds]) {
      const record = view.device(id);
      const has = record !== undefined && (record.device !== null || record.deviceProblem !== null);
      if (has && !seen.has(id)) this.#dropDevice(id);
    }
  }

  #dropDevice(id: string): void {
    const { look, view } = this.#options;
    for (const release of view.dropDevice(id, null)) look.release(release);
    look.device(id);
    look.placement(id);
  }

  #dropRelease(name: string, isUnreadable: boolean): void {
    const { view } = this.#options;
    const before = view.release(name);
    const wasUnreadable = view.unreadableReleases.has(name);
    view.dropRelease(name, isUnreadable);
    this.#lookAtDevicesOf(before);
    if (wasUnreadable && !isUnreadable) this.#lookAtHeldDevices(name);
  }

  #lookAtDevicesOf(...releases: (AgentRelease | undefined)[]): void {
    const { look, view } = this.#options;
    const groups = releases.flatMap((release) => release?.spec.allowedGroups ?? []);
    for (const id of view.devicesIn(groups)) look.device(id);
  }

  /** Devices that waited for an unreadable release; its groups are not known, so all are asked. */
  #lookAtHeldDevices(name: string): void {
    const { look, view } = this.#options;
    for (const id of view.deviceIds) if (view.device(id)?.device?.status?.desiredRelease === name) look.device(id);
  }
}

/** Whether a heartbeat changes anything that the device's status shows. */
function saysNews(
  record: DeviceRecord | undefined,
  before: HeldDocument<typeof BUCKETS.deviceHeartbeat> | null,
  after: HeldDocument<DeviceBucket>,
): boolean {
  if (record === undefined || record.device === null) return false;
  if (record.device.status?.liveness !== "Online" || before === null || before.problem !== after.problem) return true;
  // Most say nothing, and share one value for that.
  return before.value !== after.value && JSON.stringify(before.value) !== JSON.stringify(after.value);
}
