/**
 * The agent's upgrade loop on a fake clock, a bus in memory and a scripted updater.
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
import { FleetError } from "../../contracts/errors.ts";
import { STATUS_MAX_BYTES } from "../../contracts/limits.ts";
import { Blockers } from "../../agent/blockers.ts";
import { DEFAULT_BOUNDS } from "../../agent/config.ts";
import type { LastDrain } from "../../agent/core/last_drain.ts";
import { OwnDocument } from "../../agent/own_document.ts";
import { IntentWatch } from "../../agent/upgrade/intent_watch.ts";
import { StatusMirror } from "../../agent/upgrade/status_mirror.ts";
import { type UpdaterClient, updaterClient } from "../../agent/upgrade/updater_client.ts";
import { UpdaterWatch } from "../../agent/upgrade/updater_watch.ts";
import { UpgradeLoop } from "../../agent/upgrade/upgrade_loop.ts";
import type { KvBucket } from "../../lib/bus/port.ts";
import { silentLogger } from "../../lib/log.ts";
import { bytesOf, DEVICE_ID } from "./agent_samples.ts";
import { FakeClock } from "./fake_clock.ts";
import { MemoryBroker, type MemoryBus } from "./memory_bus.ts";
import { ScriptedUpdater } from "./scripted_updater.ts";

/** The broker, the updater and the clock of a device, which outlive an agent. */
export class FakeDevice {
  readonly clock = new FakeClock();
  readonly broker = new MemoryBroker(() => this.clock.nowMs());
  readonly script = new ScriptedUpdater(() => this.clock.nowMs());
  /** Connection of the test, as the operator. */
  readonly operator: MemoryBus = this.broker.connect();
  /** When true, the updater does not answer. */
  updaterAway = false;
  freeBytes: number | null = null;
  /** When set, answers are on their way until it resolves: what they say was true when they were asked for. */
  delay: Promise<void> | null = null;
  /** When set, upgrade requests reach the updater when it resolves. */
  hold: Promise<void> | null = null;
  readonly client: UpdaterClient = updaterClient(async (document, _timeoutMs, signal) => {
    // A real answer comes after the turn that asked.
    await Promise.resolve();
    signal.throwIfAborted();
    if (this.updaterAway) throw unreachable();
    const aborted = new Promise<never>((_, reject) =>
      signal.addEventListener("abort", () => reject(signal.reason), { once: true })
    );
    aborted.catch(() => {});
    const isStatus = JSON.stringify(document).includes('"request":"status"');
    if (!isStatus) await this.hold;
    const answer = this.script.answer(document);
    if (isStatus) await this.delay;
    return await Promise.race([answer, aborted]);
  });

  /** Makes all buckets. */
  async prepare(): Promise<this> {
    await this.operator.ensureBuckets(BUCKET_SPECS, 1, 1);
    return this;
  }

  /** Writes the intent, whatever stands there. */
  async intend(document: AgentUpgradeAttempt | Uint8Array | unknown): Promise<void> {
    const bucket = await this.operator.bucket(BUCKETS.upgradeIntent);
    await bucket.put(deviceKey(DEVICE_ID), document instanceof Uint8Array ? document : bytesOf(document));
  }

  /** Deletes the intent. */
  async withdraw(): Promise<void> {
    await (await this.operator.bucket(BUCKETS.upgradeIntent)).delete(deviceKey(DEVICE_ID));
  }

  /** The status that stands in NATS, or null. */
  async status(): Promise<AgentUpgradeStatus | null> {
    const entry = await (await this.operator.bucket(BUCKETS.upgradeStatus)).get(deviceKey(DEVICE_ID));
    return entry === null ? null : decodeBytes(agentUpgradeStatus, entry.value, STATUS_MAX_BYTES);
  }

  /** Writes a status as an earlier life of the agent did. */
  async publish(status: AgentUpgradeStatus): Promise<void> {
    await (await this.operator.bucket(BUCKETS.upgradeStatus)).put(deviceKey(DEVICE_ID), bytesOf(status));
  }

  /** What is published from now on, as `UUID's first digit, phase, reason`. */
  published(): string[] {
    const seen: string[] = [];
    this.broker.stream(BUCKETS.upgradeStatus)?.listen({
      onEntry: ({ value }) => {
        const { attemptId, phase, reason } = decodeBytes(agentUpgradeStatus, value, STATUS_MAX_BYTES);
        seen.push(`${attemptId?.[0] ?? "-"} ${phase} ${reason ?? ""}`.trim());
      },
      onEnd: () => {},
    });
    return seen;
  }

  /** Moves time until a condition holds. @throws {Error} when it does not within a minute of fake time */
  async until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
    for (let waitedMs = 0; waitedMs <= 60_000; waitedMs += 100) {
      if (await condition()) return;
      await this.clock.advance(100);
    }
    throw new Error(`not within a minute of fake time: ${what}`);
  }
}

function unreachable(): FleetError {
  return new FleetError("Cannot reach the updater", {
    code: "E_SOCKET_UNREACHABLE",
    retry: "transient",
    failureClass: "environment",
  });
}

type Hearing = "all" | "beginning" | "nothing";

/** A bucket whose watch tells only a part. */
function heard(bucket: KvBucket, hears: Hearing): KvBucket {
  if (hears === "all") return bucket;
  return {
    name: bucket.name,
    get: (key) => bucket.get(key),
    put: (key, value) => bucket.put(key, value),
    create: (key, value) => bucket.create(key, value),
    update: (key, value, revision) => bucket.update(key, value, revision),
    delete: (key, revision) => bucket.delete(key, revision),
    snapshot: (filter, onEntry) => bucket.snapshot(filter, onEntry),
    async *watch(filter, signal) {
      for await (const event of bucket.watch(filter, signal)) {
        if (hears === "nothing") break;
        yield event;
        if (event.kind === "current") break;
      }
      if (!signal.aborted) {
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      }
    },
  };
}

/** One life of an agent's upgrade loop. */
export class UpgradeLife {
  readonly bus: MemoryBus;
  readonly loop: UpgradeLoop;
  readonly blockers: Blockers;
  readonly updater: UpdaterWatch;
  readonly #ending = new AbortController();
  readonly #running: Promise<unknown>;

  private constructor(
    bus: MemoryBus,
    parts: { loop: UpgradeLoop; intents: IntentWatch; updater: UpdaterWatch; blockers: Blockers },
  ) {
    this.bus = bus;
    this.loop = parts.loop;
    this.updater = parts.updater;
    this.blockers = parts.blockers;
    const { signal } = this.#ending;
    this.#running = Promise.all([parts.intents.run(signal), parts.loop.run(signal)]);
  }

  /**
   * Starts one.
   *
   * @param device Where
   * @param lastDrain What its predecessor left
   * @param hears What its watch of the intent tells: all, what is there at its beginning, nothing. Default all
   */
  static async start(
    device: FakeDevice,
    lastDrain: LastDrain | null = null,
    hears: Hearing = "all",
  ): Promise<UpgradeLife> {
    const bus = device.broker.connect();
    const { clock, client } = device;
    const log = silentLogger;
    const blockers = new Blockers();
    const status = new OwnDocument({
      bucket: await bus.bucket(BUCKETS.upgradeStatus),
      key: deviceKey(DEVICE_ID),
      decoder: agentUpgradeStatus,
      maxBytes: STATUS_MAX_BYTES,
      rereadMs: DEFAULT_BOUNDS.statusRereadMs,
      clock,
    });
    const updater = new UpdaterWatch({ client, clock, log, blockers, awayAfterMs: DEFAULT_BOUNDS.updaterAwayAfterMs });
    const intents: IntentWatch = new IntentWatch({
      deviceId: DEVICE_ID,
      bucket: heard(await bus.bucket(BUCKETS.upgradeIntent), hears),
      clock,
      log,
      onChange: () => loop.poke(),
    });
    const loop: UpgradeLoop = new UpgradeLoop({
      deviceId: DEVICE_ID,
      facts: { arch: "x86_64", bootId: "boot-1" },
      bounds: DEFAULT_BOUNDS,
      bus,
      client,
      updater,
      intents,
      mirror: new StatusMirror({ deviceId: DEVICE_ID, status, lastDrain, blockers, clock, log }),
      status,
      freeBytes: () => Promise.resolve(device.freeBytes),
      clock,
      log,
      onChange: () => {},
      turned: () => {},
    });
    bus.onStatus(({ kind }) => {
      if (kind !== "connected") return;
      status.forget();
      loop.poke();
    });
    return new UpgradeLife(bus, { loop, intents, updater, blockers });
  }

  /** Ends it, as a kill does: nothing is said. */
  async kill(): Promise<void> {
    this.#ending.abort(new Error("killed"));
    await this.#running;
    await this.bus.close();
  }
}
