/**
 * The intents of all runs, as their watch tells: whatever stands there has a device that may still take it.
 *
 * @module
 */
import { BUCKETS, splitSystemUpgradeKey } from "../../contracts/buckets.ts";
import { isFleetError } from "../../contracts/errors.ts";
import { deviceId as deviceIdFormat, uuid } from "../../contracts/formats.ts";
import { SYSTEM_INTENT_MAX_AGE_S } from "../../contracts/limits.ts";
import type { WatchEvent } from "../../lib/bus/port.ts";
import type { Logger } from "../../lib/log.ts";

/** An intent that stands in its bucket. */
export interface HeldIntent {
  readonly revision: number;
  readonly receivedAtMs: number;
}

/** What the index tells. */
export interface IntentIndexOptions {
  /** Told of an intent that has come, its own included. */
  readonly onIntent: (runId: string, deviceId: string) => void;
  /** Makes equal ids one text in memory. */
  readonly share: (deviceId: string) => string;
  readonly log: Logger;
}

const NONE: ReadonlyMap<string, HeldIntent> = new Map();

/** Intents by run and device. */
export class IntentIndex {
  readonly #options: IntentIndexOptions;
  readonly #byRun = new Map<string, Map<string, HeldIntent>>();
  /** What was there before the watch began again, and has not come again. */
  #missing: Set<string> | undefined;

  constructor(options: IntentIndexOptions) {
    this.#options = options;
  }

  /** Runs that have an intent. */
  get runIds(): Iterable<string> {
    return this.#byRun.keys();
  }

  /** Intents of a run, by device. */
  of(runId: string): ReadonlyMap<string, HeldIntent> {
    return this.#byRun.get(runId) ?? NONE;
  }

  /** Takes an intent that was written. */
  put(runId: string, deviceId: string, intent: HeldIntent): void {
    let devices = this.#byRun.get(runId);
    if (devices === undefined) this.#byRun.set(runId, devices = new Map());
    devices.set(this.#options.share(deviceId), intent);
  }

  /** Takes that an intent is gone. */
  remove(runId: string, deviceId: string): void {
    const devices = this.#byRun.get(runId);
    devices?.delete(deviceId);
    if (devices?.size === 0) this.#byRun.delete(runId);
  }

  /** Forgets the intents of a run that the bucket has dropped for their age, of which no watch tells. */
  forgetAged(runId: string, nowMs: number): void {
    for (const [deviceId, { receivedAtMs }] of [...this.of(runId)]) {
      if (receivedAtMs + SYSTEM_INTENT_MAX_AGE_S * 1_000 < nowMs) this.remove(runId, deviceId);
    }
  }

  /** The watch begins again: everything that is there follows. */
  restart(): void {
    const missing = new Set<string>();
    for (const [runId, devices] of this.#byRun) {
      for (const deviceId of devices.keys()) missing.add(`${deviceId}.${runId}`);
    }
    this.#missing = missing;
  }

  /** Takes an event of the watch. */
  takeEvent(event: WatchEvent): void {
    if (event.kind === "restarted") return this.restart();
    if (event.kind === "current") return this.#endReplay();
    const { deleted, key, receivedAtMs, revision } = event.entry;
    const place = this.#placeOf(key);
    if (place === null) return;
    const { deviceId, runId } = place;
    this.#missing?.delete(key);
    if (deleted) return this.remove(runId, deviceId);
    // An event that is told late must not bring an older one back.
    if ((this.of(runId).get(deviceId)?.revision ?? 0) > revision) return;
    this.put(runId, deviceId, { revision, receivedAtMs });
    this.#options.onIntent(runId, deviceId);
  }

  #endReplay(): void {
    for (const key of this.#missing ?? []) {
      const place = splitSystemUpgradeKey(key);
      if (place !== null) this.remove(place.runId, place.deviceId);
    }
    this.#missing = undefined;
  }

  /** Device and run of a key; null for a key that nobody should have written. */
  #placeOf(key: string): { readonly deviceId: string; readonly runId: string } | null {
    const place = splitSystemUpgradeKey(key);
    try {
      if (place !== null) return { deviceId: deviceIdFormat(place.deviceId, "key"), runId: uuid(place.runId, "key") };
    } catch (error) {
      if (!isFleetError(error, "E_DECODE")) throw error;
    }
    const fields = { bucket: BUCKETS.systemUpgradeIntent, key: key.slice(0, 128) };
    this.#options.log.state(`malformed ${fields.bucket}/${fields.key}`, "a key is no device and run", fields, "warn");
    return null;
  }
}
