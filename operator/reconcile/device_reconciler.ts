/**
 * Reconciles one device: gathers what is known, plans (pure), applies.
 *
 * Guarantees: every write is a compare-and-set on what the plan looked at, so that any number of operators may run; a
 * failed identity is stored in the device's status before an attempt that would replace the status that told it.
 *
 * @module
 */
import { BUCKETS, deviceKey } from "../../contracts/buckets.ts";
import type { Device } from "../../contracts/device_resource.ts";
import { errorText } from "../../contracts/errors.ts";
import { bounded } from "../../contracts/formats.ts";
import { LOST_RACE_PAUSE_MS } from "../../contracts/limits.ts";
import type { KvBucket } from "../../lib/bus/port.ts";
import type { Logger } from "../../lib/log.ts";
import type { GroupSource } from "../groups/port.ts";
import type { AttemptContent } from "../policy/attempt.ts";
import { type DeviceFacts, type DevicePlan, planDevice } from "../policy/device_plan.ts";
import type { LivenessBounds } from "../policy/liveness.ts";
import type { WatchedTime } from "../runtime/broker_time.ts";
import type { WriteThrottle } from "../runtime/write_throttle.ts";
import type { ResourceStore } from "../stores/port.ts";
import { DEVICE_BUCKETS, type DeviceBucket, type HeldDocument, holdDocument } from "./bus_documents.ts";
import type { DeviceRecord, FleetView } from "./fleet_view.ts";
import type { FleetWrites } from "./fleet_writes.ts";
import type { Interner } from "./interner.ts";
import { OBSERVED } from "./observer.ts";

/** What the reconciler works with. */
export interface DeviceReconcilerOptions {
  readonly view: FleetView;
  readonly store: Pick<ResourceStore, "get">;
  readonly bucket: (name: DeviceBucket) => Promise<KvBucket>;
  readonly writes: FleetWrites;
  readonly groups: GroupSource;
  readonly time: WatchedTime;
  readonly throttle: WriteThrottle;
  readonly bounds: LivenessBounds;
  readonly interner: Interner;
  /** Told of releases whose figures have changed. */
  readonly onRelease: (name: string) => void;
  /** Told of a device whose resource is new, or has another spec or other labels, before the watch tells of it. */
  readonly onPlacement: (id: string) => void;
  readonly log: Logger;
}

/** Reconciles devices. */
export class DeviceReconciler {
  readonly #options: DeviceReconcilerOptions;

  constructor(options: DeviceReconcilerOptions) {
    this.#options = options;
  }

  /**
   * Reconciles a device.
   *
   * @param id Its id
   * @returns when to look again without an event, in ms from now; null for never
   * @throws {FleetError} when it must be tried again
   */
  async reconcile(id: string): Promise<number | null> {
    const record = this.#options.view.device(id);
    if (record === undefined || record.deviceProblem !== null) return null;
    const device = record.device ?? await this.#create(record);
    if (device === null) return null;
    const groups = await this.#groups(device);
    let plan = this.#plan(record.documents, device, groups);
    if (plan.attempt !== null || plan.withdraw) {
      const waitMs = plan.statusFirst ? await this.#writeStatus(device, plan) : null;
      if (waitMs !== null) return waitMs;
      // The status may have moved the device's version on.
      const newest = record.device ?? device;
      if (!await this.#changeIntent(record, newest, groups)) return LOST_RACE_PAUSE_MS;
      plan = this.#plan(record.documents, newest, groups);
      return await this.#finish(newest, plan, groups);
    }
    return await this.#finish(device, plan, groups);
  }

  /** Writes the status, and says when to look again. */
  async #finish(device: Device, plan: DevicePlan, groups: Groups): Promise<number | null> {
    const waitMs = plan.statusChanged ? await this.#writeStatus(device, plan) : null;
    // Only now: a group source that fails keeps a device from its release, not from being seen.
    if (groups.error !== undefined) throw groups.error;
    const { recheckAtMs } = plan;
    const untilMs = recheckAtMs === null ? null : Math.max(0, recheckAtMs - this.#options.time.nowMs());
    return waitMs === null || untilMs === null ? waitMs ?? untilMs : Math.min(waitMs, untilMs);
  }

  /** The first device info makes the resource; a resource that was deleted while its info is there is made again. */
  async #create(record: DeviceRecord): Promise<Device | null> {
    if (record.documents[BUCKETS.deviceInfo] === null) return null;
    const { log, store, writes } = this.#options;
    const written = await writes.createDevice(record.id);
    if (written === OBSERVED) return null;
    if (written.ok) log.info("device created", { device: record.id });
    const device = written.ok ? written.resource : await store.get("Device", record.id);
    if (device !== null) this.#putDevice(device);
    return device;
  }

  async #groups(device: Device): Promise<Groups> {
    const { groups, view } = this.#options;
    try {
      const names = await groups.groupsOf(device);
      view.putGroups(device.metadata.name, names);
      return { names };
    } catch (error) {
      return { names: null, error };
    }
  }

  #plan(documents: DeviceRecord["documents"], device: Device, groups: Groups): DevicePlan {
    const { bounds, time, view } = this.#options;
    const releases = { releases: view.releases, unreadable: view.unreadableReleases };
    return planDevice(deviceFacts(documents, device, groups, time), releases, bounds);
  }

  /**
   * Plans once more on what stands in the buckets now, and writes or withdraws the attempt if that is still due: watches
   * of different buckets do not keep step, and a decision must not rest on a status of now and an info of before.
   *
   * @returns false when the device must be looked at again first
   */
  async #changeIntent(record: DeviceRecord, device: Device, groups: Groups): Promise<boolean> {
    const documents = await this.#reread(record);
    const plan = this.#plan(documents, device, groups);
    const revision = documents[BUCKETS.upgradeIntent]?.revision ?? null;
    if (plan.withdraw && revision !== null) return await this.#withdraw(record.id, revision);
    if (plan.attempt === null) return true;
    // The device has just told a failure that must be remembered before it is overwritten.
    if (plan.statusFirst && !this.#options.writes.observing) return false;
    return await this.#writeAttempt(plan.attempt, revision, plan.releaseName);
  }

  async #withdraw(deviceId: string, revision: number): Promise<boolean> {
    const { log, view, writes } = this.#options;
    const result = await writes.withdrawAttempt(deviceId, revision);
    if (result === OBSERVED) return true;
    if (!result.ok) return false;
    log.info("attempt withdrawn", { device: deviceId });
    view.putDocument(BUCKETS.upgradeIntent, deviceId, null);
    return true;
  }

  async #writeAttempt(content: AttemptContent, over: number | null, release: string | undefined): Promise<boolean> {
    const { log, time, view, writes } = this.#options;
    const written = await writes.writeAttempt(content, over);
    if (written === OBSERVED) return true;
    const { attempt: { attemptId, artifact, deviceId, targetVersion }, result } = written;
    if (!result.ok) return false;
    log.info("attempt written", { device: deviceId, release, version: targetVersion, attempt: attemptId });
    const { releaseIdentity } = content;
    view.putDocument(BUCKETS.upgradeIntent, deviceId, {
      revision: result.revision,
      receivedAtMs: time.nowMs(),
      value: { attemptId, targetVersion, artifactSha256: artifact.sha256, releaseIdentity },
    });
    return true;
  }

  /** The documents as they stand now. The view itself only ever takes what the watches tell, in their order. */
  async #reread(record: DeviceRecord): Promise<DeviceRecord["documents"]> {
    const { bucket, interner } = this.#options;
    const read = async <B extends DeviceBucket>(name: B): Promise<HeldDocument<B> | null> => {
      const entry = await (await bucket(name)).get(deviceKey(record.id));
      return entry === null ? null : holdDocument(name, entry, interner);
    };
    // The status first: a device writes its info before a status that follows from it.
    const status = await read(BUCKETS.upgradeStatus);
    const info = await read(BUCKETS.deviceInfo);
    const intent = await read(BUCKETS.upgradeIntent);
    return {
      ...record.documents,
      [BUCKETS.upgradeStatus]: status,
      [BUCKETS.deviceInfo]: info,
      [BUCKETS.upgradeIntent]: intent,
    };
  }

  /**
   * Writes the status if its turn has come.
   *
   * @returns how long to wait when it has not, or when somebody else was faster; null when it is written
   */
  async #writeStatus(device: Device, plan: DevicePlan): Promise<number | null> {
    const { store, throttle, view, writes } = this.#options;
    const { name } = device.metadata;
    const waitMs = throttle.waitMs(name);
    if (waitMs > 0) return waitMs;
    throttle.mark(name);
    const written = await writes.writeDeviceStatus(device, plan.status);
    if (written === OBSERVED) return null;
    const newest = written.ok ? written.resource : await store.get("Device", name);
    if (newest === null) this.#tell(view.dropDevice(name, null));
    else this.#putDevice(newest);
    return written.ok ? null : throttle.waitMs(name);
  }

  #putDevice(device: Device): void {
    const { change, releases } = this.#options.view.putDevice(device);
    this.#tell(releases);
    if (change === "spec") this.#options.onPlacement(device.metadata.name);
  }

  #tell(releases: readonly string[]): void {
    for (const name of releases) this.#options.onRelease(name);
  }
}

/** What the group source answered: names, or an error. */
interface Groups {
  readonly names: readonly string[] | null;
  readonly error?: unknown;
}

/** What the plan looks at, of what is known. */
function deviceFacts(
  documents: DeviceRecord["documents"],
  device: Device,
  groups: Groups,
  time: WatchedTime,
): DeviceFacts {
  const info = documents[BUCKETS.deviceInfo];
  const heartbeat = documents[BUCKETS.deviceHeartbeat];
  const intent = documents[BUCKETS.upgradeIntent];
  const malformed = DEVICE_BUCKETS.flatMap((bucket) => {
    const problem = documents[bucket]?.problem;
    return problem === undefined ? [] : [`${bucket}: ${problem}`];
  });
  return {
    nowMs: time.nowMs(),
    watchedSinceMs: time.watchedSinceMs,
    device,
    info: info?.value ?? null,
    // A heartbeat that cannot be read still says that the device lives.
    heartbeat: heartbeat === null ? null : { ...heartbeat.value, receivedAtMs: heartbeat.receivedAtMs },
    intent: intent === null ? null : { revision: intent.revision, attempt: intent.value },
    upgrade: documents[BUCKETS.upgradeStatus]?.value ?? null,
    malformed,
    groups: groups.names,
    ...(groups.error === undefined ? {} : { groupsProblem: bounded(errorText(groups.error)) }),
  };
}
