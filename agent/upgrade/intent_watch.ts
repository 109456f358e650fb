/**
 * Keeps the newest intent, and only that one (DESIGN 6, Intent).
 *
 * @module
 */
import { deviceKey } from "../../contracts/buckets.ts";
import { errorText } from "../../contracts/errors.ts";
import { NATS_RECONNECT_MAX_MS, NATS_RECONNECT_MIN_MS } from "../../contracts/limits.ts";
import type { BusEntry, KvBucket } from "../../lib/bus/port.ts";
import { backoffMs, type Clock } from "../../lib/deadline.ts";
import type { Logger } from "../../lib/log.ts";
import { type Intent, readIntent } from "../core/intent.ts";

/** What the watch works with. */
export interface IntentWatchOptions {
  readonly deviceId: string;
  readonly bucket: KvBucket;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called when the watch has told something; not by a read, whose caller knows. */
  readonly onChange: () => void;
}

/** Keeps the newest intent. */
export class IntentWatch {
  readonly #options: IntentWatchOptions;
  #newest: Intent | null = null;
  /** Counts what the watch has yielded, so that a slower read does not undo it. */
  #events = 0;
  #seen = false;
  #current = false;

  constructor(options: IntentWatchOptions) {
    this.#options = options;
  }

  /** The newest intent, or null when there is none. */
  get newest(): Intent | null {
    return this.#newest;
  }

  /** Whether what stood at the key when the watch began is known. */
  get current(): boolean {
    return this.#current;
  }

  /** Watches until the signal aborts; whatever ends the watch early begins it again. */
  async run(signal: AbortSignal): Promise<void> {
    const { bucket, clock, deviceId, log } = this.#options;
    for (let failures = 0; !signal.aborted;) {
      try {
        for await (const event of bucket.watch(deviceKey(deviceId), signal)) {
          failures = 0;
          log.state("intent-watch", "the intent is watched", {}, "debug");
          if (event.kind === "entry") this.#take(event.entry);
          else if (event.kind === "current") this.#settle();
          else this.#seen = false;
        }
      } catch (error) {
        if (signal.aborted) return;
        log.state("intent-watch", "the intent cannot be watched", { error: errorText(error) }, "warn");
      }
      this.#seen = false;
      const pauseMs = backoffMs(failures++, { minMs: NATS_RECONNECT_MIN_MS, maxMs: NATS_RECONNECT_MAX_MS });
      await clock.sleep(pauseMs, signal).catch(() => {});
    }
  }

  /**
   * Reads the key again, for the intent that came while another transaction ran.
   *
   * @throws {FleetError} `E_BUS_*`
   */
  async reread(): Promise<void> {
    const { bucket, deviceId } = this.#options;
    const before = this.#events;
    const entry = await bucket.get(deviceKey(deviceId));
    // What the watch has yielded in between is at least as new.
    if (this.#events !== before) return;
    this.#newest = entry === null ? null : readIntent(entry.value, entry.revision);
  }

  #take(entry: BusEntry): void {
    this.#events++;
    this.#seen = true;
    this.#newest = entry.deleted ? null : readIntent(entry.value, entry.revision);
    this.#options.onChange();
  }

  #settle(): void {
    this.#events++;
    // The key was not among what is there now: the intent is gone, with its bucket perhaps.
    if (!this.#seen) this.#newest = null;
    this.#current = true;
    this.#options.onChange();
  }
}
