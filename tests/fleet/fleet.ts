/**
 * A whole fleet on this machine: a real nats-server with the accounts of a fleet, an HTTPS host for artifacts, and
 * devices with the real updater and agent as processes. The operator is started where a test asks for it.
 *
 * @module
 */
import {
  type AgentUpgradeAttempt,
  type AgentUpgradeStatus,
  agentUpgradeStatus,
} from "../../contracts/agent_upgrade.ts";
import { BUCKET_SPECS, BUCKETS, deviceKey } from "../../contracts/buckets.ts";
import { decodeBytes } from "../../contracts/codec.ts";
import { isFleetError } from "../../contracts/errors.ts";
import { STATUS_MAX_BYTES } from "../../contracts/limits.ts";
import { buildScript, type BuiltScript } from "../../build/script_form.ts";
import { type NatsServer, startNatsServer } from "../nats/nats_server.ts";
import { fleetAccountsConfig } from "../nats/server_config.ts";
import { openTestBus, type TestBus } from "../nats/test_bus.ts";
import { waitUntil } from "../nats/wait_until.ts";
import { type ArtifactHost, startArtifactHost } from "../tls/artifact_host.ts";
import { createTestAuthority } from "../tls/test_authority.ts";
import { type AgentBuild, buildAgent } from "./agent_builds.ts";
import { FleetDevice } from "./fleet_device.ts";

/** Times of the agents: the product's own, lowered so that a test need not wait for them. */
export const FAST_AGENT = {
  heartbeatIntervalMs: 1_000,
  natsReconnectMinMs: 50,
  natsReconnectMaxMs: 500,
  startupRetryMs: 100,
  updaterPollActiveMs: 100,
  updaterPollIdleMs: 300,
  intentRecheckMs: 300,
} as const;

/** Times of the updaters, lowered likewise. */
export const FAST_UPDATER = {
  startTimeoutMs: 10_000,
  stopTimeoutMs: 5_000,
  restartDelayMs: 200,
  rollbackRetryMinMs: 100,
  rollbackRetryMaxMs: 500,
} as const;

/** What a fleet is made of. */
export interface FleetOptions {
  readonly deviceIds: readonly string[];
  /** Devices that are set up elsewhere, such as in the lab: they have accounts, and nothing else here. */
  readonly foreignDeviceIds?: readonly string[];
  /** Version of the agent that the devices begin with. Default `1.0.0` */
  readonly baseline?: string;
  readonly agentBounds?: Readonly<Record<string, number>>;
  readonly updaterBounds?: Readonly<Record<string, number>>;
  /** Under which devices that are set up elsewhere reach this machine's `127.0.0.1`. Default the same */
  readonly address?: string;
  /** Default a temporary one, which {@link Fleet.close} removes. Short: Unix socket paths are. */
  readonly directory?: string;
  /** Ends a start that is under way: what was started is stopped again, and its reason is thrown. */
  readonly signal?: AbortSignal;
}

/** A running fleet. */
export class Fleet implements AsyncDisposable {
  readonly directory: string;
  readonly server: NatsServer;
  readonly host: ArtifactHost;
  readonly devices: readonly FleetDevice[];
  /** Connection with the operator's rights. */
  readonly bus: TestBus;
  readonly operatorPassword: string;
  readonly artifactCaFile: string;
  /** Passwords of all devices by id. */
  readonly passwords: ReadonlyMap<string, string>;
  readonly #keep: boolean;

  private constructor(parts: {
    readonly directory: string;
    readonly server: NatsServer;
    readonly host: ArtifactHost;
    readonly devices: readonly FleetDevice[];
    readonly bus: TestBus;
    readonly operatorPassword: string;
    readonly artifactCaFile: string;
    readonly passwords: ReadonlyMap<string, string>;
    readonly keep: boolean;
  }) {
    this.directory = parts.directory;
    this.server = parts.server;
    this.host = parts.host;
    this.devices = parts.devices;
    this.bus = parts.bus;
    this.operatorPassword = parts.operatorPassword;
    this.artifactCaFile = parts.artifactCaFile;
    this.passwords = parts.passwords;
    this.#keep = parts.keep;
  }

  /**
   * Sets a fleet up and starts its devices. A start that fails leaves nothing behind but a directory that was given.
   *
   * @param options What it is made of
   */
  static async start(options: FleetOptions): Promise<Fleet> {
    const directory = options.directory ?? await Deno.makeTempDir({ prefix: "fleet-" });
    const keep = options.directory !== undefined;
    const { address } = options;
    await using undo = new AsyncDisposableStack();
    undo.defer(() => keep ? Promise.resolve() : Deno.remove(directory, { recursive: true }));
    const operatorPassword = crypto.randomUUID();
    const ids = [...options.deviceIds, ...options.foreignDeviceIds ?? []];
    const passwords = new Map(ids.map((id) => [id, crypto.randomUUID() as string]));
    const server = await startNatsServer({
      directory: `${directory}/nats`,
      config: fleetAccountsConfig({
        programs: [{ user: "operator", password: operatorPassword }],
        devices: [...passwords].map(([deviceId, password]) => ({ deviceId, password })),
      }),
    });
    undo.defer(() => server.stop());
    options.signal?.throwIfAborted();
    const bus = await openTestBus(server, {
      auth: { kind: "password", user: "operator", password: { value: operatorPassword } },
    });
    undo.defer(() => bus.close());
    await bus.ensureBuckets(BUCKET_SPECS, ids.length, 1);
    const authority = await createTestAuthority();
    const artifactCaFile = `${directory}/artifact-ca.pem`;
    await Deno.writeTextFile(artifactCaFile, authority.caCert);
    const host = startArtifactHost({
      certificate: await authority.issue(address === undefined ? {} : { names: [address, "127.0.0.1"] }),
      ...(address === undefined ? {} : { urlHost: address }),
    });
    undo.defer(() => host.close());
    const devices = await setUpDevices(options, { directory, servers: [server.url], passwords, artifactCaFile });
    options.signal?.throwIfAborted();
    for (const device of devices) device.startUpdater();
    undo.move();
    return new Fleet({ directory, server, host, devices, bus, operatorPassword, artifactCaFile, passwords, keep });
  }

  /** A device by its id. */
  device(id: string): FleetDevice {
    const found = this.devices.find((device) => device.id === id);
    if (found === undefined) throw new RangeError(`no device ${id}`);
    return found;
  }

  /** Waits until every device's agent has said that it is ready. */
  async ready(timeoutMs = 60_000): Promise<void> {
    const bucket = await this.bus.bucket(BUCKETS.deviceInfo);
    for (const { id } of this.devices) {
      await waitUntil(`${id}: the agent to be ready`, async () => {
        const entry = await bucket.get(deviceKey(id));
        return entry !== null && new TextDecoder().decode(entry.value).includes('"step":"ready"');
      }, timeoutMs);
    }
  }

  /**
   * Builds an agent and puts it on the artifact host.
   *
   * @param build Version and defect
   */
  async publish(build: AgentBuild): Promise<BuiltScript & { readonly url: string }> {
    const directory = await Deno.makeTempDir({ dir: this.directory, prefix: "build-" });
    const built = await buildAgent(directory, build);
    const path = `/${crypto.randomUUID()}/fleet-agent-${build.version}`;
    const url = this.host.answer(path, { kind: "file", bytes: await Deno.readFile(built.path) });
    return { ...built, url };
  }

  /**
   * An attempt for a device.
   *
   * @param deviceId The device
   * @param targetVersion The version that it claims
   * @param artifact The bytes
   * @param overrides Members that differ
   */
  attempt(
    deviceId: string,
    targetVersion: string,
    artifact: { readonly url: string; readonly sha256: string; readonly sizeBytes: number },
    overrides: Partial<AgentUpgradeAttempt> = {},
  ): AgentUpgradeAttempt {
    return {
      schema: 1,
      attemptId: crypto.randomUUID(),
      deviceId,
      targetVersion,
      arch: Deno.build.arch,
      artifact: { url: artifact.url, sha256: artifact.sha256, maxBytes: artifact.sizeBytes },
      ...overrides,
    };
  }

  /** Writes an intent, as an operator would. @returns the revision */
  async send(attempt: Record<string, unknown> & { readonly deviceId: string }): Promise<number> {
    const bucket = await this.bus.bucket(BUCKETS.upgradeIntent);
    return await bucket.put(deviceKey(attempt.deviceId), new TextEncoder().encode(JSON.stringify(attempt)));
  }

  /** The status that a device has published; null while there is none, or no connection. */
  async status(deviceId: string): Promise<AgentUpgradeStatus | null> {
    try {
      const entry = await (await this.bus.bucket(BUCKETS.upgradeStatus)).get(deviceKey(deviceId));
      return entry === null ? null : decodeBytes(agentUpgradeStatus, entry.value, STATUS_MAX_BYTES);
    } catch (error) {
      if (isFleetError(error) && error.retry === "transient") return null;
      throw error;
    }
  }

  /** Waits until a device has published a status that matches. */
  waitForStatus(
    deviceId: string,
    what: string,
    matches: (status: AgentUpgradeStatus) => boolean,
    timeoutMs = 60_000,
    intervalMs?: number,
  ): Promise<AgentUpgradeStatus> {
    return waitUntil(
      `${deviceId}: ${what}`,
      async () => {
        const status = await this.status(deviceId);
        return status !== null && matches(status) ? status : null;
      },
      timeoutMs,
      intervalMs,
    );
  }

  /** Stops everything; removes what it made unless the directory was given. */
  async close(): Promise<void> {
    await Promise.all(this.devices.map((device) => device.stop()));
    await this.bus.close();
    await this.server.stop();
    await this.host.close();
    if (!this.#keep) await Deno.remove(this.directory, { recursive: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

async function setUpDevices(
  options: FleetOptions,
  parts: {
    readonly directory: string;
    readonly servers: readonly string[];
    readonly passwords: ReadonlyMap<string, string>;
    readonly artifactCaFile: string;
  },
): Promise<FleetDevice[]> {
  const { directory, servers, passwords, artifactCaFile } = parts;
  const baseline = options.baseline ?? "1.0.0";
  const agent = await buildAgent(directory, { version: baseline });
  const updater = await buildScript({
    program: "fleet-updater",
    version: baseline,
    outPath: `${directory}/fleet-updater`,
  });
  const devices: FleetDevice[] = [];
  for (const [index, id] of options.deviceIds.entries()) {
    // Short names: a Unix socket's path has at most 107 bytes.
    const root = `${directory}/d${index + 1}`;
    await Deno.mkdir(root);
    devices.push(
      await FleetDevice.create({
        id,
        root,
        servers,
        password: passwords.get(id) ?? "",
        agent: { version: baseline, path: agent.path },
        updater: [updater.path],
        artifactCaFile,
        agentBounds: options.agentBounds ?? FAST_AGENT,
        updaterBounds: options.updaterBounds ?? FAST_UPDATER,
      }),
    );
  }
  return devices;
}
