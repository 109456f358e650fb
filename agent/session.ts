/**
 * Everything that an agent with a connection is made of, wired together.
 *
 * @module
 */
import { agentUpgradeStatus } from "../contracts/agent_upgrade.ts";
import { BUCKETS, deviceKey } from "../contracts/buckets.ts";
import type { DeferredIntent } from "../contracts/device.ts";
import { FleetError } from "../contracts/errors.ts";
import { STATUS_MAX_BYTES } from "../contracts/limits.ts";
import type { Bus, BusStatus } from "../lib/bus/port.ts";
import type { AgentPorts } from "./agent_ports.ts";
import { Blockers } from "./blockers.ts";
import type { AgentConfig } from "./config.ts";
import type { LastDrain } from "./core/last_drain.ts";
import { credentialsExpireAt } from "./credential_expiry.ts";
import { DesiredStateFollower } from "./desired_state_follower.ts";
import type { DeviceFacts } from "./device_facts.ts";
import { DeviceInfoPublisher } from "./device_info.ts";
import { HeartbeatLoop } from "./heartbeat.ts";
import { LoopProgress } from "./loop_progress.ts";
import { MutationGate } from "./mutation_gate.ts";
import { OutageReporter } from "./outage_reporter.ts";
import { OwnDocument } from "./own_document.ts";
import type { AgentBuckets } from "./startup/open_buckets.ts";
import type { ReadinessReporter } from "./startup/readiness_reporter.ts";
import { IntentWatch } from "./upgrade/intent_watch.ts";
import { SystemIntentWatch } from "./system_upgrade/system_intent_watch.ts";
import { SystemUpgradeLoop } from "./system_upgrade/system_upgrade_loop.ts";
import { StatusMirror } from "./upgrade/status_mirror.ts";
import { UpdaterWatch } from "./upgrade/updater_watch.ts";
import { UpgradeLoop } from "./upgrade/upgrade_loop.ts";
import { freeBytes, gatherVitals } from "./vitals.ts";
import { StatusBoard } from "./workloads/status_board.ts";
import { viewsWithoutEngine } from "./workloads/without_engine.ts";
import { WorkloadLoop } from "./workloads/workload_loop.ts";

/** What a session is made from. */
export interface SessionOptions {
  readonly config: AgentConfig;
  readonly facts: DeviceFacts;
  readonly ports: AgentPorts;
  readonly bus: Bus;
  readonly buckets: AgentBuckets;
  readonly reporter: ReadinessReporter;
  readonly lastDrain: LastDrain | null;
}

function givenUp(): FleetError {
  return new FleetError("Cannot go on: the client has given the connection to NATS up", {
    code: "E_BUS_CLOSED",
    retry: "transient",
    failureClass: "environment",
  });
}

/** An agent with a connection. */
export class Session {
  readonly bus: Bus;
  readonly gate = new MutationGate();
  readonly progress: LoopProgress;
  readonly blockers: Blockers;
  readonly status: OwnDocument<ReturnType<typeof agentUpgradeStatus>>;
  readonly deviceInfo: DeviceInfoPublisher;
  readonly desired: DesiredStateFollower;
  readonly updater: UpdaterWatch;
  readonly mirror: StatusMirror;
  readonly intents: IntentWatch;
  readonly upgrades: UpgradeLoop;
  readonly systemIntents: SystemIntentWatch;
  readonly systemUpgrades: SystemUpgradeLoop;
  readonly heartbeats: HeartbeatLoop;
  readonly board: StatusBoard;
  /** Null when the agent manages no workloads. */
  readonly workloads: WorkloadLoop | null;
  readonly #options: SessionOptions;
  readonly #outage: OutageReporter;
  readonly #closed = Promise.withResolvers<never>();

  constructor(options: SessionOptions) {
    const { bus, buckets, config, facts, lastDrain, ports } = options;
    const { bounds, deviceId } = config;
    const { client, clock, log } = ports;
    this.#options = options;
    this.#closed.promise.catch(() => {});
    this.#outage = new OutageReporter(log, (text) => {
      if (this.gate.isOpen) void ports.notifier.notify({ status: text });
    });
    this.bus = bus;
    this.progress = new LoopProgress(clock, bounds.loopStallMs);
    this.blockers = new Blockers(() => this.heartbeats.poke());
    const blockers = this.blockers;
    this.status = new OwnDocument({
      bucket: buckets.upgradeStatus,
      key: deviceKey(deviceId),
      decoder: agentUpgradeStatus,
      maxBytes: STATUS_MAX_BYTES,
      rereadMs: bounds.statusRereadMs,
      clock,
    });
    const rereadMs = bounds.statusRereadMs;
    this.deviceInfo = new DeviceInfoPublisher({ deviceId, facts, bucket: buckets.deviceInfo, clock, rereadMs });
    this.desired = new DesiredStateFollower({
      deviceId,
      bucket: buckets.desiredState,
      blockers,
      clock,
      log,
      turned: () => this.progress.turned("desired-state"),
      onChange: () => this.#desiredChanged(),
    });
    this.board = new StatusBoard({
      deviceId,
      bus,
      bind: () => bus.bucket(BUCKETS.deploymentStatus),
      blockers,
      rereadMs: bounds.statusRereadMs,
      clock,
      log,
      turned: () => this.progress.turned("deployment-status"),
    });
    this.workloads = this.#workloadLoop();
    this.updater = new UpdaterWatch({ client, clock, log, blockers, awayAfterMs: bounds.updaterAwayAfterMs });
    this.mirror = new StatusMirror({ deviceId, status: this.status, lastDrain, blockers, clock, log });
    const onChange = () => this.upgrades.poke();
    this.intents = new IntentWatch({ deviceId, bucket: buckets.upgradeIntent, clock, log, onChange });
    this.upgrades = this.#upgradeLoop();
    this.systemIntents = new SystemIntentWatch({
      deviceId,
      bind: () => bus.bucket(BUCKETS.systemUpgradeIntent),
      clock,
      log,
      onChange: () => this.systemUpgrades.poke(),
    });
    this.systemUpgrades = this.#systemUpgradeLoop();
    this.heartbeats = this.#heartbeatLoop();
  }

  /** Publishes the device info as it should be now. @throws `E_BUS_*` */
  async publishInfo(): Promise<void> {
    const { reporter } = this.#options;
    const { step, blocked } = reporter.state;
    const updater = this.updater.summary;
    await this.deviceInfo.publish({
      step,
      blocked: blocked ?? this.blockers.text(),
      ...(updater === undefined ? {} : { updater }),
    });
  }

  /** Rejects when the client gives the connection up for good. */
  get closed(): Promise<never> {
    return this.#closed.promise;
  }

  /** The connection has changed: what was believed about the broker is looked at again. */
  onBusStatus(status: BusStatus): void {
    this.#outage.onStatus(status);
    if (status.kind === "closed") this.#closed.reject(givenUp());
    if (status.kind !== "connected") return;
    this.status.forget();
    this.deviceInfo.forget();
    this.board.forget();
    this.heartbeats.poke();
    this.upgrades.poke();
    this.systemUpgrades.forget();
  }

  #desiredChanged(): void {
    if (this.workloads === null) this.board.show(viewsWithoutEngine(this.desired.held), this.desired.held.whole);
    else this.workloads.poke();
  }

  #workloadLoop(): WorkloadLoop | null {
    const { config, ports } = this.#options;
    const { bounds, deviceId } = config;
    const { clock, engine, log, random } = ports;
    if (engine === null) return null;
    return new WorkloadLoop({
      deviceId,
      engine,
      gate: this.gate,
      held: () => this.desired.held,
      board: this.board,
      blockers: this.blockers,
      clock,
      log,
      memory: { random, retryMinMs: bounds.workloadRetryMinMs, retryMaxMs: bounds.workloadRetryMaxMs },
      resyncMs: bounds.workloadResyncMs,
      turned: () => this.progress.turned("workloads"),
    });
  }

  #announced = "";

  /** Tells NATS soon when what a person would look for has changed. */
  #announce(): void {
    const text = JSON.stringify([this.#deferred(), this.updater.summary]);
    if (text === this.#announced) return;
    this.#announced = text;
    this.heartbeats.poke();
  }

  /** The heartbeat has room for one intent that waits: the agent's own upgrade goes first. */
  #deferred(): DeferredIntent | undefined {
    return this.upgrades.deferred ?? this.systemUpgrades.deferred;
  }

  #systemUpgradeLoop(): SystemUpgradeLoop {
    const { bus, config, ports } = this.#options;
    const { bounds, deviceId, root } = config;
    const { client, clock, log } = ports;
    return new SystemUpgradeLoop({
      deviceId,
      bounds,
      bus,
      bind: () => bus.bucket(BUCKETS.systemUpgradeStatus),
      client,
      updater: this.updater,
      intents: this.systemIntents,
      heartbeatSince: (monotonicMs) => this.heartbeats.acknowledgedSince(monotonicMs),
      pokeHeartbeat: () => this.heartbeats.poke(),
      freeBytes: async () => ({ usr: await freeBytes(`${root}/usr`), var: await freeBytes(`${root}/var`) }),
      clock,
      log,
      onChange: () => this.#announce(),
      turned: () => this.progress.turned("system-upgrade"),
    });
  }

  #upgradeLoop(): UpgradeLoop {
    const { bus, config, facts, ports } = this.#options;
    const { bounds, deviceId, paths } = config;
    const { client, clock, log } = ports;
    return new UpgradeLoop({
      deviceId,
      facts,
      bounds,
      bus,
      client,
      updater: this.updater,
      intents: this.intents,
      mirror: this.mirror,
      status: this.status,
      freeBytes: () => freeBytes(paths.binariesDirectory),
      clock,
      log,
      onChange: () => this.#announce(),
      turned: () => this.progress.turned("upgrade"),
    });
  }

  #heartbeatLoop(): HeartbeatLoop {
    const { bus, config, facts, ports } = this.#options;
    const { bounds, deviceId, paths, root } = config;
    return new HeartbeatLoop({
      deviceId,
      facts,
      bus,
      bind: () => bus.bucket(BUCKETS.deviceHeartbeat),
      clock: ports.clock,
      log: ports.log,
      intervalMs: bounds.heartbeatIntervalMs,
      random: ports.random,
      vitals: async () =>
        await gatherVitals({
          root,
          paths,
          clockSkewMs: await bus.clockSkewMs(),
          restarts: ports.restarts,
          credentialsExpireAt: await credentialsExpireAt(config),
        }),
      deferred: () => this.#deferred(),
      blocked: () => this.#options.reporter.state.blocked ?? this.blockers.text(),
      publishInfo: () => this.publishInfo(),
      turned: () => this.progress.turned("heartbeat"),
    });
  }
}
