/**
 * A device that manages no workloads: it says so of every deployment that it is told to run.
 *
 * @module
 */
import type { DeploymentView } from "../core/deployment_view.ts";
import type { HeldState } from "../core/desired_state.ts";

/**
 * How the deployments of a device without an engine stand.
 *
 * @param held What is desired
 */
export function viewsWithoutEngine(held: HeldState): DeploymentView[] {
  return [...held.entries].map(([deploymentId, { generation, name }]) => ({
    deploymentId,
    name,
    generation,
    phase: "failed",
    reason: "PodmanDisabled",
    error: "podman.enabled is not true in the device's configuration",
    containers: [],
  }));
}
