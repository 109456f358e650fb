/**
 * An agent in this process: everything of it is real but the broker, the updater and the service manager.
 *
 * @module
 */
import { type AgentConfig, agentConfig } from "../../../agent/config.ts";
import type { DeviceFacts } from "../../../agent/device_facts.ts";
import type { AgentPorts } from "../../../agent/agent_ports.ts";
import { runAgent } from "../../../agent/run_agent.ts";
import type { Session } from "../../../agent/session.ts";
import { updaterClient } from "../../../agent/upgrade/updater_client.ts";
import { BUCKET_SPECS, type BucketName, BUCKETS } from "../../../contracts/buckets.ts";
import { decodeBytes, type Decoder } from "../../../contracts/codec.ts";
import { deviceInfo, heartbeat } from "../../../contracts/device.ts";
import { FleetError } from "../../../contracts/errors.ts";
import { agentUpgradeStatus } from "../../../contracts/agent_upgrade.ts";
import { systemClock } from "../../../lib/deadline.ts";
import { acquireLock } from "../../../lib/durable/process_lock.ts";
import { osFileSystem } from "../../../lib/durable/os_file_system.ts";
import { createLogger, type Logger } from "../../../lib/log.ts";
import { DEVICE_ID } from "../../fakes/agent_samples.ts";
import { FakeNotifier } from "../../fakes/fake_notifier.ts";
import { MemoryBroker, type MemoryBus } from "../../fakes/memory_bus.ts";
import { ScriptedUpdater } from "../../fakes/scripted_updater.ts";
import { waitUntil } from "../../nats/wait_until.ts";

/** Bounds that make a test short and leave a loaded machine room. */
export const SHORT_BOUNDS = {
  natsRetryWindowMs: 400,
  startupRetryMs: 20,
  heartbeatIntervalMs: 50,
  updaterPollActiveMs: 20,
  updaterPollIdleMs: 30,
  updaterAwayAfterMs: 100,
  intentRecheckMs: 100,
  natsRequestTimeoutMs: 1_000,
};

/** One life of an agent in this process. */
export interface AgentLife {
  readonly notifier: FakeNotifier;
  readonly bus: () => MemoryBus | undefined;
  /** The session, once READY. */
  readonly session: () => Session | undefined;
  /** Ends as the agent does. */
  readonly ended: Promise<void>;
  readonly lines: string[];
  /** Asks it to end and waits until it has. */
  stop(): Promise<void>;
}

/** A device on which agents live. */
export class AgentFixture {
  readonly root: string;
  readonly broker = new MemoryBroker();
  readonly operator: MemoryBus = this.broker.connect();
  readonly updater = new ScriptedUpdater();
  updaterAway = false;
  /** What an attempt to connect throws; null when it succeeds. */
  connectError: Error | null = null;
  facts: DeviceFacts = {
    version: "1.0.0",
    form: "script",
    arch: "x86_64",
    os: { name: "debian", version: "12", kernel: "6.1" },
    bootId: "boot-1",
  };
  config: AgentConfig;

  private constructor(root: string) {
    this.root = root;
    const value = { deviceId: DEVICE_ID, nats: { servers: ["nats://127.0.0.1"] }, root, bounds: SHORT_BOUNDS };
    this.config = agentConfig(value, "");
  }

  /** Runs a test on a device with all buckets, and removes the device. */
  static async use(test: (fixture: AgentFixture) => Promise<void>): Promise<void> {
    const root = await Deno.makeTempDir({ prefix: "agent-" });
    try {
      await Deno.mkdir(`${root}/var/lib/harmony-fleet/agent`, { recursive: true });
      await Deno.mkdir(`${root}/usr/lib/harmony-fleet`, { recursive: true });
      const fixture = new AgentFixture(root);
      await fixture.operator.ensureBuckets(BUCKET_SPECS, 1, 1);
      await test(fixture);
    } finally {
      await Deno.remove(root, { recursive: true });
    }
  }

  /** Starts an agent. */
  start(changes: Partial<AgentPorts> = {}): AgentLife {
    const notifier = new FakeNotifier();
    const lines: string[] = [];
    const ending = new AbortController();
    let session: Session | undefined;
    let bus: MemoryBus | undefined;
    const ports: AgentPorts = {
      clock: systemClock,
      log: this.#log(lines),
      notifier,
      connect: async ({ windowMs, signal }) => {
        if (this.connectError !== null) {
          await systemClock.sleep(windowMs, signal);
          throw this.connectError;
        }
        bus = this.broker.connect();
        return bus;
      },
      client: updaterClient(async (document, _timeoutMs, signal) => {
        signal.throwIfAborted();
        if (this.updaterAway) {
          const options = { code: "E_SOCKET_UNREACHABLE", retry: "transient", failureClass: "environment" } as const;
          throw new FleetError("Cannot reach the updater", options);
        }
        const { promise, reject } = Promise.withResolvers<never>();
        promise.catch(() => {});
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        return await Promise.race([this.updater.answer(document), promise]);
      }),
      engine: null,
      lock: acquireLock,
      fileSystem: osFileSystem,
      random: () => 0.5,
      watchdogMs: null,
      restarts: undefined,
      ...changes,
    };
    const options = { config: this.config, facts: this.facts, ports, onReady: (ready: Session) => session = ready };
    const ended = runAgent(options, ending.signal);
    ended.catch(() => {});
    return {
      notifier,
      lines,
      ended,
      bus: () => bus,
      session: () => session,
      stop: async () => {
        ending.abort(new Error("stop"));
        await ended;
      },
    };
  }

  /** Waits until READY. */
  async ready(life: AgentLife): Promise<Session> {
    return await waitUntil("READY", () => life.session());
  }

  /** A document of the device, or null. */
  async read<T>(bucket: BucketName, decoder: Decoder<T>): Promise<T | null> {
    const entry = await (await this.operator.bucket(bucket)).get(DEVICE_ID);
    return entry === null ? null : decodeBytes(decoder, entry.value, 65_536);
  }

  readonly info = () => this.read(BUCKETS.deviceInfo, deviceInfo);
  readonly beat = () => this.read(BUCKETS.deviceHeartbeat, heartbeat);
  readonly status = () => this.read(BUCKETS.upgradeStatus, agentUpgradeStatus);

  #log(lines: string[]): Logger {
    return createLogger({ sink: (line) => lines.push(line), format: "json" });
  }
}
