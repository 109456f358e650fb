/**
 * How each deployment stands on the device, as its status tells (`contracts/deployment_status.ts`).
 *
 * @module
 */
import type { ContainerState, DeploymentPhase, DeploymentReason } from "../../contracts/deployment_status.ts";
import { bounded, uuid } from "../../contracts/formats.ts";
import type { HeldState } from "./desired_state.ts";
import { type ContainerPlan, hasEndedWell, type PlacePlan, type Problem, shouldStart } from "./plan_containers.ts";

/** How a deployment stands. */
export interface DeploymentView {
  readonly deploymentId: string;
  readonly name?: string;
  readonly generation?: number;
  readonly phase: DeploymentPhase;
  readonly reason?: DeploymentReason;
  readonly error?: string;
  readonly containers: readonly {
    readonly name: string;
    readonly state: ContainerState;
    readonly reason?: DeploymentReason;
  }[];
}

/** What is known of a place beside its plan. */
export interface PlaceKnowledge {
  failureOf(place: PlacePlan): Problem | null;
  restartsOf(place: PlacePlan): number;
  tried(place: PlacePlan): boolean;
  pulling(place: PlacePlan): boolean;
}

interface PlaceView {
  readonly state: ContainerState;
  readonly reason?: DeploymentReason;
  readonly error?: string;
}

/**
 * How each deployment stands, in the order of the desired state; those that are being removed come last.
 *
 * @param held What is desired
 * @param plan What is to be done
 * @param knowledge What is known of each place
 */
export function deploymentViews(held: HeldState, plan: ContainerPlan, knowledge: PlaceKnowledge): DeploymentView[] {
  const places = Map.groupBy(plan.places, ({ owner }) => owner.deploymentId);
  const views: DeploymentView[] = [];
  for (const [deploymentId, { generation, name }] of held.entries) {
    const alone = plan.leftAlone.get(deploymentId);
    const identity = { deploymentId, name, generation };
    views.push(
      alone === undefined
        ? { ...identity, ...standing(places.get(deploymentId) ?? [], knowledge) }
        : { ...identity, phase: "failed", ...alone, containers: [] },
    );
  }
  for (const [deploymentId, alone] of plan.leftAlone) {
    // A key that names no deployment has no status either.
    if (held.entries.has(deploymentId) || !isUuid(deploymentId)) continue;
    views.push({ deploymentId, phase: "failed", ...alone, containers: [] });
  }
  for (const [deploymentId, removed] of places) {
    if (held.entries.has(deploymentId)) continue;
    views.push({ deploymentId, ...removal(removed, knowledge) });
  }
  return views;
}

function isUuid(token: string): boolean {
  try {
    return uuid(token, "") === token;
  } catch {
    return false;
  }
}

function removal(places: readonly PlacePlan[], knowledge: PlaceKnowledge): Omit<DeploymentView, "deploymentId"> {
  const owner = places[0]?.owner;
  const identity = owner === undefined ? {} : { name: owner.deployment };
  for (const place of places) {
    const failure = knowledge.failureOf(place);
    if (failure === null) continue;
    const error = bounded(`${place.owner.container}: ${failure.error}`);
    return { ...identity, phase: "failed", reason: failure.reason, error, containers: [] };
  }
  return { ...identity, phase: "progressing", reason: "Removing", containers: [] };
}

function standing(
  places: readonly PlacePlan[],
  knowledge: PlaceKnowledge,
): Pick<DeploymentView, "phase" | "reason" | "error" | "containers"> {
  const seen = places.map((place) => ({ place, view: placeView(place, knowledge) }));
  const containers = seen.filter(({ place }) => place.wanted !== undefined).map((
    { place, view: { reason, state } },
  ) => ({
    name: place.owner.container,
    state,
    ...(reason === undefined ? {} : { reason }),
  }));
  const bad = seen.find(({ view }) => view.error !== undefined);
  if (bad !== undefined) {
    const { error = "", reason = "ContainerFailed" } = bad.view;
    return { phase: "failed", reason, error: bounded(`${bad.place.owner.container}: ${error}`), containers };
  }
  if (seen.every(({ place, view }) => isRight(view) && place.steps.length === 0)) return { phase: "ready", containers };
  if (seen.every(({ place, view }) => view.state === "pending" && !knowledge.tried(place))) {
    return { phase: "pending", reason: "Waiting", containers };
  }
  const reason = seen.some(({ view }) => view.state === "pulling") ? "Pulling" : "Changing";
  return { phase: "progressing", reason, containers };
}

function isRight({ state }: PlaceView): boolean {
  return state === "running" || state === "completed";
}

function placeView(place: PlacePlan, knowledge: PlaceKnowledge): PlaceView {
  const { state: found, steps, wanted } = place;
  const failure = knowledge.failureOf(place);
  if (failure !== null) return { state: "failed", ...failure };
  if (wanted === undefined) return { state: "pending" };
  if (found.kind !== "present") return { state: knowledge.pulling(place) ? "pulling" : "pending" };
  const { container } = found;
  const restarts = knowledge.restartsOf(place);
  if (container.phase === "running") {
    if (restarts === 0) return { state: "running" };
    const error = `was started again ${restarts} time${restarts === 1 ? "" : "s"} in the last minutes`;
    return { state: "restarting", reason: "ContainerRestarts", error };
  }
  if (container.phase === "other") return held(container.state);
  if (container.phase === "exited") {
    const code = container.exitCode;
    if (!shouldStart(container, wanted)) {
      if (hasEndedWell(container)) return { state: "completed" };
      return { state: "failed", reason: "ContainerFailed", error: `ended with code ${code}, and is not started again` };
    }
    // One look may fall between an end and Podman's own start.
    if (restarts > 0) return { state: "restarting", reason: "ContainerRestarts", error: `ended with code ${code}` };
    return { state: "restarting", reason: "ContainerEnded" };
  }
  return { state: steps.length === 0 ? "running" : "pending" };
}

function held(state: string): PlaceView {
  if (state !== "paused") return { state: "pending", reason: "ContainerBusy" };
  return { state: "failed", reason: "ContainerPaused", error: "somebody has paused the container" };
}
