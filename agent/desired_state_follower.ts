/**
 * Follows the device's desired state. The watch only tells that something changed; what is desired is always taken from
 * a complete snapshot (`Fleet agent upgrades`, Readiness and commit; DESIGN 4).
 *
 * @module
 */
import { desiredStateFilter } from "../contracts/buckets.ts";
import { errorText, isFleetError } from "../contracts/errors.ts";
import {
  DESIRED_ENTRIES_MAX,
  HEARTBEAT_INTERVAL_MS,
  NATS_RECONNECT_MAX_MS,
  NATS_RECONNECT_MIN_MS,
} from "../contracts/limits.ts";
import type { BusEntry, KvBucket } from "../lib/bus/port.ts";
import { backoffMs, type Clock } from "../lib/deadline.ts";
import type { Logger } from "../lib/log.ts";
import type { Blockers } from "./blockers.ts";
import {
  applySnapshot,
  type DesiredChange,
  type DesiredSnapshot,
  type HeldState,
  NOTHING_HELD,
  readSnapshot,
} from "./core/desired_state.ts";

/** What the follower works with. */
export interface DesiredStateOptions {
  readonly deviceId: string;
  readonly bucket: KvBucket;
  readonly blockers: Blockers;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called at each turn of the loop. */
  readonly turned: () => void;
  /** Called when what is held is another than before. */
  readonly onChange?: () => void;
}

const RETRY = { minMs: NATS_RECONNECT_MIN_MS, maxMs: NATS_RECONNECT_MAX_MS };

/** Follows the device's desired state. */
export class DesiredStateFollower {
  readonly #options: DesiredStateOptions;
  #held: HeldState = NOTHING_HELD;
  #dirty = false;
  #changed = Promise.withResolvers<void>();

  constructor(options: DesiredStateOptions) {
    this.#options = options;
  }

  /** What the device is told to run. */
  get held(): HeldState {
    return this.#held;
  }

  /**
   * Takes one complete snapshot. A snapshot whose content breaks a rule leaves what is held and is reported: a workload
   * never keeps the agent from READY.
   *
   * @returns what changed; undefined when nothing could be made of the content
   * @throws {FleetError} `E_BUS_*` when the snapshot is not complete; nothing is then known of what is desired
   */
  async take(): Promise<DesiredChange | undefined> {
    const { blockers, deviceId, log } = this.#options;
    const values = await this.#snapshot();
    try {
      const snapshot = readSnapshot(deviceId, values);
      const change = applySnapshot(this.#held, snapshot);
      this.#held = change.held;
      this.#report(snapshot, change);
      this.#options.onChange?.();
      return change;
    } catch (error) {
      if (!isFleetError(error)) throw error;
      blockers.set("desired-state", errorText(error));
      log.state("desired-state", "the desired state cannot be taken", { error: errorText(error) }, "error");
      return undefined;
    }
  }

  /** The newest values; at most one more than the device may have, so that a broken bucket fills no memory. */
  async #snapshot(): Promise<BusEntry[]> {
    const { bucket, deviceId, turned } = this.#options;
    const entries = new Map<string, BusEntry>();
    await bucket.snapshot(desiredStateFilter(deviceId), (entry) => {
      // A long snapshot over a bad link is progress too.
      turned();
      if (entry.deleted) entries.delete(entry.key);
      else if (entries.has(entry.key) || entries.size < DESIRED_ENTRIES_MAX + 2) entries.set(entry.key, entry);
    });
    return [...entries.values()];
  }

  /** Follows changes until the signal aborts; whatever ends the watch early begins it again. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#watch(signal), this.#apply(signal)]);
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { bucket, clock, deviceId, log } = this.#options;
    for (let failures = 0; !signal.aborted;) {
      try {
        for await (const event of bucket.watch(desiredStateFilter(deviceId), signal)) {
          failures = 0;
          log.state("desired-watch", "the desired state is watched", {}, "debug");
          // The first values are part of the snapshot that `current` asks for.
          if (event.kind !== "restarted") this.#mark();
        }
      } catch (error) {
        if (signal.aborted) return;
        log.state("desired-watch", "the desired state cannot be watched", { error: errorText(error) }, "warn");
      }
      await clock.sleep(backoffMs(failures++, RETRY), signal).catch(() => {});
    }
  }

  async #apply(signal: AbortSignal): Promise<void> {
    const { clock, log, turned } = this.#options;
    for (let failures = 0; !signal.aborted;) {
      turned();
      this.#changed = Promise.withResolvers<void>();
      if (!this.#dirty) {
        await this.#waitForChange(signal);
        continue;
      }
      this.#dirty = false;
      try {
        await this.take();
        failures = 0;
      } catch (error) {
        if (!isFleetError(error)) throw error;
        this.#dirty = true;
        log.state("desired-state", "the desired state cannot be read", { error: errorText(error) }, "warn");
        await clock.sleep(backoffMs(failures++, RETRY), signal).catch(() => {});
      }
    }
  }

  #mark(): void {
    this.#dirty = true;
    this.#changed.resolve();
  }

  async #waitForChange(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const waiting = new AbortController();
    const stop = () => waiting.abort();
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    // Wakes from time to time only to show that it turns.
    await Promise.race([clock.sleep(HEARTBEAT_INTERVAL_MS, waiting.signal).catch(() => {}), this.#changed.promise]);
    stop();
    signal.removeEventListener("abort", stop);
  }

  #report({ unreadable }: DesiredSnapshot, { added, changed, held, incomplete, kept, removed }: DesiredChange): void {
    const { blockers, log } = this.#options;
    const [[token, error] = []] = unreadable;
    const problems = [
      ...(kept.length > 0 && incomplete !== undefined ? [`nothing is removed, since ${incomplete}`] : []),
      ...(token === undefined ? [] : [`${unreadable.size} entries cannot be read, one is ${token}: ${error}`]),
    ];
    blockers.set("desired-state", problems.length === 0 ? null : problems.join("; "));
    const counts = { entries: held.entries.size, unreadable: unreadable.size };
    log.state("desired-state", "desired state taken", { ...counts, generation: held.generation, incomplete });
    if (added.length + changed.length + removed.length + kept.length === 0) return;
    const numbers = { added: added.length, changed: changed.length, removed: removed.length, kept: kept.length };
    log.state("desired-change", "desired state changed", { ...counts, ...numbers, incomplete });
  }
}
