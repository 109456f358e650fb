/**
 * Takes the steps of one place, in order, each of them a mutation that the gate must admit.
 *
 * @module
 */
import type { DeploymentReason } from "../../contracts/deployment_status.ts";
import { errorText, isFleetError } from "../../contracts/errors.ts";
import { bounded } from "../../contracts/formats.ts";
import { containerSpec } from "../core/container_spec.ts";
import type { PlacePlan, Problem, Step } from "../core/plan_containers.ts";
import type { MutationGate } from "../mutation_gate.ts";
import { engineError } from "../podman/engine_error.ts";
import type { ContainerEngine } from "../podman/port.ts";
import type { ImagePuller } from "./image_puller.ts";

/** What the steps work with. */
export interface ApplyOptions {
  readonly engine: ContainerEngine;
  readonly gate: MutationGate;
  readonly puller: ImagePuller;
  /** Called before each step. */
  readonly turned: () => void;
}

/** What came of the steps. */
export type Applied =
  | { readonly kind: "done" }
  /** The image is on its way. */
  | { readonly kind: "waiting" }
  /** The gate was closed; what was done stays. */
  | { readonly kind: "closed" }
  | { readonly kind: "failed"; readonly failure: Problem }
  /** The engine cannot be asked now: nothing is known of the place. */
  | { readonly kind: "unreachable"; readonly error: unknown };

const REASONS: Readonly<Record<Step["kind"], DeploymentReason>> = {
  pull: "ImageUnavailable",
  create: "CreateFailed",
  rename: "RenameFailed",
  start: "StartFailed",
  stop: "StopFailed",
  remove: "RemoveFailed",
};

/** Codes that have a reason of their own, whichever step met them. */
const CODE_REASONS: Readonly<Record<string, DeploymentReason>> = {
  E_ENGINE_NO_IMAGE: "ImageUnavailable",
  E_ENGINE_NAME_TAKEN: "NameTaken",
};

/**
 * Takes the steps of a place until one fails or must wait.
 *
 * @param place The place
 * @param options What the steps work with
 */
export async function applyPlace(place: PlacePlan, options: ApplyOptions): Promise<Applied> {
  const { gate, turned } = options;
  let made: string | null = null;
  for (const step of place.steps) {
    turned();
    try {
      if (step.kind === "pull") {
        if (!await imageIsThere(place, step, options)) return { kind: "waiting" };
        continue;
      }
      const mutation: { admitted: boolean; value?: string | null } = await gate.run(() =>
        mutate(place, step, made, options)
      );
      if (!mutation.admitted) return { kind: "closed" };
      made = mutation.value ?? made;
    } catch (error) {
      if (!isFleetError(error)) throw error;
      if (error.code === "E_ENGINE_UNREACHABLE" || error.code === "E_ENGINE_TIMEOUT") {
        return { kind: "unreachable", error };
      }
      const reason = CODE_REASONS[error.code] ?? REASONS[step.kind];
      return { kind: "failed", failure: { reason, error: bounded(errorText(error)) } };
    }
  }
  options.puller.forget(place.key);
  return { kind: "done" };
}

async function imageIsThere(
  { key }: PlacePlan,
  { image, policy }: Extract<Step, { kind: "pull" }>,
  { engine, puller }: ApplyOptions,
): Promise<boolean> {
  const state = puller.state(key, image);
  if (state?.kind === "pulling") return false;
  if (state?.kind === "failed") {
    puller.forget(key);
    throw state.error;
  }
  if (policy === "always" && state?.kind === "done") return true;
  if (policy !== "always" && await engine.hasImage(image)) return true;
  if (policy === "never") {
    throw engineError("E_ENGINE_NO_IMAGE", `Cannot find ${image}: it is not on the device, and pullPolicy is never`);
  }
  // Pulled, and gone again: somebody tidies up, or the reference names another image than the registry gave.
  if (state?.kind === "done") {
    puller.forget(key);
    throw engineError("E_ENGINE_NO_IMAGE", `Cannot find ${image}: it was pulled and is not on the device`);
  }
  puller.want(key, image);
  return false;
}

/** @returns the id of the container that was made, if the step makes one */
async function mutate(
  { owner, wanted }: PlacePlan,
  step: Exclude<Step, { kind: "pull" }>,
  made: string | null,
  { engine }: ApplyOptions,
): Promise<string | null> {
  switch (step.kind) {
    case "create":
      if (wanted === undefined) throw new Error("a container is planned that nobody wants");
      return await engine.create(containerSpec(wanted, owner, step.name));
    case "rename":
      await engine.rename(target(step.id, made), step.name);
      return null;
    case "start":
      await engine.start(target(step.id, made));
      return null;
    case "stop":
      await engine.stop(step.id);
      return null;
    case "remove":
      await engine.remove(step.id);
      return null;
  }
}

function target(id: string | null, made: string | null): string {
  const found = id ?? made;
  if (found === null) throw new Error("a step is planned for a container that was not made");
  return found;
}
