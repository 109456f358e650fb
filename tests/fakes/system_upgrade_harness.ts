/**
 * The agent's loop for system upgrades on a fake clock, a bus in memory and an updater that a test moves.
 *
 * @module
 */
import { Blockers } from "../../agent/blockers.ts";
import { DEFAULT_BOUNDS } from "../../agent/config.ts";
import { SystemIntentWatch } from "../../agent/system_upgrade/system_intent_watch.ts";
import { SystemUpgradeLoop } from "../../agent/system_upgrade/system_upgrade_loop.ts";
import { updaterClient } from "../../agent/upgrade/updater_client.ts";
import { UpdaterWatch } from "../../agent/upgrade/updater_watch.ts";
import { BUCKET_SPECS, BUCKETS, systemUpgradeKey } from "../../contracts/buckets.ts";
import { decodeBytes } from "../../contracts/codec.ts";
import { FleetError } from "../../contracts/errors.ts";
import { SYSTEM_STATUS_MAX_BYTES } from "../../contracts/limits.ts";
import { type FirstHeartbeat, type SystemUpgradeStatus, systemUpgradeStatus } from "../../contracts/system_upgrade.ts";
import { silentLogger } from "../../lib/log.ts";
import { bytesOf, DEVICE_ID } from "./agent_samples.ts";
import { FakeClock } from "./fake_clock.ts";
import { FakeLedger } from "./fake_ledger.ts";
import { runUid, sampleSystemAttempt } from "./ledger_samples.ts";
import { MemoryBroker, type MemoryBus } from "./memory_bus.ts";

const HOUR_MS = 3_600_000;

/** The broker, the updater and the clock of a device, which outlive an agent. */
export class FakeSystemDevice {
  readonly clock = new FakeClock();
  readonly broker = new MemoryBroker(() => this.clock.nowMs());
  readonly ledger = new FakeLedger(() => this.clock.nowMs());
  readonly operator: MemoryBus = this.broker.connect();
  updaterAway = false;
  free: { usr: number | null; var: number | null } = { usr: null, var: null };
  /** Heartbeats that the broker has acknowledged: when they were sent, by the monotonic clock. */
  beats: number[] = [];
  /** Whether heartbeats come as soon as they are asked for. */
  beating = true;

  readonly client = updaterClient(async (document) => {
    await Promise.resolve();
    if (this.updaterAway) {
      const options = { code: "E_SOCKET_UNREACHABLE", retry: "transient", failureClass: "environment" } as const;
      throw new FleetError("Cannot reach the updater", options);
    }
    return this.ledger.answer(document);
  });

  /** Makes all buckets. */
  async prepare(): Promise<this> {
    await this.operator.ensureBuckets(BUCKET_SPECS, 1, 1);
    return this;
  }

  /** Writes an intent of a run, which expires in an hour. */
  async intend(index: number, overrides: Record<string, unknown> = {}): Promise<void> {
    const nowMs = this.clock.nowMs();
    const attempt = sampleSystemAttempt({
      attemptId: runUid(index),
      deviceId: DEVICE_ID,
      createdAt: new Date(nowMs).toISOString(),
      expiresAt: new Date(nowMs + HOUR_MS).toISOString(),
    });
    await this.write(index, bytesOf({ ...attempt, ...overrides }));
  }

  /** Writes any bytes as the intent of a run. */
  async write(index: number, bytes: Uint8Array): Promise<void> {
    const bucket = await this.operator.bucket(BUCKETS.systemUpgradeIntent);
    await bucket.put(systemUpgradeKey(DEVICE_ID, runUid(index)), bytes);
  }

  /** Deletes the intent of a run. */
  async withdraw(index: number): Promise<void> {
    await (await this.operator.bucket(BUCKETS.systemUpgradeIntent)).delete(systemUpgradeKey(DEVICE_ID, runUid(index)));
  }

  /** The status of a run that stands in NATS, or null. */
  async status(index: number): Promise<SystemUpgradeStatus | null> {
    const bucket = await this.operator.bucket(BUCKETS.systemUpgradeStatus);
    const entry = await bucket.get(systemUpgradeKey(DEVICE_ID, runUid(index)));
    return entry === null ? null : decodeBytes(systemUpgradeStatus, entry.value, SYSTEM_STATUS_MAX_BYTES);
  }

  /** Moves time until a run's status has a phase, and a reason where one is given. */
  async untilStatus(index: number, phase: string, reason?: string): Promise<SystemUpgradeStatus> {
    for (let waitedMs = 0; waitedMs <= 120_000; waitedMs += 100) {
      const status = await this.status(index);
      if (status?.phase === phase && (reason === undefined || status.reason === reason)) return status;
      await this.clock.advance(100);
    }
    const last = await this.status(index);
    throw new Error(`run ${index} is ${last?.phase} ${last?.reason ?? ""} after two minutes, not ${phase}`);
  }

  /** Moves time until a condition holds. */
  async until(what: string, condition: () => boolean): Promise<void> {
    for (let waitedMs = 0; waitedMs <= 120_000; waitedMs += 100) {
      if (condition()) return;
      await this.clock.advance(100);
    }
    throw new Error(`not within two minutes of fake time: ${what}`);
  }
}

/** One life of the loop. */
export class SystemUpgradeLife {
  readonly bus: MemoryBus;
  readonly loop: SystemUpgradeLoop;
  readonly blockers: Blockers;
  readonly #ending = new AbortController();
  readonly #running: Promise<unknown>;

  /**
   * @param device Where
   * @param bootId Boot that its heartbeats tell
   */
  constructor(device: FakeSystemDevice, bootId = "boot-1") {
    const { client, clock } = device;
    const log = silentLogger;
    this.bus = device.broker.connect();
    this.blockers = new Blockers();
    const { blockers, bus } = this;
    const intents = new SystemIntentWatch({
      deviceId: DEVICE_ID,
      bind: () => bus.bucket(BUCKETS.systemUpgradeIntent),
      clock,
      log,
      onChange: () => this.loop.poke(),
    });
    this.loop = new SystemUpgradeLoop({
      deviceId: DEVICE_ID,
      bounds: DEFAULT_BOUNDS,
      bus,
      bind: () => bus.bucket(BUCKETS.systemUpgradeStatus),
      client,
      updater: new UpdaterWatch({ client, clock, log, blockers, awayAfterMs: DEFAULT_BOUNDS.updaterAwayAfterMs }),
      intents,
      heartbeatSince: (sinceMs): FirstHeartbeat | null => {
        const index = device.beats.findIndex((sentMs) => sentMs >= sinceMs);
        if (index < 0) return null;
        return { sequence: index + 1, bootId, at: new Date(clock.nowMs()).toISOString() };
      },
      pokeHeartbeat: () => {
        if (device.beating) device.beats.push(clock.monotonicMs());
      },
      freeBytes: () => Promise.resolve(device.free),
      clock,
      log,
      onChange: () => {},
      turned: () => {},
    });
    bus.onStatus(({ kind }) => {
      if (kind === "connected") this.loop.forget();
    });
    const { signal } = this.#ending;
    this.#running = Promise.all([intents.run(signal), this.loop.run(signal)]);
  }

  /** Ends it, as a kill does: nothing is said. */
  async kill(): Promise<void> {
    this.#ending.abort(new Error("killed"));
    await this.#running;
    await this.bus.close();
  }
}
