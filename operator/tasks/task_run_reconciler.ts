/**
 * Reconciles one run: gathers what is known of its devices, decides (pure), applies.
 *
 * Guarantees: every write is a compare-and-set or may be repeated, so that any number of operators may run and any may
 * be killed between two writes; intents are written only while the stored phase is `Running`; a stored terminal phase is
 * never written over.
 *
 * @module
 */
import { BUCKETS } from "../../contracts/buckets.ts";
import { errorText, isFleetError } from "../../contracts/errors.ts";
import { DEADLINE_SETTLE_MS, LOST_RACE_PAUSE_MS, WITHDRAW_BATCH } from "../../contracts/limits.ts";
import { isTerminalRun, type TaskRun, type TaskRunPhase, type TaskRunReason } from "../../contracts/task_run.ts";
import { decideRun, type RunDecision, type Wave, type WaveCounts } from "../policy/task_decision.ts";
import type { TaskPlan } from "../policy/task_plan_documents.ts";
import { nextRunStatus, runDeadlineMs, type RunStatusFacts } from "../policy/task_run_status.ts";
import { OBSERVED } from "../reconcile/observer.ts";
import { writeStatus } from "../reconcile/status_write.ts";
import type { WriteThrottle } from "../runtime/write_throttle.ts";
import { firstOf, soonest } from "./bounded_steps.ts";
import type { EndedRuns } from "./ended_runs.ts";
import { releaseWave } from "./intent_release.ts";
import { loadPlan } from "./load_plan.ts";
import { RunProgress } from "./run_progress.ts";
import { planRun } from "./run_planner.ts";
import { RunStatuses } from "./run_statuses.ts";
import { GROUPS_UNKNOWN, type TaskContext } from "./task_context.ts";

const NO_DEVICES: WaveCounts = { targets: 0, released: 0, succeeded: 0, failed: 0 };

/** A run that is worked on. */
interface ActiveRun {
  readonly plan: TaskPlan;
  readonly expiresAtMs: number;
  readonly progress: RunProgress;
  readonly statuses: RunStatuses;
  /** Devices that have ended and whose intent may still stand. */
  readonly ended: Set<string>;
  checkedWave: Wave | null;
}

/** Reconciles runs. */
export class TaskRunReconciler {
  readonly #context: TaskContext;
  readonly #throttle: WriteThrottle;
  readonly #endedRuns: EndedRuns;
  readonly #signal: AbortSignal;
  readonly #active = new Map<string, ActiveRun>();
  /** Since when the plan of a running run is not found, by the monotonic clock. */
  readonly #lostSinceMs = new Map<string, number>();

  /**
   * @param context What it works with
   * @param throttle Spaces out the writes of each run's status
   * @param endedRuns Takes care of runs that have ended
   * @param signal Ends what it follows
   */
  constructor(context: TaskContext, throttle: WriteThrottle, endedRuns: EndedRuns, signal: AbortSignal) {
    this.#context = context;
    this.#throttle = throttle;
    this.#endedRuns = endedRuns;
    this.#signal = signal;
  }

  /** Takes that an intent stands in its bucket. @returns how soon to look at its run, in ms */
  takeIntent(runId: string, deviceId: string): number {
    const active = this.#active.get(runId);
    if (active === undefined) return 0;
    active.progress.release(deviceId);
    if (active.progress.hasEnded(deviceId)) active.ended.add(deviceId);
    // This operator's own intents come back as well, many at a time.
    return LOST_RACE_PAUSE_MS;
  }

  /**
   * Reconciles a run.
   *
   * @param runId Its uid
   * @returns when to look again without an event, in ms from now; null for never
   * @throws {FleetError} when it must be tried again
   */
  async reconcile(runId: string): Promise<number | null> {
    const run = this.#context.runs.run(runId);
    if (run === undefined) {
      await this.#leave(runId);
      return await this.#endedRuns.tidyDeleted(runId);
    }
    if (run.status !== undefined && isTerminalRun(run.status.phase)) {
      await this.#leave(runId);
      return await this.#endedRuns.tidy(run);
    }
    const active = this.#active.get(runId);
    return active === undefined ? await this.#begin(run) : await this.#work(run, active);
  }

  /** Ends what it follows. */
  async close(): Promise<void> {
    await Promise.all([...this.#active.keys()].map((runId) => this.#leave(runId)));
  }

  /** Finds or makes the plan, and begins to follow what devices say. */
  async #begin(run: TaskRun): Promise<number | null> {
    const runId = run.metadata.uid;
    const plan = await this.#plan(run);
    if (plan === null || typeof plan === "number") return plan;
    this.#lostSinceMs.delete(runId);
    const running = run.status?.phase === "Running" ? run : await this.#writeRunning(run, plan);
    if (running === null) return LOST_RACE_PAUSE_MS;
    const { intents, look } = this.#context;
    const progress = new RunProgress(plan);
    const ended = new Set<string>();
    const expiresAtMs = Date.parse(plan.manifest.expiresAt);
    for (const deviceId of intents.of(runId).keys()) progress.release(deviceId);
    const statuses = new RunStatuses(this.#context, {
      runId,
      lateFromMs: expiresAtMs,
      onResult: (deviceId, result, receivedAtMs) => {
        progress.take(deviceId, result, receivedAtMs);
        if (progress.hasEnded(deviceId)) ended.add(deviceId);
      },
      onNews: () => look(runId),
    }, this.#signal);
    this.#active.set(runId, { plan, expiresAtMs, progress, statuses, ended, checkedWave: null });
    return null;
  }

  /** The plan; a number or null says when to look again instead. */
  async #plan(run: TaskRun): Promise<TaskPlan | number | null> {
    const { bucket, fleet } = this.#context;
    const runId = run.metadata.uid;
    const isRunning = run.status?.phase === "Running";
    try {
      const known = await loadPlan(await bucket(BUCKETS.taskPlan), runId, (id) => fleet.device(id)?.id ?? id);
      if (known !== null) return known;
    } catch (error) {
      if (!isFleetError(error, "E_TASK_PLAN_LOST")) throw error;
      return await this.#lost(run, error.message);
    }
    if (isRunning) return await this.#lost(run, "Cannot read the frozen plan: its manifest is gone");
    let planned;
    try {
      planned = await planRun(this.#context, run);
    } catch (error) {
      await this.#tellWaiting(run, error);
      throw error;
    }
    if (planned.kind === "frozen") return planned.plan;
    if (planned.kind === "observed") return null;
    const { error, incapable, reason } = planned;
    return await this.#end(run, null, { phase: "Failed", reason, lastError: error, incapable });
  }

  /** A plan that cannot be read now may only not be there yet, on a replica that lags. */
  async #lost(run: TaskRun, error: string): Promise<number | null> {
    const runId = run.metadata.uid;
    const nowMs = this.#context.clock.monotonicMs();
    const sinceMs = this.#lostSinceMs.get(runId) ?? nowMs;
    this.#lostSinceMs.set(runId, sinceMs);
    const waitMs = sinceMs + this.#context.settleMs - nowMs;
    return waitMs > 0 ? waitMs : await this.#end(run, null, { phase: "Failed", reason: "PlanLost", lastError: error });
  }

  async #work(run: TaskRun, active: ActiveRun): Promise<number | null> {
    // What is not known yet would be taken for what has not happened.
    if (!active.statuses.isCurrent) return null;
    const leftMs = await this.#removeEndedIntents(run.metadata.uid, active);
    let decision = this.#decide(active);
    if (isDeadline(decision)) {
      const waitMs = active.expiresAtMs + DEADLINE_SETTLE_MS - this.#context.time.nowMs();
      if (waitMs > 0) return soonest(await this.#report(run, active), waitMs, leftMs);
      // A watch may lag: what the broker received in time counts, whoever was told of it or not.
      await active.statuses.reread();
      decision = this.#decide(active);
    }
    switch (decision.kind) {
      case "complete":
        return await this.#end(run, active, { phase: "Complete", reason: "AllSucceeded" });
      case "fail":
        return await this.#end(run, active, { phase: "Failed", ...failureOf(decision.reason, active) });
      case "release":
        return soonest(await this.#release(run, active, decision.wave), leftMs);
      case "wait":
        return soonest(
          await this.#report(run, active),
          Math.max(0, decision.untilMs - this.#context.time.nowMs()),
          leftMs,
        );
    }
  }

  #decide({ expiresAtMs, progress }: ActiveRun): RunDecision {
    return decideRun({
      nowMs: this.#context.time.nowMs(),
      expiresAtMs,
      canaries: progress.counts("canaries"),
      others: progress.counts("others"),
    });
  }

  async #release(run: TaskRun, active: ActiveRun, wave: Wave): Promise<number | null> {
    let released;
    try {
      released = await releaseWave(this.#context, run, active, wave);
    } catch (error) {
      if (isFleetError(error, GROUPS_UNKNOWN)) await this.#report(run, active, errorText(error));
      throw error;
    }
    switch (released.kind) {
      case "revoked": {
        const lastError = `${released.deviceId}: lost its authorization before its release`;
        return await this.#end(run, active, { phase: "Failed", reason: "TargetRevoked", lastError });
      }
      case "observed":
        return null;
      case "over":
        return LOST_RACE_PAUSE_MS;
      case "released":
        await this.#report(run, active);
        return 0;
    }
  }

  /** Writes the counts when they have changed and their turn has come. */
  async #report(run: TaskRun, active: ActiveRun, lastError?: string): Promise<number | null> {
    const canaries = active.progress.counts("canaries");
    const reason = canaries.succeeded < canaries.targets ? "CanariesReleased" : "AllReleased";
    const latest = active.progress.latestError;
    const error = lastError ?? (latest === null ? undefined : `${latest.deviceId}: ${latest.error}`);
    const status = nextRunStatus(run.status, {
      ...this.#facts(run, active, "Running", reason),
      ...(error === undefined ? {} : { lastError: error }),
    });
    const { runs, writes } = this.#context;
    return await writeStatus<"TaskRun">({
      name: run.metadata.uid,
      stored: run.status,
      next: status,
      throttle: this.#throttle,
      write: () => writes.writeRunStatus(run, status),
      onWritten: (written) => runs.put(written),
    });
  }

  #facts(run: TaskRun, active: ActiveRun | null, phase: TaskRunPhase, reason: TaskRunReason): RunStatusFacts {
    return {
      nowMs: this.#context.time.nowMs(),
      generation: run.metadata.generation,
      spec: run.spec,
      phase,
      reason,
      expiresAtMs: runDeadlineMs(run),
      ...(active === null ? {} : { manifest: active.plan.manifest }),
      canaries: active?.progress.counts("canaries") ?? NO_DEVICES,
      others: active?.progress.counts("others") ?? NO_DEVICES,
    };
  }

  /** Writes `Running` over `Planning`. @returns the run; null when somebody else has written it */
  async #writeRunning(run: TaskRun, plan: TaskPlan): Promise<TaskRun | null> {
    const wave = (targets: readonly string[]): WaveCounts => ({ ...NO_DEVICES, targets: targets.length });
    return await this.#write(run, {
      ...this.#facts(run, null, "Running", plan.canaries.length > 0 ? "CanariesReleased" : "AllReleased"),
      manifest: plan.manifest,
      canaries: wave(plan.canaries),
      others: wave(plan.others),
    });
  }

  async #end(
    run: TaskRun,
    active: ActiveRun | null,
    end: { phase: "Complete" | "Failed"; reason: TaskRunReason; lastError?: string; incapable?: number },
  ): Promise<number | null> {
    const { phase, reason, ...rest } = end;
    const facts = { ...this.#facts(run, active, phase, reason), ...rest };
    if (active === null && run.status !== undefined) Object.assign(facts, keptCounts(run.status));
    const written = await this.#write(run, facts);
    if (written === null) return LOST_RACE_PAUSE_MS;
    if (written === run) return null;
    const { log } = this.#context;
    log.info("run ended", { run: run.metadata.name, uid: run.metadata.uid, phase, reason, error: end.lastError });
    return 0;
  }

  /** Writes a status at once. @returns the written run, the run itself in observe mode, null when somebody was faster */
  async #write(run: TaskRun, facts: RunStatusFacts): Promise<TaskRun | null> {
    const { look, runs, store, writes } = this.#context;
    const written = await writes.writeRunStatus(run, nextRunStatus(run.status, facts));
    if (written === OBSERVED) return run;
    const newest = written.ok ? written.resource : await store.get("TaskRun", run.metadata.name);
    if (newest !== null) { for (const runId of runs.put(newest)) if (runId !== run.metadata.uid) look(runId); }
    return written.ok ? written.resource : null;
  }

  async #tellWaiting(run: TaskRun, error: unknown): Promise<void> {
    const reason = isFleetError(error, GROUPS_UNKNOWN) ? "WaitingForGroups" : "PlanNotWritten";
    if (!isFleetError(error) || this.#throttle.waitMs(run.metadata.uid) > 0) return;
    this.#throttle.mark(run.metadata.uid);
    const facts = { ...this.#facts(run, null, "Planning", reason), lastError: errorText(error) };
    // The broker may be away altogether: the error that is thrown says so.
    await this.#write(run, facts).catch(() => null);
  }

  /** Removes intents of devices that have ended. @returns 0 when there are more */
  async #removeEndedIntents(runId: string, { ended }: ActiveRun): Promise<number | null> {
    const { intents, writes } = this.#context;
    await Promise.all(
      firstOf(ended, WITHDRAW_BATCH).map(async (deviceId) => {
        const intent = intents.of(runId).get(deviceId);
        if (intent !== undefined) {
          const removed = await writes.removeIntent(deviceId, runId, intent.revision);
          if (removed !== OBSERVED && removed.ok) intents.remove(runId, deviceId);
        }
        ended.delete(deviceId);
      }),
    );
    return ended.size > 0 ? 0 : null;
  }

  async #leave(runId: string): Promise<void> {
    this.#lostSinceMs.delete(runId);
    const active = this.#active.get(runId);
    this.#active.delete(runId);
    await active?.statuses.stop();
  }
}

function isDeadline(decision: RunDecision): boolean {
  return decision.kind === "fail" && (decision.reason === "DeadlineExceeded" || decision.reason === "CanaryTimedOut");
}

function failureOf(reason: TaskRunReason, { progress }: ActiveRun): { reason: TaskRunReason; lastError?: string } {
  const canaries = progress.counts("canaries");
  const others = progress.counts("others");
  const latest = progress.latestError;
  const error = latest === null ? undefined : `${latest.deviceId}: ${latest.error}`;
  if (reason === "CanaryTimedOut") {
    const missing = canaries.targets - canaries.succeeded;
    return { reason, lastError: `${missing} of ${canaries.targets} canaries had not succeeded by the deadline` };
  }
  if (reason === "DeadlineExceeded" && error === undefined) {
    const missing = canaries.targets + others.targets - canaries.succeeded - others.succeeded;
    return { reason, lastError: `${missing} of ${canaries.targets + others.targets} targets were late or missing` };
  }
  return { reason, ...(error === undefined ? {} : { lastError: error }) };
}

/** Counts of a run whose plan is lost: what was written last is all that is known. */
function keptCounts({ canaries, failed, released, succeeded, targets }: NonNullable<TaskRun["status"]>) {
  const counts: WaveCounts = { targets: targets - canaries, released, succeeded, failed };
  return { canaries: { ...NO_DEVICES, targets: canaries }, others: counts };
}
