/**
 * Texts of `fleetctl apply`.
 *
 * @module
 */
import { bounded } from "../../../contracts/formats.ts";
import { FIELD_CHANGE_MAX_CHARS } from "../../../contracts/limits.ts";
import type { PlacedProblem } from "../manifest/read_manifest.ts";
import type { Paint, Tone } from "../render/paint.ts";
import { printable } from "../render/printable.ts";
import { resourceName } from "../render/resource_list.ts";
import { renderRunPreview } from "../tasks/render_run_preview.ts";
import type { ApplyResult } from "./apply_inputs.ts";
import type { DeploymentImpact } from "./deployment_impact.ts";
import { type FieldChange, fieldChangeText } from "./field_changes.ts";
import type { DeviceImpact, FleetImpact, ReleaseImpact } from "./fleet_impact.ts";
import type { TaskImpact } from "./preview_apply.ts";

/**
 * The line of a document that was applied: `agentrelease/agent-1-5 created`.
 *
 * @param result What was done
 */
export function resultLine({ kind, name, action }: ApplyResult): string {
  return `${resourceName(kind, name)} ${action}\n`;
}

/**
 * What applying documents would do: each change field by field, then on how many devices.
 *
 * @param results Each document
 * @param impact The fleet
 * @param paint Colours
 * @param tasks What new runs would do. Default none
 */
export function renderPreview(
  results: readonly ApplyResult[],
  impact: FleetImpact,
  paint: Paint,
  tasks: readonly TaskImpact[] = [],
): string {
  const releases = new Map(impact.releases.map((release) => [release.release, release]));
  const deployments = new Map(impact.deployments.map((deployment) => [deployment.deployment, deployment]));
  const devices = new Map(impact.devices.map((device) => [device.device, device]));
  const runs = new Map(tasks.map((task) => [task.task, task]));
  const parts = results.map((result) => {
    const head = resultLine(result).replace("\n", " (dry run)\n");
    const changes = result.changes.map((change) => `  ${changeLine(change, paint)}\n`).join("");
    const release = result.kind === "AgentRelease" ? releases.get(result.name) : undefined;
    const deployment = result.kind === "FleetDeployment" ? deployments.get(result.name) : undefined;
    const task = result.kind === "TaskRun" ? runs.get(result.name) : undefined;
    const device = result.kind === "Device" ? devices.get(result.name) : undefined;
    return head + changes + (release === undefined ? "" : releaseLines(release)) +
      (deployment === undefined ? "" : deploymentLine(deployment)) +
      (device === undefined ? "" : deviceLine(device)) +
      (task === undefined ? "" : renderRunPreview(task, paint));
  });
  return `${parts.join("")}${totalLine(impact, tasks)}`;
}

function changeLine(change: FieldChange, paint: Paint): string {
  const tone: Tone = change.from === undefined ? "good" : change.to === undefined ? "bad" : "busy";
  const text = printable(fieldChangeText(change));
  return paint(bounded(text, FIELD_CHANGE_MAX_CHARS), tone);
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

function releaseLines({ targets, wouldUpgrade, others, gained, lost, tied }: ReleaseImpact): string {
  const lines = [`  targets ${count(targets, "device")}: ${wouldUpgrade} would upgrade${othersText(others)}`];
  if (gained > 0) lines.push(`  decides for ${count(gained, "device")} for which it does not decide now`);
  if (lost > 0) lines.push(`  lets ${count(lost, "device")} go for which it decides now`);
  if (tied > 0) {
    lines.push(`  is tied on ${count(tied, "device")} with a release of the same priority: none is installed there`);
  }
  return lines.map((line) => `${line}\n`).join("");
}

function othersText(others: ReleaseImpact["others"]): string {
  const parts = Object.entries(others).sort(([left], [right]) => left < right ? -1 : 1)
    .map(([reason, number]) => `${number} ${reason}`);
  return parts.length === 0 ? "" : `; would not: ${parts.join(", ")}`;
}

function deploymentLine({ changed, gained, lost, targets }: DeploymentImpact): string {
  const parts = [`${gained} would get it`, `${changed} would change containers`];
  const line = `  targets ${count(targets, "device")}: ${parts.join(", ")}`;
  return lost === 0 ? `${line}\n` : `${line}\n  lets ${count(lost, "device")} go, which would remove its containers\n`;
}

function deviceLine({ before, after, deployments: { changed, gained, lost } }: DeviceImpact): string {
  const release = before === after ? `  release: ${after}\n` : `  release: ${before} -> ${after}\n`;
  const parts = [
    ...gained.map((name) => `+${name}`),
    ...changed.map((name) => `~${name}`),
    ...lost.map((name) => `-${name}`),
  ];
  return parts.length === 0
    ? release
    : `${release}  deployments: ${bounded(parts.join(" "), FIELD_CHANGE_MAX_CHARS)}\n`;
}

/** Names where the groups are from: an operator may be told to take them from elsewhere, and no store says so. */
function totalLine(
  { newAttempts, groupsFrom, workloadsChanged }: FleetImpact,
  tasks: readonly TaskImpact[],
): string {
  const what = newAttempts === 0 ? "no upgrade" : `an upgrade on ${count(newAttempts, "device")}`;
  const containers = workloadsChanged === 0 ? "" : `, and change containers on ${count(workloadsChanged, "device")}`;
  const upgraded = new Set(tasks.flatMap(({ devices }) => devices)).size;
  const systems = upgraded === 0 ? "" : `, and upgrade the system of ${count(upgraded, "device")}`;
  return `nothing was changed; by the groups of ${groupsFrom}, applying this would start ${what}${containers}${systems}\n`;
}

/**
 * Everything that is wrong with files, a line each, with the place where it stands.
 *
 * @param problems The problems
 */
export function renderProblems(problems: readonly PlacedProblem[]): string {
  return problems.map(({ file, line, document, subject, message, hint }) => {
    const place = [file, line].filter((part) => part !== undefined).join(":");
    const which = document === undefined ? "" : `document ${document}${subject === undefined ? "" : ` (${subject})`}: `;
    return printable(`${place}: ${which}${message}${hint === undefined ? "" : `; ${hint}`}`) + "\n";
  }).join("");
}
