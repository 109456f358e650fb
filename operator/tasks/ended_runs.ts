/**
 * What is done about a run that has ended, or is deleted: intents that no device has accepted are withdrawn, those of
 * devices that have are removed when they end, and a record stays (`Fleet tasks`, Execution; DESIGN 7).
 *
 * Nothing here changes the run: a result that comes now is counted as late, and that is all.
 *
 * @module
 */
import { BUCKETS, documentMaxBytes, runKey, systemUpgradeKey } from "../../contracts/buckets.ts";
import { decodeBytes } from "../../contracts/codec.ts";
import { isFleetError } from "../../contracts/errors.ts";
import { ENDED_RUN_LOOK_MS, LOST_RACE_PAUSE_MS, WITHDRAW_BATCH } from "../../contracts/limits.ts";
import { type TaskHistoryRecord, taskHistoryRecord } from "../../contracts/task_plan.ts";
import type { TaskRun } from "../../contracts/task_run.ts";
import { historyRecord, type LateCounts } from "../policy/task_run_status.ts";
import { OBSERVED } from "../reconcile/observer.ts";
import type { WriteThrottle } from "../runtime/write_throttle.ts";
import { firstOf, soonest } from "./bounded_steps.ts";
import { readResult, RunStatuses } from "./run_statuses.ts";
import type { TaskContext } from "./task_context.ts";

/** What is kept of an ended run while something is left of it. */
interface EndedRun {
  readonly statuses: RunStatuses;
  /** Devices whose intent must be looked at; that of a device that has accepted it stays until it ends. */
  readonly due: Set<string>;
  /** Devices that have ended. */
  readonly ended: Set<string>;
  /** Results that came after the end of the run. */
  readonly late: { succeeded: number; failed: number };
  /** When to look for intents that are gone for their age, by the broker's clock, in ms. */
  agedAtMs: number;
}

/** Runs that have ended. */
export class EndedRuns {
  readonly #context: TaskContext;
  readonly #signal: AbortSignal;
  readonly #open = new Map<string, EndedRun>();
  /** Spaces out the records of each run: late results may come many at a time. */
  readonly #throttle: WriteThrottle;
  /** Late counts in the record of each run that has one; runs that are deleted leave it. */
  readonly #recorded = new Map<string, string>();
  /** When an intent without a run was first seen, by the monotonic clock. */
  readonly #orphanSinceMs = new Map<string, number>();

  /**
   * @param context What it works with
   * @param throttle Spaces out the writes of each run's record
   * @param signal Ends what it follows
   */
  constructor(context: TaskContext, throttle: WriteThrottle, signal: AbortSignal) {
    this.#context = context;
    this.#throttle = throttle;
    this.#signal = signal;
  }

  /** Runs of which something is left. */
  get size(): number {
    return this.#open.size;
  }

  /** Ends what it follows. */
  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map(({ statuses }) => statuses.stop()));
    this.#open.clear();
  }

  /**
   * Looks at an ended run.
   *
   * @param run The run
   * @returns when to look again without an event, in ms; null for never
   */
  async tidy(run: TaskRun): Promise<number | null> {
    const runId = run.metadata.uid;
    const againMs = await this.#withdraw(runId, Date.parse(run.status?.completedAt ?? run.metadata.creationTimestamp));
    if (againMs === 0) return 0;
    return soonest(againMs, await this.#record(run));
  }

  /**
   * Looks at a run that does not exist.
   *
   * @param runId Its uid
   * @returns when to look again without an event, in ms; null for never
   */
  async tidyDeleted(runId: string): Promise<number | null> {
    const { intents, runs } = this.#context;
    this.#recorded.delete(runId);
    if (intents.of(runId).size > 0 && !runs.isDeleted(runId)) {
      const waitMs = await this.#orphanWaitMs(runId);
      if (waitMs !== null) return waitMs;
    }
    const againMs = await this.#withdraw(runId, 0);
    if (againMs !== null) return againMs;
    this.#open.delete(runId);
    this.#orphanSinceMs.delete(runId);
    runs.forget(runId);
    return null;
  }

  /** How long to wait before intents of an unknown run are taken for those of a deleted one; null for no longer. */
  async #orphanWaitMs(runId: string): Promise<number | null> {
    const { clock, log, look, runs, settleMs, store } = this.#context;
    const nowMs = clock.monotonicMs();
    const sinceMs = this.#orphanSinceMs.get(runId) ?? nowMs;
    this.#orphanSinceMs.set(runId, sinceMs);
    const waitMs = sinceMs + settleMs - nowMs;
    if (waitMs > 0) return waitMs;
    // A run that cannot be read exists all the same, and may be this one.
    if (runs.hasUnreadable) return settleMs;
    const found = (await store.list("TaskRun")).find(({ metadata }) => metadata.uid === runId);
    if (found === undefined) {
      log.state(`orphan ${runId}`, "intents of a run that does not exist", { uid: runId }, "warn");
      return null;
    }
    for (const id of runs.put(found)) look(id);
    return settleMs;
  }

  /** Takes that an intent stands in its bucket. */
  takeIntent(runId: string, deviceId: string): void {
    this.#open.get(runId)?.due.add(deviceId);
  }

  /** Removes what may be removed. @returns 0 when there is more to do, null when nothing is left */
  async #withdraw(runId: string, lateFromMs: number): Promise<number | null> {
    const { intents, time } = this.#context;
    if (intents.of(runId).size > 0) {
      const run = this.#opened(runId, lateFromMs);
      const nowMs = time.nowMs();
      if (nowMs >= run.agedAtMs) {
        intents.forgetAged(runId, nowMs);
        run.agedAtMs = nowMs + ENDED_RUN_LOOK_MS;
      }
      const some = firstOf(run.due, WITHDRAW_BATCH);
      const done = await Promise.all(some.map((deviceId) => this.#withdrawOne(run, runId, deviceId)));
      if (done.includes("observed")) return null;
      if (run.due.size > 0) return 0;
    }
    if (intents.of(runId).size > 0) return ENDED_RUN_LOOK_MS;
    await this.#close(runId);
    return null;
  }

  async #withdrawOne(run: EndedRun, runId: string, deviceId: string): Promise<"done" | "observed"> {
    const { bucket, intents, log, writes } = this.#context;
    const intent = intents.of(runId).get(deviceId);
    // As it stands now: a device that has accepted it goes on, and needs its intent to the end.
    const entry = intent === undefined
      ? null
      : await (await bucket(BUCKETS.systemUpgradeStatus)).get(systemUpgradeKey(deviceId, runId));
    const result = entry === null ? null : readResult(entry, { deviceId, runId }, 0);
    if (result?.kind === "accepted") {
      // Its end may have come by the watch since; then it is looked at once more.
      if (!run.ended.has(deviceId)) run.due.delete(deviceId);
      return "done";
    }
    if (intent !== undefined) {
      const removed = await writes.removeIntent(deviceId, runId, intent.revision);
      if (removed === OBSERVED) return "observed";
      // Otherwise what stands there now came by the watch, or will.
      if (removed.ok) {
        log.info(result === null ? "intent withdrawn" : "intent removed", { device: deviceId, uid: runId });
        intents.remove(runId, deviceId);
      }
    }
    run.due.delete(deviceId);
    return "done";
  }

  #opened(runId: string, lateFromMs: number): EndedRun {
    const known = this.#open.get(runId);
    if (known !== undefined) return known;
    const { intents, look } = this.#context;
    const due = new Set(intents.of(runId).keys());
    const ended = new Set<string>();
    const late = { succeeded: 0, failed: 0 };
    const statuses = new RunStatuses(this.#context, {
      runId,
      lateFromMs,
      onResult: (deviceId, result) => {
        if (result.kind === "accepted" || result.kind === "ignored" || ended.has(deviceId)) return;
        ended.add(deviceId);
        if (result.isLate) late[result.kind]++;
        if (intents.of(runId).has(deviceId)) due.add(deviceId);
      },
      onNews: () => look(runId),
    }, this.#signal);
    const opened: EndedRun = { statuses, due, ended, late, agedAtMs: 0 };
    this.#open.set(runId, opened);
    return opened;
  }

  async #close(runId: string): Promise<void> {
    const ended = this.#open.get(runId);
    if (ended === undefined) return;
    // Its late results are in the record, which is written after this: they are kept until then.
    await ended.statuses.stop();
  }

  /** Writes the record if its turn has come. @returns when to look again for it, in ms; null when it is written */
  async #record(run: TaskRun): Promise<number | null> {
    const { intents } = this.#context;
    const runId = run.metadata.uid;
    const late = this.#open.get(runId)?.late ?? { succeeded: 0, failed: 0 };
    const record = historyRecord(run, late);
    const counts = `${late.succeeded} ${late.failed}`;
    if (record !== null && this.#recorded.get(runId) !== counts) {
      const waitMs = this.#throttle.waitMs(runId);
      if (waitMs > 0) return waitMs;
      this.#throttle.mark(runId);
      if (!await this.#writeRecord(record)) return LOST_RACE_PAUSE_MS;
      this.#recorded.set(runId, counts);
    }
    if (intents.of(runId).size === 0) this.#open.delete(runId);
    return null;
  }

  /** @returns whether the record is as it must be */
  async #writeRecord(record: TaskHistoryRecord): Promise<boolean> {
    const { bucket, log, writes } = this.#context;
    // Read first: at each start of an operator every ended run is looked at, and most have their record.
    const entry = await (await bucket(BUCKETS.taskHistory)).get(runKey(record.runId));
    if (entry === null) {
      const created = await writes.writeHistory(record, null);
      return created === OBSERVED || created.ok;
    }
    let known: LateCounts;
    try {
      const stored = decodeBytes(taskHistoryRecord, entry.value, documentMaxBytes(BUCKETS.taskHistory));
      known = { succeeded: stored.lateSucceeded, failed: stored.lateFailed };
    } catch (error) {
      if (!isFleetError(error, "E_DECODE")) throw error;
      log.state(`history ${record.runId}`, "the record of a run cannot be read", { uid: record.runId }, "warn");
      return true;
    }
    // Whoever has seen more late results has the newer record: they only ever become more.
    if (record.lateSucceeded <= known.succeeded && record.lateFailed <= known.failed) return true;
    const written = await writes.writeHistory(record, entry.revision);
    return written === OBSERVED || written.ok;
  }
}
