/**
 * Heartbeats: that the device lives, how it is, and what blocks or defers its work (DESIGN 6, Heartbeat). The same loop
 * keeps the device info as it should be.
 *
 * @module
 */
import { deviceKey } from "../contracts/buckets.ts";
import { canonicalJson } from "../contracts/canonical_json.ts";
import { type DeferredIntent, DEVICE_SCHEMA, type Heartbeat } from "../contracts/device.ts";
import { errorText } from "../contracts/errors.ts";
import type { FirstHeartbeat } from "../contracts/system_upgrade.ts";
import { HEARTBEAT_JITTER_MS, HEARTBEAT_MIN_GAP_MS } from "../contracts/limits.ts";
import type { Bus, KvBucket } from "../lib/bus/port.ts";
import type { Clock } from "../lib/deadline.ts";
import type { Logger } from "../lib/log.ts";
import type { DeviceFacts } from "./device_facts.ts";
import type { Vitals } from "./vitals.ts";

/** What the loop works with. */
export interface HeartbeatOptions {
  readonly deviceId: string;
  readonly facts: DeviceFacts;
  readonly bus: Pick<Bus, "connected">;
  /**
   * Binds the bucket. It is no condition of a start: a broker that restarts loses it, and a device works without it
   * until an operator has made it again.
   */
  readonly bind: () => Promise<KvBucket>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Pause between heartbeats, in ms, without the jitter. */
  readonly intervalMs: number;
  /** Source of randomness in [0, 1). */
  readonly random: () => number;
  readonly vitals: () => Promise<Vitals>;
  /** The intent that waits, if one does. */
  readonly deferred: () => DeferredIntent | undefined;
  /** What keeps the agent from its work, if anything does. */
  readonly blocked: () => string | undefined;
  /** Publishes the device info unless it stands as it should. @throws `E_BUS_*` */
  readonly publishInfo: () => Promise<void>;
  /** Called at each turn. */
  readonly turned: () => void;
}

/** Sends heartbeats. */
export class HeartbeatLoop {
  readonly #options: HeartbeatOptions;
  readonly #startedMs: number;
  #bucket: KvBucket | null = null;
  #sequence = 0;
  #acknowledged: { readonly beat: FirstHeartbeat; readonly sentMs: number } | null = null;
  #poked = Promise.withResolvers<void>();

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#startedMs = options.clock.monotonicMs();
  }

  /**
   * The last heartbeat that the broker has acknowledged, if it was sent since a moment.
   *
   * @param monotonicMs The moment, by the monotonic clock
   */
  acknowledgedSince(monotonicMs: number): FirstHeartbeat | null {
    const last = this.#acknowledged;
    return last === null || last.sentMs < monotonicMs ? null : last.beat;
  }

  /** Something worth telling has changed: the next heartbeat comes soon. */
  poke(): void {
    this.#poked.resolve();
  }

  /**
   * Sends heartbeats until the signal aborts. While NATS is away nothing is sent and nothing is queued: an old heartbeat
   * is worth nothing.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { bus, clock, log, publishInfo, turned } = this.#options;
    while (!signal.aborted) {
      turned();
      this.#poked = Promise.withResolvers<void>();
      if (bus.connected) {
        try {
          await publishInfo();
          await this.#send();
          log.state("heartbeat", "heartbeats are sent", {}, "debug");
        } catch (error) {
          log.state("heartbeat", "a heartbeat could not be sent", { error: errorText(error) }, "warn");
        }
      }
      await clock.sleep(this.#gapMs(), signal).catch(() => {});
      await this.#pause(signal);
    }
  }

  #gapMs(): number {
    return Math.min(HEARTBEAT_MIN_GAP_MS, this.#options.intervalMs);
  }

  async #pause(signal: AbortSignal): Promise<void> {
    const { clock, intervalMs, random } = this.#options;
    const jitterMs = Math.min(HEARTBEAT_JITTER_MS, intervalMs / 10) * (2 * random() - 1);
    const waiting = new AbortController();
    const onAbort = () => waiting.abort();
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) waiting.abort();
    try {
      const restMs = intervalMs + jitterMs - this.#gapMs();
      await Promise.race([clock.sleep(restMs, waiting.signal).catch(() => {}), this.#poked.promise]);
    } finally {
      waiting.abort();
      signal.removeEventListener("abort", onAbort);
    }
  }

  async #send(): Promise<void> {
    const { bind, blocked, clock, deferred, deviceId, facts, vitals } = this.#options;
    this.#bucket ??= await bind();
    const waiting = deferred();
    const blocker = blocked();
    const beat: Heartbeat = {
      schema: DEVICE_SCHEMA,
      deviceId,
      agentVersion: facts.version,
      bootId: facts.bootId,
      sequence: ++this.#sequence,
      at: new Date(clock.nowMs()).toISOString(),
      uptimeMs: Math.round(clock.monotonicMs() - this.#startedMs),
      vitals: await vitals(),
      ...(waiting === undefined ? {} : { deferred: waiting }),
      ...(blocker === undefined ? {} : { blocked: blocker }),
    };
    const sentMs = clock.monotonicMs();
    await this.#bucket.put(deviceKey(deviceId), new TextEncoder().encode(canonicalJson(beat)));
    const { sequence, bootId, at } = beat;
    this.#acknowledged = { beat: { sequence, bootId, at }, sentMs };
  }
}
