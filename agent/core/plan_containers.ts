/**
 * What must be done so that the device runs what it should: a pure difference of what is desired and what is there, as
 * ordered steps for each place (a container of a deployment). Only the agent's own containers are in it, and those of a
 * deployment about which nothing is known are in no step.
 *
 * A container is replaced without ever being in the way of itself: image first, then the successor under a name of its
 * own, and only when it could be made, the old one goes. Each order of steps may end anywhere and is then planned anew
 * from what is there.
 *
 * @module
 */
import type { DeploymentReason } from "../../contracts/deployment_status.ts";
import { DEVICE_CONTAINERS_MAX } from "../../contracts/limits.ts";
import type { WorkloadContainer } from "../../contracts/podman_workload.ts";
import type { EngineContainer } from "../podman/port.ts";
import { type Ownership, ownershipOf, podmanName, successorName } from "./container_labels.ts";
import { isMadeFrom, specDigests } from "./container_spec.ts";
import type { HeldEntry, HeldState } from "./desired_state.ts";

/** One step. */
export type Step =
  /** Sees to it that the image is on the device. */
  | { readonly kind: "pull"; readonly image: string; readonly policy: "missing" | "always" | "never" }
  | { readonly kind: "create"; readonly name: string }
  /** Here and below, an `id` of null is the container that the same plan has made. */
  | { readonly kind: "rename"; readonly id: string | null; readonly name: string }
  | { readonly kind: "start"; readonly id: string | null }
  | { readonly kind: "stop"; readonly id: string }
  | { readonly kind: "remove"; readonly id: string };

/** How a place stands before its steps are taken. */
export type PlaceState =
  | { readonly kind: "missing" }
  | { readonly kind: "stale" }
  | { readonly kind: "present"; readonly container: EngineContainer };

/** A container that should be there, or that should not. */
export interface PlacePlan {
  /** `<deployment UUID>/<container>`. */
  readonly key: string;
  readonly owner: Ownership;
  /** Absent where nothing is wanted (any more). */
  readonly wanted?: WorkloadContainer;
  readonly state: PlaceState;
  readonly steps: readonly Step[];
}

/** Why something is not as desired. */
export interface Problem {
  readonly reason: DeploymentReason;
  readonly error: string;
}

/** What is to be done. */
export interface ContainerPlan {
  /** Removals first: they free names and ports. */
  readonly places: readonly PlacePlan[];
  /** Deployments that are left alone, with the reason. */
  readonly leftAlone: ReadonlyMap<string, Problem>;
}

interface Own {
  readonly owner: Ownership;
  readonly container: EngineContainer;
}

/**
 * Plans.
 *
 * @param deviceId This device
 * @param held What is desired
 * @param containers Every container that may be the agent's
 */
export function planContainers(
  deviceId: string,
  held: HeldState,
  containers: readonly EngineContainer[],
): ContainerPlan {
  const own = ownByPlace(deviceId, containers);
  const leftAlone = notCarriedOut(held);
  const places: PlacePlan[] = [];
  for (const entry of held.entries.values()) {
    if (leftAlone.has(entry.deploymentId) || entry.workload.kind !== "containers") continue;
    for (const wanted of entry.workload.containers) {
      const key = placeKey(entry.deploymentId, wanted.name);
      places.push(planWanted(deviceId, entry, wanted, own.get(key) ?? []));
      own.delete(key);
    }
  }
  const removals = [...own].filter(([, [first]]) => first !== undefined && mayGo(held, leftAlone, first.owner))
    .map(([key, found]) => planRemoval(key, found));
  return { places: [...removals, ...places], leftAlone };
}

/** Identity of a place. */
export function placeKey(deploymentId: string, container: string): string {
  return `${deploymentId}/${container}`;
}

function ownByPlace(deviceId: string, containers: readonly EngineContainer[]): Map<string, Own[]> {
  const places = new Map<string, Own[]>();
  for (const container of containers) {
    const owner = ownershipOf(deviceId, container);
    if (owner === null) continue;
    const key = placeKey(owner.deploymentId, owner.container);
    places.set(key, [...places.get(key) ?? [], { owner, container }]);
  }
  return places;
}

function notCarriedOut(held: HeldState): Map<string, Problem> {
  const found = new Map<string, Problem>();
  for (const [token, error] of held.unreadable) found.set(token, { reason: "EntryUnreadable", error });
  let containers = 0;
  for (const [token, { workload }] of [...held.entries].sort(([a], [b]) => a < b ? -1 : 1)) {
    if (found.has(token)) continue;
    if (workload.kind === "unusable") {
      found.set(token, { reason: workload.reason, error: workload.error });
      continue;
    }
    containers += workload.containers.length;
    if (containers <= DEVICE_CONTAINERS_MAX) continue;
    containers -= workload.containers.length;
    found.set(token, {
      reason: "TooManyContainers",
      error: `with it the device would have more than ${DEVICE_CONTAINERS_MAX} containers`,
    });
  }
  return found;
}

/** Removed is what a whole snapshot no longer has, and what a deployment that is carried out no longer names. */
function mayGo(held: HeldState, leftAlone: ContainerPlan["leftAlone"], { deploymentId }: Ownership): boolean {
  if (leftAlone.has(deploymentId)) return false;
  return held.whole || held.entries.has(deploymentId);
}

function endOf({ container }: Own): Step[] {
  const { id, phase } = container;
  // What Podman itself is about to end, or a person has paused, is looked at again later.
  if (phase === "other") return [];
  return phase === "running" ? [{ kind: "stop", id }, { kind: "remove", id }] : [{ kind: "remove", id }];
}

function planRemoval(key: string, found: readonly Own[]): PlacePlan {
  const [first] = found;
  if (first === undefined) throw new Error("a place without a container is planned for removal");
  return { key, owner: first.owner, state: { kind: "stale" }, steps: found.flatMap(endOf) };
}

function planWanted(deviceId: string, entry: HeldEntry, wanted: WorkloadContainer, found: readonly Own[]): PlacePlan {
  const specs = specDigests(wanted);
  const { deploymentId, generation, name: deployment } = entry;
  const owner = { deviceId, deploymentId, deployment, container: wanted.name, generation, specs };
  const right = found.filter((own) => isMadeFrom(own.owner, specs, generation));
  const kept = right.find(({ container }) => container.name === podmanName(owner)) ?? right[0];
  const stale = found.filter((own) => own !== kept);
  const plan = { key: placeKey(deploymentId, wanted.name), owner, wanted };
  if (kept !== undefined) {
    const state = { kind: "present", container: kept.container } as const;
    return { ...plan, state, steps: stepsOfKept(owner, kept, stale, wanted) };
  }
  const state = { kind: found.length === 0 ? "missing" : "stale" } as const;
  return { ...plan, state, steps: stepsOfNew(owner, stale, wanted) };
}

function stepsOfKept(owner: Ownership, { container }: Own, stale: readonly Own[], wanted: WorkloadContainer): Step[] {
  const steps = stale.flatMap(endOf);
  if (stale.some((own) => endOf(own).length === 0)) return steps;
  const name = podmanName(owner);
  if (container.name !== name) steps.push({ kind: "rename", id: container.id, name });
  if (shouldStart(container, wanted)) steps.push({ kind: "start", id: container.id });
  return steps;
}

function stepsOfNew(owner: Ownership, stale: readonly Own[], { image, pullPolicy }: WorkloadContainer): Step[] {
  const inTheWay = stale.filter(({ container }) => container.name === successorName(owner));
  const old = stale.filter((own) => !inTheWay.includes(own));
  if (stale.some((own) => endOf(own).length === 0)) return [];
  const name = podmanName(owner);
  return [
    { kind: "pull", image, policy: pullPolicy ?? "missing" },
    ...inTheWay.flatMap(endOf),
    { kind: "create", name: old.length === 0 ? name : successorName(owner) },
    ...old.flatMap(endOf),
    ...(old.length === 0 ? [] : [{ kind: "rename", id: null, name } as const]),
    { kind: "start", id: null },
  ];
}

/**
 * Whether the agent starts a container that does not run. Podman starts what ended, by its policy; the agent starts what
 * was never started, and what should run and does not: after a reboot, after a person's stop, or where Podman gave up.
 */
export function shouldStart(container: EngineContainer, { restartPolicy = "always" }: WorkloadContainer): boolean {
  if (container.phase === "created") return true;
  if (container.phase !== "exited" || restartPolicy === "no") return false;
  return restartPolicy !== "on-failure" || !hasEndedWell(container);
}

/** Whether a container came to its end by itself and with 0. One that a power cut ended has an end before its start. */
export function hasEndedWell({ exitCode, exitedAtS, phase, startedAtS }: EngineContainer): boolean {
  return phase === "exited" && exitCode === 0 && exitedAtS >= startedAtS;
}
