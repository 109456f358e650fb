/**
 * The real agent as a process, with a real broker, a real socket to a scripted updater and a real notify socket.
 *
 * @module
 */
import { PROGRAMS } from "../../../build/programs.ts";
import { SHORT_BOUNDS } from "./agent_fixture.ts";
import { agentUpgradeStatus } from "../../../contracts/agent_upgrade.ts";
import { BUCKET_SPECS, type BucketName, BUCKETS } from "../../../contracts/buckets.ts";
import { decodeBytes, type Decoder } from "../../../contracts/codec.ts";
import { deviceInfo, heartbeat } from "../../../contracts/device.ts";
import { isFleetError } from "../../../contracts/errors.ts";
import { managedPaths } from "../../../contracts/managed_paths.ts";
import type { BusAdmin } from "../../../lib/bus/port.ts";
import type { Notification } from "../../../lib/systemd/notification.ts";
import { listenNotifications, type NotifyReceiver } from "../../../lib/systemd/notify_receiver.ts";
import { bytesOf, DEVICE_ID } from "../../fakes/agent_samples.ts";
import { FakeUpdater } from "../../fakes/fake_updater.ts";
import { type NatsServer, startNatsServer } from "../../nats/nats_server.ts";
import { fleetAccountsConfig } from "../../nats/server_config.ts";
import { openTestBus, type TestBus } from "../../nats/test_bus.ts";
import { waitUntil } from "../../nats/wait_until.ts";

const MAIN = new URL("../../../agent/main.ts", import.meta.url).pathname;
/** Login of the operator. */
export const OPERATOR = { user: "operator", password: "operator-password" };
/** Password of the device, which nothing may show. */
export const DEVICE_PASSWORD = "device-password-never-shown";

/** The broker's configuration for a device's password. */
export function brokerConfig(password = DEVICE_PASSWORD): string {
  return fleetAccountsConfig({ programs: [OPERATOR], devices: [{ deviceId: DEVICE_ID, password }] });
}

/** One process of the agent. */
export class AgentProcess {
  readonly said: Notification[] = [];
  output = "";
  readonly #child: Deno.ChildProcess;
  readonly #ended: Promise<number>;
  #code: number | undefined;

  constructor(child: Deno.ChildProcess) {
    this.#child = child;
    const read = async (stream: ReadableStream<Uint8Array>) => {
      for await (const text of stream.pipeThrough(new TextDecoderStream())) this.output += text;
    };
    this.#ended = Promise.all([child.status, read(child.stderr), read(child.stdout)]).then(([{ code }]) => {
      this.#code = code;
      return code;
    });
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Its exit code, or undefined while it runs. */
  get code(): number | undefined {
    return this.#code;
  }

  get ready(): boolean {
    return this.said.some(({ ready }) => ready === true);
  }

  get statuses(): string[] {
    return this.said.flatMap(({ status }) => status === undefined ? [] : [status]);
  }

  /** Waits until it is READY; what it printed is in the message when it ends instead. */
  async untilReady(): Promise<void> {
    await waitUntil("READY", () => {
      if (this.#code !== undefined) throw new Error(`the agent exited with ${this.#code}: ${this.output}`);
      return this.ready;
    }, 60_000);
  }

  /** Waits until it ends; returns its exit code. */
  async end(): Promise<number> {
    return await this.#ended;
  }

  kill(signal: Deno.Signal): void {
    if (this.#code === undefined) this.#child.kill(signal);
  }

  async stop(): Promise<number> {
    this.kill("SIGTERM");
    return await this.end();
  }
}

/** A device with a broker. */
export class ProcessFixture {
  readonly root: string;
  readonly nats: NatsServer;
  readonly updater: FakeUpdater;
  readonly operator: TestBus & BusAdmin;
  /** Variables that agents are started with. */
  environment: Record<string, string> = {};
  /** Permission flags that agents are started with. */
  permissions: readonly string[] = PROGRAMS["fleet-agent"].permissions;
  readonly #receiver: NotifyReceiver;
  readonly #agents: AgentProcess[] = [];
  readonly #receiving: Promise<void>;

  private constructor(root: string, nats: NatsServer, operator: TestBus) {
    const paths = managedPaths(root);
    this.root = root;
    this.nats = nats;
    this.operator = operator;
    this.updater = new FakeUpdater(paths.updaterSocket);
    this.#receiver = listenNotifications(paths.notifySocket);
    this.#receiving = this.#receive();
  }

  /** Runs a test on a device, and removes everything. */
  static async use(test: (fixture: ProcessFixture) => Promise<void>): Promise<void> {
    const root = await Deno.makeTempDir({ prefix: "agent-" });
    const paths = managedPaths(root);
    const directories = [
      paths.agentStateDirectory,
      paths.binariesDirectory,
      paths.runDirectory,
      `${root}/etc/harmony-fleet`,
    ];
    for (const directory of directories) await Deno.mkdir(directory, { recursive: true });
    await Deno.writeTextFile(`${root}/etc/harmony-fleet/password`, `${DEVICE_PASSWORD}\n`, { mode: 0o600 });
    const nats = await startNatsServer({ config: brokerConfig() });
    const auth = { kind: "password", user: OPERATOR.user, password: { value: OPERATOR.password } } as const;
    const operator = await openTestBus(nats, { auth });
    await operator.ensureBuckets(BUCKET_SPECS, 10, 1);
    const fixture = new ProcessFixture(root, nats, operator);
    fixture.updater.start();
    await fixture.configure();
    try {
      await test(fixture);
    } catch (error) {
      const outputs = fixture.#agents.map((agent) => `--- pid ${agent.pid}, exit ${agent.code}\n${agent.output}`);
      throw new Error(`${error instanceof Error ? error.message : error}\n${outputs.join("\n")}`, { cause: error });
    } finally {
      await fixture.#close();
      await operator.close();
      await nats.stop();
      await Deno.remove(root, { recursive: true });
    }
  }

  get configPath(): string {
    return managedPaths(this.root).agentConfig;
  }

  /** Writes `agent.json`. */
  async configure(
    changes: {
      nats?: Record<string, unknown>;
      bounds?: Record<string, number>;
      podman?: Record<string, unknown>;
    } = {},
  ): Promise<void> {
    const document = {
      deviceId: DEVICE_ID,
      root: this.root,
      ...(changes.podman === undefined ? {} : { podman: changes.podman }),
      nats: {
        servers: [this.nats.url],
        user: DEVICE_ID,
        passwordFile: `${this.root}/etc/harmony-fleet/password`,
        ...changes.nats,
      },
      bounds: {
        ...SHORT_BOUNDS,
        natsRetryWindowMs: 30_000,
        natsConnectTimeoutMs: 5_000,
        natsRequestTimeoutMs: 5_000,
        natsReconnectMinMs: 20,
        natsReconnectMaxMs: 200,
        natsWatchHeartbeatMs: 200,
        heartbeatIntervalMs: 200,
        ...changes.bounds,
      },
    };
    await Deno.writeTextFile(this.configPath, JSON.stringify(document), { mode: 0o640 });
  }

  /** Starts the agent; what it says at the notify socket counts for it when it names its process. */
  start(...args: string[]): AgentProcess {
    const agent = new AgentProcess(
      new Deno.Command(Deno.execPath(), {
        args: [
          "run",
          "--quiet",
          "--no-check",
          "--no-prompt",
          ...this.permissions,
          MAIN,
          "--config",
          this.configPath,
          ...args,
        ],
        env: { NOTIFY_SOCKET: this.#receiver.address, ...this.environment },
        stdin: "null",
        stdout: "piped",
        stderr: "piped",
      }).spawn(),
    );
    this.#agents.push(agent);
    return agent;
  }

  /** Starts the agent and waits until it is READY. */
  async startReady(): Promise<AgentProcess> {
    const agent = this.start();
    await agent.untilReady();
    return agent;
  }

  /** Writes a value as the operator. */
  async put(bucket: BucketName, key: string, document: unknown): Promise<void> {
    await (await this.operator.bucket(bucket)).put(key, bytesOf(document));
  }

  /** Writes the intent. */
  async intend(document: unknown): Promise<void> {
    await this.put(BUCKETS.upgradeIntent, DEVICE_ID, document);
  }

  /** Makes the buckets that are missing, as an operator does: a broker that restarts loses those in memory. */
  async ensureBuckets(): Promise<void> {
    await waitUntil("the operator's connection", () => this.operator.connected, 30_000);
    await this.operator.ensureBuckets(BUCKET_SPECS, 10, 1);
  }

  /** A document of the device; null when there is none, or the broker does not answer now. */
  async read<T>(bucket: BucketName, decoder: Decoder<T>): Promise<T | null> {
    try {
      const entry = await (await this.operator.bucket(bucket)).get(DEVICE_ID);
      return entry === null ? null : decodeBytes(decoder, entry.value, 65_536);
    } catch (error) {
      if (isFleetError(error) && error.retry === "transient") return null;
      throw error;
    }
  }

  readonly info = () => this.read(BUCKETS.deviceInfo, deviceInfo);
  readonly beat = () => this.read(BUCKETS.deviceHeartbeat, heartbeat);
  readonly status = () => this.read(BUCKETS.upgradeStatus, agentUpgradeStatus);

  /** Waits until the status has a phase. */
  async untilPhase(attemptId: string, phase: string): Promise<void> {
    await waitUntil(`${attemptId} ${phase}`, async () => {
      const status = await this.status();
      return status?.attemptId === attemptId && status.phase === phase;
    }, 30_000);
  }

  async #receive(): Promise<void> {
    for await (const notification of this.#receiver) {
      const agent = this.#agents.find(({ pid }) => pid === notification.mainPid);
      agent?.said.push(notification);
    }
  }

  async #close(): Promise<void> {
    for (const agent of this.#agents) agent.kill("SIGKILL");
    for (const agent of this.#agents) await agent.end();
    this.#receiver.close();
    await this.#receiving;
    await this.updater.stop();
  }
}
