/**
 * The operator's writes, as a port: the real ones, and those of observe mode, which tells what it would write.
 *
 * @module
 */
import { AGENT_UPGRADE_SCHEMA, type AgentUpgradeAttempt } from "../../contracts/agent_upgrade.ts";
import type { AgentRelease, AgentReleaseStatus } from "../../contracts/agent_release.ts";
import { deviceKey } from "../../contracts/buckets.ts";
import { canonicalJson } from "../../contracts/canonical_json.ts";
import type { Device, DeviceStatus } from "../../contracts/device_resource.ts";
import type { KvBucket, WriteResult } from "../../lib/bus/port.ts";
import type { AttemptContent } from "../policy/attempt.ts";
import type { ResourceStore, StoreWrite } from "../stores/port.ts";
import { OBSERVED, type Observer } from "./observer.ts";

/** An attempt that was written. */
export interface WrittenAttempt {
  readonly attempt: AgentUpgradeAttempt;
  readonly result: WriteResult;
}

/** The operator's writes. Each is a compare-and-set; `observed` means that nothing was written, on purpose. */
export interface FleetWrites {
  /** Whether every write is only observed. */
  readonly observing: boolean;
  /** Creates a device without groups. */
  createDevice(id: string): Promise<StoreWrite<"Device"> | typeof OBSERVED>;
  /** Writes a new attempt over the intent of a revision; null for none. */
  writeAttempt(content: AttemptContent, revision: number | null): Promise<WrittenAttempt | typeof OBSERVED>;
  /** Deletes the intent of a revision. */
  withdrawAttempt(deviceId: string, revision: number): Promise<WriteResult | typeof OBSERVED>;
  writeDeviceStatus(device: Device, status: DeviceStatus): Promise<StoreWrite<"Device"> | typeof OBSERVED>;
  writeReleaseStatus(
    release: AgentRelease,
    status: AgentReleaseStatus,
  ): Promise<StoreWrite<"AgentRelease"> | typeof OBSERVED>;
}

/** Writes into the store and the intent bucket. */
export class StoreWrites implements FleetWrites {
  readonly observing = false;
  readonly #store: ResourceStore;
  readonly #intents: () => Promise<KvBucket>;
  readonly #newUuid: () => string;

  /**
   * @param store Resources
   * @param intents Binds the intent bucket
   * @param newUuid Makes the UUIDs of attempts. Default random ones
   */
  constructor(store: ResourceStore, intents: () => Promise<KvBucket>, newUuid = () => crypto.randomUUID() as string) {
    this.#store = store;
    this.#intents = intents;
    this.#newUuid = newUuid;
  }

  async createDevice(id: string): Promise<StoreWrite<"Device">> {
    // Without groups: visible, and placed nowhere until a person says so (DESIGN 3).
    return await this.#store.create("Device", { name: id, labels: {}, spec: { groups: [] } });
  }

  async writeAttempt(content: AttemptContent, revision: number | null): Promise<WrittenAttempt> {
    const attempt: AgentUpgradeAttempt = { schema: AGENT_UPGRADE_SCHEMA, attemptId: this.#newUuid(), ...content };
    const intents = await this.#intents();
    const key = deviceKey(content.deviceId);
    const value = new TextEncoder().encode(canonicalJson(attempt));
    const result = revision === null ? await intents.create(key, value) : await intents.update(key, value, revision);
    return { attempt, result };
  }

  async withdrawAttempt(deviceId: string, revision: number): Promise<WriteResult> {
    return await (await this.#intents()).delete(deviceKey(deviceId), revision);
  }

  async writeDeviceStatus({ metadata }: Device, status: DeviceStatus): Promise<StoreWrite<"Device">> {
    return await this.#store.replaceStatus("Device", metadata.name, status, metadata.resourceVersion);
  }

  async writeReleaseStatus(
    { metadata }: AgentRelease,
    status: AgentReleaseStatus,
  ): Promise<StoreWrite<"AgentRelease">> {
    return await this.#store.replaceStatus("AgentRelease", metadata.name, status, metadata.resourceVersion);
  }
}

/** Tells what it would write, once for each thing that it would write. */
export class ObservedWrites implements FleetWrites {
  readonly observing = true;
  readonly #observer: Observer;

  /** @param observer Takes what would be written */
  constructor(observer: Observer) {
    this.#observer = observer;
  }

  createDevice(id: string): Promise<typeof OBSERVED> {
    return this.#observer.tell("createDevice", id, {});
  }

  writeAttempt(content: AttemptContent, revision: number | null): Promise<typeof OBSERVED> {
    return this.#observer.tell("writeAttempt", content.deviceId, { overRevision: revision, attempt: content });
  }

  withdrawAttempt(deviceId: string, revision: number): Promise<typeof OBSERVED> {
    return this.#observer.tell("withdrawAttempt", deviceId, { revision });
  }

  writeDeviceStatus({ metadata }: Device, status: DeviceStatus): Promise<typeof OBSERVED> {
    return this.#observer.tell("writeDeviceStatus", metadata.name, { status });
  }

  writeReleaseStatus({ metadata }: AgentRelease, status: AgentReleaseStatus): Promise<typeof OBSERVED> {
    return this.#observer.tell("writeReleaseStatus", metadata.name, { status });
  }
}
