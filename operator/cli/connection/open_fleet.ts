/**
 * A fleet over a connection to NATS.
 *
 * @module
 */
import {
  type AgentUpgradeAttempt,
  agentUpgradeAttempt,
  type AgentUpgradeStatus,
  agentUpgradeStatus,
} from "../../../contracts/agent_upgrade.ts";
import { type BucketName, BUCKETS, deploymentStatusFilter, deviceKey } from "../../../contracts/buckets.ts";
import type { Decoder } from "../../../contracts/codec.ts";
import { type Heartbeat, heartbeat } from "../../../contracts/device.ts";
import { errorText, isFleetError } from "../../../contracts/errors.ts";
import {
  ATTEMPT_MAX_BYTES,
  DEVICE_DOCUMENT_MAX_BYTES,
  NATS_REQUEST_TIMEOUT_MS,
  STATUS_MAX_BYTES,
} from "../../../contracts/limits.ts";
import { connectBus } from "../../../lib/bus/connect.ts";
import type { Bus } from "../../../lib/bus/port.ts";
import { EmbeddedStore, type EmbeddedStoreOptions } from "../../stores/embedded.ts";
import type { ResourceStore } from "../../stores/port.ts";
import type { DeploymentsOnDevices, FleetAccess, HeartbeatTimes, Reported, TaskOnDevices } from "../fleet_access.ts";
import type { ConnectionSettings } from "./connection_settings.ts";
import { readDeployments } from "./read_deployments.ts";
import { readReported } from "./read_reported.ts";
import { readTask } from "./read_tasks.ts";

/** Told of each stored document that cannot be read. */
export type OnMalformed = NonNullable<EmbeddedStoreOptions["onMalformed"]>;

/**
 * Connects to NATS and opens the resource store.
 *
 * @param settings Servers and login
 * @param onMalformed Told of each stored resource that cannot be read
 * @throws {FleetError} `E_BUS_UNREACHABLE`, `E_BUS_AUTH`, `E_BUS_NO_BUCKET` when the operator has never run
 */
export async function openFleet(settings: ConnectionSettings, onMalformed: OnMalformed): Promise<FleetAccess> {
  const { servers, auth, caFile, timeoutMs } = settings;
  const bus = await connectBus({
    servers,
    name: "fleetctl",
    auth,
    ...(caFile === undefined ? {} : { tls: { caFile } }),
    bounds: {
      // Each server gets its share, so that the whole takes no longer than a person was promised.
      connectTimeoutMs: Math.ceil(timeoutMs / servers.length),
      requestTimeoutMs: Math.min(timeoutMs, NATS_REQUEST_TIMEOUT_MS),
    },
  });
  try {
    // The deadline of a run counts from its creation, which is told by the broker's clock, not by this machine's.
    const skewMs = await bus.clockSkewMs() ?? 0;
    const nowMs = () => Date.now() - skewMs;
    return new BusFleet(bus, new EmbeddedStore(await bus.bucket(BUCKETS.resources), { onMalformed, nowMs }));
  } catch (error) {
    await bus.close();
    throw error;
  }
}

/** A fleet whose resources stand in the embedded store. */
export class BusFleet implements FleetAccess {
  readonly store: ResourceStore;
  readonly #bus: Bus;
  readonly #localNowMs: () => number;
  #skewMs: number | null | undefined;

  /**
   * @param bus An open connection
   * @param store The resources
   * @param localNowMs The local clock, in ms since the epoch. Default the system's
   */
  constructor(bus: Bus, store: ResourceStore, localNowMs: () => number = Date.now) {
    this.#bus = bus;
    this.store = store;
    this.#localNowMs = localNowMs;
  }

  async nowMs(): Promise<number> {
    if (this.#skewMs === undefined) this.#skewMs = await this.#bus.clockSkewMs();
    return this.#localNowMs() - (this.#skewMs ?? 0);
  }

  heartbeat(deviceId: string): Promise<Reported<Heartbeat>> {
    return this.#read(BUCKETS.deviceHeartbeat, deviceId, heartbeat, DEVICE_DOCUMENT_MAX_BYTES);
  }

  upgradeStatus(deviceId: string): Promise<Reported<AgentUpgradeStatus>> {
    return this.#read(BUCKETS.upgradeStatus, deviceId, agentUpgradeStatus, STATUS_MAX_BYTES);
  }

  upgradeIntent(deviceId: string): Promise<Reported<AgentUpgradeAttempt>> {
    return this.#read(BUCKETS.upgradeIntent, deviceId, agentUpgradeAttempt, ATTEMPT_MAX_BYTES);
  }

  async deployments(
    of: { readonly deploymentId: string } | { readonly deviceId: string },
  ): Promise<DeploymentsOnDevices> {
    const filter = "deviceId" in of ? deploymentStatusFilter(of.deviceId) : `*.${of.deploymentId}`;
    try {
      return { found: await readDeployments(this.#bus, filter) };
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      return { found: [], problem: errorText(error) };
    }
  }

  async task(runId: string): Promise<TaskOnDevices> {
    try {
      return await readTask(this.#bus, runId);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      return { plan: null, found: new Map(), problem: errorText(error) };
    }
  }

  async heartbeatTimes(deviceIds: readonly string[] | null): Promise<HeartbeatTimes> {
    const receivedAtMs = new Map<string, number>();
    try {
      const bucket = await this.#bus.bucket(BUCKETS.deviceHeartbeat);
      if (deviceIds === null) {
        await bucket.snapshot("*", (entry) => {
          if (entry.deleted) receivedAtMs.delete(entry.key);
          else receivedAtMs.set(entry.key, entry.receivedAtMs);
        });
      } else {
        for (const deviceId of deviceIds) {
          const entry = await bucket.get(deviceKey(deviceId));
          if (entry !== null) receivedAtMs.set(deviceId, entry.receivedAtMs);
        }
      }
      return { receivedAtMs };
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      return { receivedAtMs, problem: errorText(error) };
    }
  }

  onConnection(listener: (connected: boolean) => void): () => void {
    return this.#bus.onStatus((status) => {
      if (status.kind === "connected") listener(true);
      else if (status.kind === "disconnected") listener(false);
    });
  }

  close(): Promise<void> {
    return this.#bus.close();
  }

  async #read<T>(name: BucketName, deviceId: string, decoder: Decoder<T>, maxBytes: number): Promise<Reported<T>> {
    try {
      const entry = await (await this.#bus.bucket(name)).get(deviceKey(deviceId));
      if (entry === null) return { kind: "absent" };
      return readReported(entry, decoder, maxBytes);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      return { kind: "unavailable", problem: errorText(error) };
    }
  }
}

function isUnavailable(error: unknown): boolean {
  return isFleetError(error, "E_BUS_NO_BUCKET") || isFleetError(error, "E_BUS_AUTH");
}
