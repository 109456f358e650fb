/**
 * What a deployment is about, in a word and a colour.
 *
 * @module
 */
import type { FleetDeployment } from "../../../contracts/fleet_deployment.ts";
import type { Tone } from "../render/paint.ts";

/** States of a deployment, as its table shows them. */
export type DeploymentState = "New" | "NotAccepted" | "Placing" | "NoTargets" | "Ready" | "Pending" | "Degraded";

/**
 * The state of a deployment.
 *
 * @param deployment The deployment
 */
export function deploymentState({ metadata, status }: FleetDeployment): DeploymentState {
  // Figures of an older spec say nothing of this one.
  if (status === undefined || status.observedGeneration !== metadata.generation) return "New";
  const condition = (type: string) => status.conditions?.find((known) => known.type === type);
  if (condition("Accepted")?.status === "False") return "NotAccepted";
  if (condition("Ready")?.reason === "Placing") return "Placing";
  if (status.targets === 0) return "NoTargets";
  if (status.failed > 0) return "Degraded";
  return status.ready === status.targets ? "Ready" : "Pending";
}

const TONES: Readonly<Record<DeploymentState, Tone>> = {
  New: "faint",
  NotAccepted: "bad",
  Placing: "busy",
  NoTargets: "faint",
  Ready: "good",
  Pending: "busy",
  Degraded: "bad",
};

/** Colour of a state. */
export function deploymentTone(state: DeploymentState): Tone {
  return TONES[state];
}
