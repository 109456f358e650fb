/**
 * A broker, operators and scripted devices for the tests of the operator.
 *
 * @module
 */
import type { AgentReleaseSpec, AgentReleaseStatus } from "../../../contracts/agent_release.ts";
import { type AgentUpgradeAttempt, agentUpgradeAttempt } from "../../../contracts/agent_upgrade.ts";
import {
  BUCKET_SPECS,
  type BucketName,
  BUCKETS,
  desiredStateFilter,
  generationKey,
} from "../../../contracts/buckets.ts";
import { decodeBytes } from "../../../contracts/codec.ts";
import type { Device } from "../../../contracts/device_resource.ts";
import { isFleetError } from "../../../contracts/errors.ts";
import type { FleetDeploymentSpec, FleetDeploymentStatus } from "../../../contracts/fleet_deployment.ts";
import type { ResourceKind } from "../../../contracts/resource.ts";
import type { Bus, BusAdmin } from "../../../lib/bus/port.ts";
import { snapshotMap } from "../../../lib/bus/snapshot_map.ts";
import { createLogger } from "../../../lib/log.ts";
import { deviceSpecGroups } from "../../../operator/groups/device_spec_groups.ts";
import { Operator, type OperatorOptions } from "../../../operator/operator.ts";
import { StoredDeploymentWrites } from "../../../operator/reconcile/deployment_writes.ts";
import { StoreWrites } from "../../../operator/reconcile/fleet_writes.ts";
import { EmbeddedStore } from "../../../operator/stores/embedded.ts";
import type { ResourceOf } from "../../../operator/stores/port.ts";
import { StoredTaskWrites } from "../../../operator/tasks/task_writes.ts";
import { DyingBus } from "../../fakes/dying_bus.ts";
import { deployment, release } from "../../fakes/operator_samples.ts";
import { type DeviceScript, ScriptedDevice } from "../../fakes/scripted_device.ts";
import { ScriptedWorkloads, type WorkloadScript } from "../../fakes/scripted_workloads.ts";
import { waitUntil } from "../../nats/wait_until.ts";

/** Makes connections to one broker. */
export interface BrokerAccess {
  connect(): Promise<Bus & BusAdmin>;
  close(): Promise<void>;
}

/** Times that suit a test. */
export const TEST_BOUNDS = { heartbeatIntervalMs: 100, staleAfterMs: 1_000, lostAfterMs: 1_500 };

/** A fleet under test. Its end ends everything that it started. */
export class OperatorWorld {
  readonly bus: Bus & BusAdmin;
  readonly store: EmbeddedStore;
  readonly devices = new Map<string, ScriptedDevice>();
  readonly operators: Operator[] = [];
  /** What the operators logged. */
  readonly lines: string[] = [];
  readonly #broker: BrokerAccess;
  readonly #ending = new AbortController();
  readonly #running: Promise<void>[] = [];

  private constructor(broker: BrokerAccess, bus: Bus & BusAdmin, store: EmbeddedStore) {
    this.#broker = broker;
    this.bus = bus;
    this.store = store;
  }

  /** A broker with its buckets. */
  static async open(broker: BrokerAccess): Promise<OperatorWorld> {
    const bus = await broker.connect();
    await bus.ensureBuckets(BUCKET_SPECS, 1_000, 1);
    return new OperatorWorld(broker, bus, new EmbeddedStore(await bus.bucket(BUCKETS.resources)));
  }

  /** A connection of its own; whoever asks for it closes it. */
  connect(): Promise<Bus & BusAdmin> {
    return this.#broker.connect();
  }

  /** Starts an operator on a connection of its own; the returned function stops it alone. */
  async operator(changes: Partial<OperatorOptions> = {}): Promise<() => Promise<void>> {
    const bus = await this.#broker.connect();
    const store = new EmbeddedStore(await bus.bucket(BUCKETS.resources));
    const stopping = new AbortController();
    const operator = new Operator({
      bus,
      admin: bus,
      buckets: { specs: BUCKET_SPECS, fleetSize: 1_000, replicas: 1 },
      store,
      writes: new StoreWrites(store, () => bus.bucket(BUCKETS.upgradeIntent)),
      deploymentWrites: new StoredDeploymentWrites(store, (name) => bus.bucket(name)),
      taskWrites: new StoredTaskWrites(store, (name) => bus.bucket(name)),
      groups: deviceSpecGroups,
      bounds: TEST_BOUNDS,
      statusWriteIntervalMs: 20,
      foreignWriteSettleMs: 100,
      log: createLogger({ sink: (line) => this.lines.push(line), format: "json", level: "debug" }),
      ...changes,
    });
    this.operators.push(operator);
    const running = operator.run(stopping.signal).finally(() => bus.close());
    const onEnd = () => stopping.abort();
    this.#ending.signal.addEventListener("abort", onEnd, { once: true });
    this.#running.push(running);
    return async () => {
      stopping.abort();
      await running;
    };
  }

  /** Starts an operator that dies at its n-th write. @returns its bus, which says when it is dead, and how to stop it */
  async doomedOperator(nth: number, isApplied: boolean): Promise<{ bus: DyingBus; stop: () => Promise<void> }> {
    const bus = new DyingBus(await this.#broker.connect(), nth, isApplied);
    const store = new EmbeddedStore(await bus.bucket(BUCKETS.resources));
    this.#ending.signal.addEventListener("abort", () => void bus.close(), { once: true });
    const stop = await this.operator({
      bus,
      store,
      writes: new StoreWrites(store, () => bus.bucket(BUCKETS.upgradeIntent)),
      deploymentWrites: new StoredDeploymentWrites(store, (name) => bus.bucket(name)),
    });
    return {
      bus,
      stop: async () => {
        // What it still waits for ends with the connection.
        await bus.close();
        await stop();
      },
    };
  }

  /** Starts a device. */
  device(id: string, script: DeviceScript = {}): ScriptedDevice {
    const device = new ScriptedDevice(this.bus, id, script);
    this.run(device);
    return device;
  }

  /** Starts a device that a test has made. */
  run(device: ScriptedDevice): void {
    this.devices.set(device.id, device);
    this.#running.push(device.run(this.#ending.signal));
  }

  /** Puts a device into groups, once the operator has made its resource. */
  async groups(id: string, groups: string[], labels: Record<string, string> = {}): Promise<void> {
    await waitUntil(`device ${id} in groups`, async () => {
      const device = await this.store.get("Device", id);
      if (device === null) return false;
      const input = { name: id, labels, spec: { groups } };
      return (await this.store.replace("Device", input, device.metadata.resourceVersion)).ok;
    });
  }

  /** Creates or replaces a release of version 1.1.0 for the group `edge`. */
  async release(name: string, changes: Partial<AgentReleaseSpec> = {}): Promise<void> {
    const input = { name, labels: {}, spec: release({ name, ...changes }).spec };
    await waitUntil(`release ${name}`, async () => {
      const present = await this.store.get("AgentRelease", name);
      if (present === null) return (await this.store.create("AgentRelease", input)).ok;
      return (await this.store.replace("AgentRelease", input, present.metadata.resourceVersion)).ok;
    });
  }

  /** Starts the part of a device that runs deployments. */
  workloads(id: string, script: WorkloadScript = {}): ScriptedWorkloads {
    const workloads = new ScriptedWorkloads(this.bus, id, script);
    this.#running.push(workloads.run(this.#ending.signal));
    return workloads;
  }

  /** Creates or replaces a deployment for the group `edge`. */
  async deployment(name: string, changes: Partial<FleetDeploymentSpec> = {}): Promise<void> {
    const input = { name, labels: {}, spec: deployment({ name, ...changes }).spec };
    await waitUntil(`deployment ${name}`, async () => {
      const present = await this.store.get("FleetDeployment", name);
      if (present === null) return (await this.store.create("FleetDeployment", input)).ok;
      return (await this.store.replace("FleetDeployment", input, present.metadata.resourceVersion)).ok;
    });
  }

  /** Waits until a deployment has figures. */
  async untilDeployment(
    name: string,
    figures: Partial<FleetDeploymentStatus>,
    timeoutMs?: number,
  ): Promise<void> {
    await this.until("FleetDeployment", name, (resource) => hasFigures(resource.status, figures), timeoutMs);
  }

  /** What a device is told, as `name generation` in order of name, and the count of its generation; null without one. */
  async told(id: string): Promise<{ entries: string[]; count: number | null }> {
    const entries: string[] = [];
    let count: number | null = null;
    const bucket = await this.bus.bucket(BUCKETS.desiredState);
    for (const { key, value } of (await snapshotMap(bucket, desiredStateFilter(id))).values()) {
      const document = JSON.parse(new TextDecoder().decode(value));
      if (key === generationKey(id)) count = document.entries;
      else entries.push(`${document.name} ${document.generation}`);
    }
    return { entries: entries.sort(), count };
  }

  /** Whether a device is told exactly this, by entries that its generation counts. */
  async isTold(id: string, entries: readonly string[]): Promise<boolean> {
    return isTold(await this.told(id), entries);
  }

  /** Waits until a device is told exactly this, by entries that its generation counts. */
  async untilTold(id: string, entries: readonly string[], timeoutMs?: number): Promise<void> {
    let last: unknown = null;
    try {
      await waitUntil(`what ${id} is told`, async () => {
        const told = last = await patiently(() => this.told(id));
        return told !== null && isTold(told, entries);
      }, timeoutMs);
    } catch (error) {
      throw new Error(`${id} is told ${JSON.stringify(last)}, not ${JSON.stringify(entries)}`, { cause: error });
    }
  }

  /** Waits until a resource is as a test wants it. */
  async until<K extends ResourceKind>(
    kind: K,
    name: string,
    condition: (resource: ResourceOf[K]) => boolean,
    timeoutMs?: number,
  ): Promise<ResourceOf[K]> {
    let last: unknown = null;
    try {
      return await waitUntil(`${kind} ${name}`, async () => {
        const resource = await patiently(() => this.store.get(kind, name));
        last = resource;
        return resource !== null && condition(resource) ? resource : null;
      }, timeoutMs) as ResourceOf[K];
    } catch (error) {
      throw new Error(`${kind} ${name} stays ${JSON.stringify(last)}`, { cause: error });
    }
  }

  /** Waits until a device stands where a test wants it. */
  untilDevice(id: string, condition: (status: NonNullable<Device["status"]>) => boolean): Promise<Device> {
    return this.until("Device", id, ({ status }) => status !== undefined && condition(status));
  }

  /** Waits until a release has figures. */
  async untilRelease(name: string, figures: Partial<AgentReleaseStatus>): Promise<void> {
    await this.until("AgentRelease", name, ({ status }) => hasFigures(status, figures));
  }

  /** The attempt that stands in a device's intent key. */
  async intent(id: string): Promise<AgentUpgradeAttempt | null> {
    const entry = await (await this.bus.bucket(BUCKETS.upgradeIntent)).get(id);
    return entry === null ? null : decodeBytes(agentUpgradeAttempt, entry.value, 100_000);
  }

  /** Newest revision of a bucket: it moves with every write. */
  async revision(name: BucketName): Promise<number> {
    return await waitUntil(`a snapshot of ${name}`, () =>
      patiently(async () => {
        let last = 0;
        await (await this.bus.bucket(name)).snapshot(">", ({ revision }) => last = Math.max(last, revision));
        return last;
      }));
  }

  /** Waits until nothing has been written into the operator's buckets for a time. */
  async rest(quietMs = 500, timeoutMs = 20_000): Promise<void> {
    const buckets = [BUCKETS.resources, BUCKETS.upgradeIntent, BUCKETS.desiredState];
    const read = async () => (await Promise.all(buckets.map((name) => this.revision(name)))).join();
    let last = await read();
    let sinceMs = performance.now();
    await waitUntil("rest", async () => {
      const next = await read();
      if (next !== last) [last, sinceMs] = [next, performance.now()];
      return performance.now() - sinceMs > quietMs;
    }, timeoutMs);
  }

  /** Ends everything. */
  async close(): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#running);
    await this.bus.close();
    await this.#broker.close();
  }
}

/** A device that never had a deployment has no generation either. */
function isTold(told: { entries: string[]; count: number | null }, entries: readonly string[]): boolean {
  return (told.count ?? 0) === entries.length && told.entries.join() === entries.join();
}

function hasFigures<T extends object>(status: T | undefined, figures: Partial<T>): boolean {
  return status !== undefined &&
    Object.entries(figures).every(([figure, value]) => status[figure as keyof T] === value);
}

/** What is read, or null while the broker is away. */
async function patiently<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (isFleetError(error) && error.code.startsWith("E_BUS_")) return null;
    throw error;
  }
}
