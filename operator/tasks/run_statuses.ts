/**
 * What devices say of one run: its statuses, followed for as long as the run is worked on.
 *
 * @module
 */
import {
  type BucketName,
  BUCKETS,
  documentMaxBytes,
  runFilter,
  splitSystemUpgradeKey,
} from "../../contracts/buckets.ts";
import { decodeBytes } from "../../contracts/codec.ts";
import { isFleetError } from "../../contracts/errors.ts";
import { bounded } from "../../contracts/formats.ts";
import { DOCUMENT_PROBLEM_MAX_CHARS } from "../../contracts/limits.ts";
import { systemUpgradeStatus } from "../../contracts/system_upgrade.ts";
import type { BusEntry, KvBucket, WatchEvent } from "../../lib/bus/port.ts";
import type { Clock } from "../../lib/deadline.ts";
import type { Logger } from "../../lib/log.ts";
import { judgeResult, type TaskResult } from "../policy/task_result.ts";
import { runWatchLoop } from "../runtime/watch_loop.ts";

/** What statuses are read with. */
export interface RunStatusesOptions {
  readonly bucket: (name: BucketName) => Promise<KvBucket>;
  readonly retry: { readonly minMs: number; readonly maxMs: number };
  readonly clock: Clock;
  readonly log: Logger;
}

/** Takes the result of a device. */
export type OnResult = (deviceId: string, result: TaskResult, receivedAtMs: number) => void;

/** A run whose statuses are followed. */
export interface FollowedRun {
  readonly runId: string;
  /** From then on a result is late, in ms. */
  readonly lateFromMs: number;
  readonly onResult: OnResult;
  /** Told when everything that is there has come, and after each result from then on. */
  readonly onNews: () => void;
}

/** The statuses of one run. */
export class RunStatuses {
  readonly #options: RunStatusesOptions;
  readonly #run: FollowedRun;
  readonly #ending = new AbortController();
  readonly #running: Promise<void>;
  #isCurrent = false;

  /**
   * Begins to follow.
   *
   * @param options What it reads with
   * @param run The run
   * @param signal Ends it
   */
  constructor(options: RunStatusesOptions, run: FollowedRun, signal: AbortSignal) {
    this.#options = options;
    this.#run = run;
    this.#running = this.#follow(signal);
  }

  /** Whether everything that stood there when it began has come. */
  get isCurrent(): boolean {
    return this.#isCurrent;
  }

  /** Ends it. */
  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#running;
  }

  /** Reads everything that stands there now, whatever the watch has told. */
  async reread(): Promise<void> {
    const statuses = await this.#options.bucket(BUCKETS.systemUpgradeStatus);
    await statuses.snapshot(runFilter(this.#run.runId), (entry) => this.#take(entry));
  }

  async #follow(signal: AbortSignal): Promise<void> {
    // One listener for the whole life: a signal derived from one that lives for weeks would stay with it.
    const onAbort = () => this.#ending.abort();
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) this.#ending.abort();
    const { bucket, clock, log, retry } = this.#options;
    const { onNews, runId } = this.#run;
    try {
      await runWatchLoop<WatchEvent>({
        name: `statuses of run ${runId}`,
        open: async (ending) => (await bucket(BUCKETS.systemUpgradeStatus)).watch(runFilter(runId), ending),
        onReopen: () => {},
        onEvent: (event) => {
          if (event.kind === "entry") this.#take(event.entry);
          else if (event.kind === "current") this.#isCurrent = true;
          if (this.#isCurrent) onNews();
        },
        retry,
        clock,
        log,
      }, this.#ending.signal);
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  #take(entry: BusEntry): void {
    const deviceId = splitSystemUpgradeKey(entry.key)?.deviceId;
    // A deleted status says nothing, and takes nothing back that it said before.
    if (entry.deleted || deviceId === undefined) return;
    const result = readResult(entry, { deviceId, runId: this.#run.runId }, this.#run.lateFromMs);
    if (result.kind === "ignored") {
      const fields = { bucket: BUCKETS.systemUpgradeStatus, key: entry.key, problem: result.problem };
      this.#options.log.state(`malformed ${fields.bucket}/${entry.key}`, "a document cannot be read", fields, "warn");
      return;
    }
    this.#run.onResult(deviceId, result, entry.receivedAtMs);
  }
}

/**
 * What a status in its bucket says.
 *
 * @param entry The status
 * @param key Device and run of its key
 * @param lateFromMs From then on a result is late, in ms
 */
export function readResult(
  entry: BusEntry,
  key: { readonly deviceId: string; readonly runId: string },
  lateFromMs: number,
): TaskResult {
  try {
    const status = decodeBytes(systemUpgradeStatus, entry.value, documentMaxBytes(BUCKETS.systemUpgradeStatus));
    return judgeResult(status, entry.receivedAtMs, key, lateFromMs);
  } catch (error) {
    if (!isFleetError(error, "E_DECODE")) throw error;
    return { kind: "ignored", problem: bounded(error.message, DOCUMENT_PROBLEM_MAX_CHARS) };
  }
}
