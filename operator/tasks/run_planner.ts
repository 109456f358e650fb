/**
 * Freezes the targets of a run: gathers them from what is known of the fleet, and writes the plan (DESIGN 7, Plan).
 *
 * Guarantees: whoever comes second finds the first one's plan; a group source that fails is no answer; nothing is frozen
 * after the deadline.
 *
 * @module
 */
import { BUCKETS } from "../../contracts/buckets.ts";
import { FleetError } from "../../contracts/errors.ts";
import { FLEET_SIZE_MAX, RECONCILE_SLICE_MS } from "../../contracts/limits.ts";
import { labelsMatch } from "../../contracts/placement.ts";
import type { TaskRun, TaskRunReason } from "../../contracts/task_run.ts";
import { decidePlanning } from "../policy/task_decision.ts";
import { planDocuments, type TaskPlan } from "../policy/task_plan_documents.ts";
import { runDeadlineMs } from "../policy/task_run_status.ts";
import { type RunTargets, TargetCollector } from "../policy/task_targets.ts";
import { OBSERVED } from "../reconcile/observer.ts";
import { EventLoopSlice } from "../runtime/event_loop_slice.ts";
import { loadPlan } from "./load_plan.ts";
import { groupsNow, type TaskContext } from "./task_context.ts";
import type { TaskWrites } from "./task_writes.ts";

/** What became of planning a run. */
export type Planned =
  | { readonly kind: "frozen"; readonly plan: TaskPlan }
  | { readonly kind: "failed"; readonly reason: TaskRunReason; readonly error: string; readonly incapable: number }
  /** In observe mode, which freezes nothing. */
  | { readonly kind: "observed" };

type PlannerContext = Pick<TaskContext, "fleet" | "groups" | "time" | "bucket" | "log"> & {
  readonly writes: Pick<TaskWrites, "writePlan">;
};

/**
 * Gathers the targets of a run.
 *
 * @throws {FleetError} when the groups of a device that the selector takes cannot be known
 */
export async function gatherTargets(
  context: Pick<TaskContext, "fleet" | "groups">,
  { spec }: Pick<TaskRun, "spec">,
): Promise<RunTargets> {
  const { fleet } = context;
  const collector = new TargetCollector(spec);
  const slice = new EventLoopSlice(RECONCILE_SLICE_MS);
  for (const id of [...fleet.deviceIds]) {
    if (slice.isOver) await slice.renew();
    const record = fleet.device(id);
    const labels = record?.device?.metadata.labels;
    // Devices that the labels leave out need not be asked for: a source that fails for them must not stop the run.
    if (record === undefined || labels === undefined || !labelsMatch(spec.targetSelector, labels)) continue;
    const groups = await groupsNow(context, id) ?? [];
    const capabilities = record.documents[BUCKETS.deviceInfo]?.value?.updater?.capabilities;
    collector.add({ id: record.id, groups, labels, ...(capabilities === undefined ? {} : { capabilities }) });
  }
  return collector.targets();
}

/**
 * Plans a run that has no plan.
 *
 * @param context What planning works with
 * @param run The run
 * @throws {FleetError} when planning must be tried again
 */
export async function planRun(context: PlannerContext, run: TaskRun): Promise<Planned> {
  const { bucket, fleet, log, time, writes } = context;
  const expiresAtMs = runDeadlineMs(run);
  const decide = (targets: number | null) =>
    decidePlanning({ nowMs: time.nowMs(), expiresAtMs, targets, targetsMax: FLEET_SIZE_MAX });
  // A run whose deadline has passed fails, whether or not anybody could say who its targets are.
  const early = decide(null);
  if (early.kind === "fail") return failed(early.reason, null);
  const targets = await gatherTargets(context, run);
  const decision = decide(targets.canaries.length + targets.others.length);
  if (decision.kind === "fail") return failed(decision.reason, targets);
  const runId = run.metadata.uid;
  const documents = planDocuments({
    runId,
    nonce: crypto.randomUUID(),
    targets,
    // Never before the run's own creation, whatever the two clocks say: an attempt may not last for more than a week.
    createdAtMs: Math.max(time.nowMs(), Date.parse(run.metadata.creationTimestamp)),
    expiresAtMs,
  });
  const written = await writes.writePlan(documents);
  if (written === OBSERVED) return { kind: "observed" };
  if (written.ok) {
    const { manifest } = documents;
    log.info("plan frozen", {
      run: run.metadata.name,
      uid: runId,
      targets: manifest.targets,
      canaries: manifest.canaries,
    });
    return { kind: "frozen", plan: { manifest, canaries: targets.canaries, others: targets.others } };
  }
  const plan = await loadPlan(await bucket(BUCKETS.taskPlan), runId, (id) => fleet.device(id)?.id ?? id);
  if (plan !== null) return { kind: "frozen", plan };
  // It stands there, and this replica does not have it yet.
  throw new FleetError(`Cannot read the plan of ${run.metadata.name} yet`, {
    code: "E_TASK_PLAN_UNSETTLED",
    retry: "transient",
    failureClass: "environment",
  });
}

function failed(reason: TaskRunReason, targets: RunTargets | null): Planned {
  const incapable = targets?.incapable ?? 0;
  return { kind: "failed", reason, error: failureText(reason, incapable), incapable };
}

function failureText(reason: TaskRunReason, incapable: number): string {
  if (reason === "DeadlineExceeded") return "the deadline passed before the plan could be made";
  if (reason === "TooManyTargets") return `more than ${FLEET_SIZE_MAX} devices match`;
  const without = incapable === 0 ? "" : `; ${incapable} matched, and their updaters do not have it`;
  return `no authorized device with the capability AptFullUpgradeV1 matches${without}`;
}
