/**
 * Describes a run: what it says, how far it has come, what to do next.
 *
 * @module
 */
import type { TaskRun } from "../../../contracts/task_run.ts";
import type { Advice } from "../advice.ts";
import { age, instantWithAge } from "../render/age.ts";
import { renderConditions } from "../render/conditions.ts";
import { type Field, renderAdvice, renderFields } from "../render/fields.ts";
import type { Paint } from "../render/paint.ts";
import { labelsText } from "../render/selector.ts";
import { type NamedCount, renderTargetCounts } from "../render/target_counts.ts";
import { taskAdvice } from "./task_advice.ts";
import { phaseCell } from "./task_table.ts";

/** A description for programs. */
export interface TaskDescription {
  readonly task: TaskRun;
  readonly advice: readonly Advice[];
}

/** The description as data. */
export function taskDescription(task: TaskRun): TaskDescription {
  return { task, advice: taskAdvice(task) };
}

/**
 * The description as text.
 *
 * @param run The run
 * @param nowMs The present by the broker's clock, in ms since the epoch
 * @param paint Colours
 */
export function renderTask(run: TaskRun, nowMs: number, paint: Paint): string {
  return renderFields(fields(run, nowMs), paint) +
    renderCounts(run, paint) +
    renderConditions(run.status?.conditions ?? [], nowMs, paint) +
    renderAdvice(taskAdvice(run), paint);
}

function fields(run: TaskRun, nowMs: number): Field[] {
  const { metadata, spec, status } = run;
  const selector = labelsText(spec.targetSelector.matchLabels ?? {});
  const labels = labelsText(metadata.labels ?? {});
  const time = (instant: string | undefined) => instant === undefined ? undefined : instantWithAge(instant, nowMs);
  const leftMs = status?.expiresAt === undefined ? 0 : Date.parse(status.expiresAt) - nowMs;
  return [
    ["Name", metadata.name],
    ["Labels", labels === "" ? undefined : labels],
    ["Created", instantWithAge(metadata.creationTimestamp, nowMs)],
    ["UID", metadata.uid],
    ["Does", "systemUpgradeV1: every package, and a reboot where anything changed or is due"],
    ["Groups", spec.allowedGroups.join(", ")],
    ["Selector", selector === "" ? "every device of the groups" : selector],
    ["Deadline", `${age(spec.deadlineSeconds * 1_000)} after its creation${leftMs > 0 ? `, ${age(leftMs)} left` : ""}`],
    ["Phase", phaseCell(run)],
    ["Reason", status?.reason],
    ["Left out", status === undefined || status.incapable === 0 ? undefined : `${status.incapable} incapable`],
    ["Frozen", time(status?.startedAt)],
    ["Ended", time(status?.completedAt)],
    ["Last error", status?.lastError === undefined ? undefined : { text: status.lastError, tone: "bad" }],
  ];
}

function renderCounts({ metadata, status }: TaskRun, paint: Paint): string {
  if (status === undefined) return "";
  const counts: readonly NamedCount[] = [
    ["targets", status.targets],
    ["canaries", status.canaries],
    ["released", status.released, "busy"],
    ["succeeded", status.succeeded, "good"],
    ["failed", status.failed, "bad"],
  ];
  return renderTargetCounts(counts, `fleetctl task devices ${metadata.name}`, paint);
}
