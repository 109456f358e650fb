/**
 * Describes a deployment: what it says, how far it has come, what to do next.
 *
 * @module
 */
import type { FleetDeployment } from "../../../contracts/fleet_deployment.ts";
import type { WorkloadContainer } from "../../../contracts/podman_workload.ts";
import type { Advice } from "../advice.ts";
import { instantWithAge } from "../render/age.ts";
import { indented, renderConditions } from "../render/conditions.ts";
import { type Field, renderAdvice, renderFields } from "../render/fields.ts";
import type { Paint } from "../render/paint.ts";
import { labelsText } from "../render/selector.ts";
import { type NamedCount, renderTargetCounts } from "../render/target_counts.ts";
import { renderTable } from "../render/table.ts";
import { deploymentAdvice } from "./deployment_advice.ts";
import { deploymentState, deploymentTone } from "./deployment_state.ts";

/** A description for programs. */
export interface DeploymentDescription {
  readonly deployment: FleetDeployment;
  readonly state: string;
  readonly advice: readonly Advice[];
}

/** The description as data. */
export function deploymentDescription(deployment: FleetDeployment): DeploymentDescription {
  return { deployment, state: deploymentState(deployment), advice: deploymentAdvice(deployment) };
}

/**
 * The description as text.
 *
 * @param deployment The deployment
 * @param nowMs The present by the broker's clock, in ms since the epoch
 * @param paint Colours
 */
export function renderDeployment(deployment: FleetDeployment, nowMs: number, paint: Paint): string {
  return renderFields(specFields(deployment, nowMs), paint) +
    renderContainers(deployment, paint) +
    renderCounts(deployment, paint) +
    renderConditions(deployment.status?.conditions ?? [], nowMs, paint) +
    renderAdvice(deploymentAdvice(deployment), paint);
}

function specFields(deployment: FleetDeployment, nowMs: number): Field[] {
  const { metadata, spec, status } = deployment;
  const selector = labelsText(spec.targetSelector.matchLabels ?? {});
  const labels = labelsText(metadata.labels ?? {});
  const state = deploymentState(deployment);
  return [
    ["Name", metadata.name],
    ["Labels", labels === "" ? undefined : labels],
    ["Created", instantWithAge(metadata.creationTimestamp, nowMs)],
    ["UID", metadata.uid],
    ["Generation", String(metadata.generation)],
    ["Groups", spec.allowedGroups.join(", ")],
    ["Selector", selector === "" ? "every device of the groups" : selector],
    ["State", { text: state, tone: deploymentTone(state) }],
    ["Last error", status?.lastError === undefined ? undefined : { text: status.lastError, tone: "bad" }],
  ];
}

function portsText({ ports = [] }: WorkloadContainer): string {
  const texts = ports.map(({ containerPort, hostIp, hostPort, protocol }) => {
    const suffix = protocol === undefined || protocol === "tcp" ? "" : `/${protocol}`;
    return `${hostIp === undefined ? "" : `${hostIp}:`}${hostPort}->${containerPort}${suffix}`;
  });
  return texts.length === 0 ? "-" : texts.join(",");
}

function renderContainers({ spec }: FleetDeployment, paint: Paint): string {
  const table = renderTable<WorkloadContainer>(
    [
      { title: "NAME", cell: ({ name }) => name },
      { title: "IMAGE", cell: ({ image }) => image },
      { title: "PORTS", cell: portsText },
      { title: "RESTART", cell: ({ restartPolicy }) => restartPolicy ?? "always" },
    ],
    spec.podmanV0.containers,
    { width: null, paint },
  );
  return `\n${paint("Containers:", "strong")}\n${indented(table, "  ")}`;
}

function renderCounts({ metadata, status }: FleetDeployment, paint: Paint): string {
  if (status === undefined) return "";
  const counts: readonly NamedCount[] = [
    ["targets", status.targets],
    ["ready", status.ready, "good"],
    ["pending", status.pending, "busy"],
    ["failed", status.failed, "bad"],
  ];
  return renderTargetCounts(counts, `fleetctl deployment devices ${metadata.name}`, paint);
}
