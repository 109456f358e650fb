/**
 * Keeps the intents of this device's runs, current and new ones (`Fleet tasks`, Execution).
 *
 * @module
 */
import { systemUpgradeFilter } from "../../contracts/buckets.ts";
import { errorText } from "../../contracts/errors.ts";
import { NATS_RECONNECT_MAX_MS, NATS_RECONNECT_MIN_MS, SYSTEM_INTENTS_MAX } from "../../contracts/limits.ts";
import type { BusEntry, KvBucket } from "../../lib/bus/port.ts";
import { backoffMs, type Clock } from "../../lib/deadline.ts";
import type { Logger } from "../../lib/log.ts";
import { readSystemIntent, runOfKey, type SystemIntent } from "./system_intent.ts";

/** What the watch works with. */
export interface SystemIntentWatchOptions {
  readonly deviceId: string;
  /**
   * Binds the bucket. It is no condition of a start: an operator that is older than this agent has not made it.
   */
  readonly bind: () => Promise<KvBucket>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called when the watch has told something. */
  readonly onChange: () => void;
}

/** Keeps the intents of this device's runs. */
export class SystemIntentWatch {
  readonly #options: SystemIntentWatchOptions;
  readonly #intents = new Map<string, SystemIntent>();
  /** Runs that have come since the watch began; those that have not by `current` are gone. */
  #seen = new Set<string>();
  /** Whether intents were left out for want of room. */
  #leftOut = false;

  constructor(options: SystemIntentWatchOptions) {
    this.#options = options;
  }

  /** The intents, in the order in which they were written. */
  get intents(): SystemIntent[] {
    return [...this.#intents.values()].sort((one, other) => one.revision - other.revision);
  }

  /** Watches until the signal aborts; whatever ends the watch early begins it again. */
  async run(signal: AbortSignal): Promise<void> {
    const { bind, clock, deviceId, log } = this.#options;
    for (let failures = 0; !signal.aborted;) {
      this.#seen = new Set();
      this.#leftOut = false;
      try {
        const bucket = await bind();
        for await (const event of bucket.watch(systemUpgradeFilter(deviceId), signal)) {
          failures = 0;
          log.state("system-intents", "intents of system upgrades are watched", {}, "debug");
          if (event.kind === "entry") this.#take(event.entry);
          else if (event.kind === "current") this.#settle();
          else this.#seen = new Set();
          // There is room again: what was left out comes with a new watch.
          if (this.#leftOut && this.#intents.size < SYSTEM_INTENTS_MAX) break;
        }
      } catch (error) {
        if (signal.aborted) return;
        log.state(
          "system-intents",
          "intents of system upgrades cannot be watched",
          { error: errorText(error) },
          "warn",
        );
      }
      const pauseMs = backoffMs(failures++, { minMs: NATS_RECONNECT_MIN_MS, maxMs: NATS_RECONNECT_MAX_MS });
      await clock.sleep(pauseMs, signal).catch(() => {});
    }
  }

  #take({ key, value, revision, deleted }: BusEntry): void {
    const { log, onChange } = this.#options;
    const runId = runOfKey(key);
    if (runId === null) return log.state("system-intent-key", "a key names no run", { key }, "warn");
    this.#seen.add(runId);
    if (deleted) this.#intents.delete(runId);
    else if (this.#intents.has(runId) || this.#intents.size < SYSTEM_INTENTS_MAX) {
      this.#intents.set(runId, readSystemIntent(runId, value, revision));
    } else {
      this.#leftOut = true;
      log.state("system-intents-full", "an intent is left out", { runId, maxItems: SYSTEM_INTENTS_MAX }, "warn");
    }
    onChange();
  }

  #settle(): void {
    for (const runId of this.#intents.keys()) if (!this.#seen.has(runId)) this.#intents.delete(runId);
    this.#options.onChange();
  }
}
