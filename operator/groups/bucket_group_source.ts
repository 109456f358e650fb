/**
 * Groups from the bucket `device-groups`, which a system outside of the fleet writes (DESIGN 3).
 *
 * The bucket is watched, so that a look at a device costs no request. What the watch has told counts only while it is
 * whole: while it begins, after the loss of the connection or of the bucket, and when a document cannot be read, nobody's
 * groups are guessed.
 *
 * @module
 */
import { BUCKETS, deviceKey } from "../../contracts/buckets.ts";
import { readDeviceGroups } from "../../contracts/device_groups.ts";
import type { Device } from "../../contracts/device_resource.ts";
import { FleetError, isFleetError } from "../../contracts/errors.ts";
import { bounded, deviceId as deviceIdFormat } from "../../contracts/formats.ts";
import {
  DOCUMENT_PROBLEM_MAX_CHARS,
  GROUPS_CATCH_UP_MS,
  RECONCILE_RETRY_MAX_MS,
  RECONCILE_RETRY_MIN_MS,
} from "../../contracts/limits.ts";
import type { Bus, BusEntry, WatchEvent } from "../../lib/bus/port.ts";
import { type Clock, systemClock } from "../../lib/deadline.ts";
import type { Logger } from "../../lib/log.ts";
import { Interner } from "../reconcile/interner.ts";
import { ReplayTracker } from "../runtime/replay_tracker.ts";
import { runWatchLoop } from "../runtime/watch_loop.ts";
import type { GroupSource } from "./port.ts";

/** What the source works with. */
export interface BucketGroupSourceOptions {
  readonly bus: Pick<Bus, "bucket" | "onStatus">;
  readonly log: Logger;
  /** Default the system's. */
  readonly clock?: Clock;
  /** Longest wait for the bucket to be read, in ms. Default {@link GROUPS_CATCH_UP_MS}. */
  readonly catchUpMs?: number;
}

/** Groups of a device, or why they cannot be read. */
type Held = readonly string[] | { readonly problem: string };

/** The groups in the bucket. */
export class BucketGroupSource implements GroupSource {
  readonly #options: BucketGroupSourceOptions;
  readonly #clock: Clock;
  readonly #held = new Map<string, Held>();
  readonly #replay = new ReplayTracker();
  readonly #interner = new Interner();
  readonly #listeners = new Set<(deviceId: string) => void>();
  /** Devices to tell once the bucket is read: their groups have changed, or were asked for in vain. */
  readonly #due = new Set<string>();
  #isCurrent = false;
  #waitUntilMs = 0;
  /** Aborts when waiting is over. */
  #waiting = new AbortController();

  constructor(options: BucketGroupSourceOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  async groupsOf(device: Device): Promise<readonly string[]> {
    const id = device.metadata.name;
    if (!this.#isCurrent) await this.#wait();
    if (!this.#isCurrent) {
      this.#due.add(id);
      throw new FleetError(`Cannot tell the groups of ${id}: the bucket ${BUCKETS.deviceGroups} is not read now`, {
        code: "E_GROUPS_NOT_READ",
        retry: "transient",
        failureClass: "environment",
      });
    }
    const held = this.#held.get(deviceKey(id)) ?? [];
    if (!("problem" in held)) return held;
    throw new FleetError(`Cannot read ${BUCKETS.deviceGroups}/${id}: ${held.problem}`, {
      code: "E_GROUPS_MALFORMED",
      failureClass: "policy",
    });
  }

  onChange(listener: (deviceId: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { bus, log } = this.#options;
    this.#beginWait();
    const unlisten = bus.onStatus(({ kind }) => {
      if (kind === "connected") this.#beginWait();
    });
    const onAbort = () => this.#waiting.abort();
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      await runWatchLoop<WatchEvent>({
        name: BUCKETS.deviceGroups,
        open: (ending) => this.#events(ending),
        onReopen: () => this.#replay.restart(),
        onEvent: (event) => this.#take(event),
        retry: { minMs: RECONCILE_RETRY_MIN_MS, maxMs: RECONCILE_RETRY_MAX_MS },
        log,
        clock: this.#clock,
      }, signal);
    } finally {
      signal.removeEventListener("abort", onAbort);
      unlisten();
    }
  }

  async *#events(signal: AbortSignal): AsyncGenerator<WatchEvent, void, undefined> {
    const onLoss = () => this.#isCurrent = false;
    try {
      yield* (await this.#options.bus.bucket(BUCKETS.deviceGroups)).watch("*", signal, onLoss);
    } finally {
      onLoss();
    }
  }

  /** A bucket that is just being read is worth a wait: an error would be written into every device's status. */
  #beginWait(): void {
    this.#waitUntilMs = this.#clock.monotonicMs() + (this.#options.catchUpMs ?? GROUPS_CATCH_UP_MS);
    if (this.#waiting.signal.aborted) this.#waiting = new AbortController();
  }

  async #wait(): Promise<void> {
    const waitMs = this.#waitUntilMs - this.#clock.monotonicMs();
    if (waitMs > 0) await this.#clock.sleep(waitMs, this.#waiting.signal).catch(() => {});
  }

  #take(event: WatchEvent): void {
    switch (event.kind) {
      case "restarted":
        this.#isCurrent = false;
        return this.#replay.restart();
      case "current":
        for (const key of this.#replay.current()) this.#put(key, undefined);
        this.#isCurrent = true;
        this.#waiting.abort();
        return this.#tellDue();
      case "entry":
        return this.#takeEntry(event.entry);
    }
  }

  #takeEntry(entry: BusEntry): void {
    const { key } = entry;
    try {
      deviceIdFormat(key, "key");
    } catch (error) {
      if (!isFleetError(error, "E_DECODE")) throw error;
      return this.#tellMalformed(key, error.message);
    }
    if (entry.deleted) {
      this.#replay.delete(key);
      return this.#put(key, undefined);
    }
    this.#replay.put(key);
    this.#put(key, this.#read(entry));
  }

  #read({ key, value }: BusEntry): Held {
    try {
      const { groups } = readDeviceGroups(value);
      return this.#interner.shared(JSON.stringify(groups), groups);
    } catch (error) {
      if (!isFleetError(error, "E_DECODE")) throw error;
      const problem = bounded(error.message, DOCUMENT_PROBLEM_MAX_CHARS);
      this.#tellMalformed(key, problem);
      return { problem };
    }
  }

  #put(key: string, held: Held | undefined): void {
    // Equal lists are one list, so that a bucket that is read again tells nobody of what has stayed.
    if (this.#held.get(key) === held) return;
    if (held === undefined) this.#held.delete(key);
    else this.#held.set(key, held);
    this.#due.add(key);
    if (this.#isCurrent) this.#tellDue();
  }

  #tellDue(): void {
    const due = [...this.#due];
    this.#due.clear();
    for (const id of due) for (const listener of this.#listeners) listener(id);
  }

  #tellMalformed(key: string, problem: string): void {
    const fields = { bucket: BUCKETS.deviceGroups, key: key.slice(0, 128), problem };
    // Once per document and problem: a state that stays is not said again.
    this.#options.log.state(`malformed ${fields.bucket}/${fields.key}`, "a document cannot be read", fields, "warn");
  }
}
