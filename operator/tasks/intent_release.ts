/**
 * Writes the intents of a wave (DESIGN 7, Release of intents): the wave is checked whole before its first intent, and
 * each device again right before its own.
 *
 * @module
 */
import { RECONCILE_SLICE_MS, RELEASE_BATCH } from "../../contracts/limits.ts";
import { isTerminalRun, type TaskRun } from "../../contracts/task_run.ts";
import { isAuthorized, type Wave } from "../policy/task_decision.ts";
import type { TaskPlan } from "../policy/task_plan_documents.ts";
import { OBSERVED } from "../reconcile/observer.ts";
import { EventLoopSlice } from "../runtime/event_loop_slice.ts";
import { firstOf } from "./bounded_steps.ts";
import type { RunProgress } from "./run_progress.ts";
import { groupsNow, type TaskContext } from "./task_context.ts";

/** A run whose wave is released. */
export interface ReleasedRun {
  readonly plan: TaskPlan;
  readonly progress: RunProgress;
  /** The wave that was checked whole; null while none was. */
  checkedWave: Wave | null;
}

/** What became of a part of a wave. */
export type Released =
  /** Intents were written; more may be left. */
  | { readonly kind: "released" }
  /** A device lost its authorization. */
  | { readonly kind: "revoked"; readonly deviceId: string }
  /** The run has ended or is gone, or its deadline has come: nothing more was written. */
  | { readonly kind: "over" }
  | { readonly kind: "observed" };

type ReleaseContext = Pick<TaskContext, "fleet" | "groups" | "intents" | "runs" | "store" | "time" | "writes">;

/**
 * Writes the next intents of a wave, a bounded number of them.
 *
 * @param context What release works with
 * @param run The run
 * @param released Its plan, and how far it is
 * @param wave The wave
 * @throws {FleetError} when it cannot be known who is authorized, or written; it may be called again
 */
export async function releaseWave(
  context: ReleaseContext,
  run: TaskRun,
  released: ReleasedRun,
  wave: Wave,
): Promise<Released> {
  const { runs, store } = context;
  if (released.checkedWave !== wave) {
    const revoked = await revokedDevice(context, run, released.progress.unreleased(wave));
    if (revoked !== null) return { kind: "revoked", deviceId: revoked };
    released.checkedWave = wave;
  }
  // Read anew, not from the watch: what somebody else has ended must not go on here.
  const newest = await store.get("TaskRun", run.metadata.name);
  if (newest !== null) runs.put(newest);
  const phase = newest?.metadata.uid === run.metadata.uid ? newest.status?.phase : undefined;
  if (phase === undefined || isTerminalRun(phase)) return { kind: "over" };
  const results = await Promise.all(
    firstOf(released.progress.unreleased(wave), RELEASE_BATCH).map((id) => releaseOne(context, run, released, id)),
  );
  return results.find(({ kind }) => kind === "revoked") ?? results.find(({ kind }) => kind !== "released") ??
    { kind: "released" };
}

/** The first device that is not authorized any more; null for none. */
async function revokedDevice(
  context: ReleaseContext,
  { spec }: TaskRun,
  deviceIds: Iterable<string>,
): Promise<string | null> {
  const slice = new EventLoopSlice(RECONCILE_SLICE_MS);
  for (const id of deviceIds) {
    if (slice.isOver) await slice.renew();
    if (!isAuthorized(spec.allowedGroups, await groupsNow(context, id))) return id;
  }
  return null;
}

async function releaseOne(
  context: ReleaseContext,
  run: TaskRun,
  { plan: { manifest }, progress }: ReleasedRun,
  deviceId: string,
): Promise<Released> {
  const { intents, time, writes } = context;
  const groups = await groupsNow(context, deviceId);
  if (!isAuthorized(run.spec.allowedGroups, groups)) return { kind: "revoked", deviceId };
  if (time.nowMs() >= Date.parse(manifest.expiresAt)) return { kind: "over" };
  const written = await writes.createIntent(manifest, deviceId);
  if (written === OBSERVED) return { kind: "observed" };
  if (written.ok) {
    intents.put(manifest.runId, deviceId, { revision: written.revision, receivedAtMs: time.nowMs() });
  }
  // Otherwise there was one before, of another operator or of an earlier life of this one.
  progress.release(deviceId);
  return { kind: "released" };
}
