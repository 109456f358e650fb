/**
 * A fleet in memory as `fleetctl` sees it: the embedded store and what devices report, over a {@link MemoryBroker}.
 *
 * @module
 */
import type { AgentReleaseSpec, AgentReleaseStatus } from "../../contracts/agent_release.ts";
import { BUCKET_SPECS, type BucketName, BUCKETS, deviceKey } from "../../contracts/buckets.ts";
import type { FleetDeploymentSpec, FleetDeploymentStatus } from "../../contracts/fleet_deployment.ts";
import type { Heartbeat } from "../../contracts/device.ts";
import type { DeviceStatus } from "../../contracts/device_resource.ts";
import { BusFleet } from "../../operator/cli/connection/open_fleet.ts";
import { EmbeddedStore, type EmbeddedStoreOptions } from "../../operator/stores/embedded.ts";
import type { ResourceInput, ResourceOf } from "../../operator/stores/port.ts";
import type { ResourceKind } from "../../contracts/resource.ts";
import type { KvBucket } from "../../lib/bus/port.ts";
import { MemoryBroker, type MemoryBus } from "./memory_bus.ts";
import { deployment, release } from "./operator_samples.ts";

/** The present of a {@link MemoryFleet} when it is made, in ms since the epoch. */
export const FLEET_NOW_MS = Date.parse("2026-06-01T12:00:00.000Z");

/** An RFC 3339 time before the fleet's present. */
export function ago(spanMs: number): string {
  return new Date(FLEET_NOW_MS - spanMs).toISOString();
}

/** Status of a healthy device, with changes. */
export function sampleDeviceStatus(changes: Partial<DeviceStatus> = {}): DeviceStatus {
  return {
    agentVersion: "1.0.0",
    form: "script",
    arch: "x86_64",
    os: { name: "Debian GNU/Linux", version: "12", kernel: "6.1.0-18" },
    updaterVersion: "1.0.0",
    capabilities: ["https"],
    liveness: "Online",
    livenessSince: ago(3_600_000),
    quarantined: false,
    failedIdentities: [],
    ...changes,
  };
}

/** Status of a release without targets, with changes. */
export function sampleReleaseStatus(changes: Partial<AgentReleaseStatus> = {}): AgentReleaseStatus {
  const counts = { targets: 0, current: 0, upgrading: 0, failed: 0, rolledBack: 0, quarantined: 0, lost: 0 };
  return { ...counts, ineligible: 0, ...changes };
}

/** A heartbeat, with changes. */
export function sampleHeartbeat(deviceId: string, changes: Partial<Heartbeat> = {}): Heartbeat {
  return {
    schema: 1,
    deviceId,
    agentVersion: "1.0.0",
    bootId: "b6d3a5ad-4b63-4d0e-9d3f-2f6a3d1c9b11",
    sequence: 431,
    at: ago(12_000),
    uptimeMs: 12_930_000,
    vitals: { freeBytes: { "/usr": 3_328_599_654, "/var": 12_884_901_888 } },
    ...changes,
  };
}

/** A fleet that a test fills. Its clock stands still; resources were made two hours ago. */
export class MemoryFleet {
  readonly bus: MemoryBus;
  readonly store: EmbeddedStore;
  readonly access: BusFleet;
  readonly #broker: MemoryBroker;
  /** Told of stored documents that cannot be read. */
  onMalformed: EmbeddedStoreOptions["onMalformed"];
  #receivedAtMs = FLEET_NOW_MS;

  private constructor(broker: MemoryBroker, bus: MemoryBus, resources: KvBucket) {
    let uids = 0;
    this.#broker = broker;
    this.bus = bus;
    this.store = new EmbeddedStore(resources, {
      nowMs: () => FLEET_NOW_MS - 7_200_000,
      onMalformed: (...args) => this.onMalformed?.(...args),
      newUid: () => `00000000-0000-4000-8000-${String(++uids).padStart(12, "0")}`,
    });
    this.access = new BusFleet(bus, this.store, () => FLEET_NOW_MS);
  }

  /** An empty fleet. */
  static async open(): Promise<MemoryFleet> {
    const clock: { fleet?: MemoryFleet } = {};
    const broker = new MemoryBroker(() => clock.fleet?.brokerNowMs ?? FLEET_NOW_MS);
    const bus = broker.connect({ nowMs: () => FLEET_NOW_MS });
    for (const spec of BUCKET_SPECS) broker.createBucket(spec, 10);
    const fleet = new MemoryFleet(broker, bus, await bus.bucket(BUCKETS.resources));
    clock.fleet = fleet;
    return fleet;
  }

  get brokerNowMs(): number {
    return this.#receivedAtMs;
  }

  /** Stores a device. */
  async device(
    name: string,
    groups: string[],
    status?: DeviceStatus,
    labels: Record<string, string> = {},
  ): Promise<void> {
    await this.#put("Device", { name, labels, spec: { groups } }, status);
  }

  /** Stores a release of version 1.1.0 for the group `edge`, with changes. */
  async release(name: string, changes: Partial<AgentReleaseSpec> = {}, status?: AgentReleaseStatus): Promise<void> {
    await this.#put("AgentRelease", { name, labels: {}, spec: release({ name, ...changes }).spec }, status);
  }

  /** Stores a deployment of one container for the group `edge`, with changes. */
  async deployment(
    name: string,
    changes: Partial<FleetDeploymentSpec> = {},
    status?: FleetDeploymentStatus,
  ): Promise<void> {
    await this.#put("FleetDeployment", { name, labels: {}, spec: deployment({ name, ...changes }).spec }, status);
  }

  /** UID of a deployment that was stored. */
  async uidOf(name: string): Promise<string> {
    return (await this.store.get("FleetDeployment", name))?.metadata.uid ?? "";
  }

  async #put<K extends ResourceKind>(
    kind: K,
    input: ResourceInput<K>,
    status?: ResourceOf[K]["status"],
  ): Promise<void> {
    const created = await this.store.create(kind, input);
    if (!created.ok) throw new Error(`Cannot make ${kind} ${input.name}: ${created.why}`);
    const version = created.resource?.metadata.resourceVersion ?? "";
    if (status !== undefined) await this.store.replaceStatus(kind, input.name, status, version);
  }

  /** Puts a document into a bucket as if the broker had received it before the present. */
  async report(name: BucketName, deviceId: string, document: unknown, agoMs: number): Promise<void> {
    await this.reportAt(name, deviceKey(deviceId), document, agoMs);
  }

  /** As {@link report}, under any key. */
  async reportAt(name: BucketName, key: string, document: unknown, agoMs: number): Promise<void> {
    this.#receivedAtMs = FLEET_NOW_MS - agoMs;
    try {
      await (await this.bus.bucket(name)).put(key, new TextEncoder().encode(JSON.stringify(document)));
    } finally {
      this.#receivedAtMs = FLEET_NOW_MS;
    }
  }

  /** Removes a bucket. */
  lose(name: BucketName): void {
    this.#broker.deleteBucket(name);
  }
}
