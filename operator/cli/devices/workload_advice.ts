/**
 * What the person on call does next about the deployments of a device.
 *
 * @module
 */
import type { Advice } from "../advice.ts";
import type { DeviceView } from "./device_view.ts";

/**
 * An advice for each deployment that the device cannot run as it is.
 *
 * @param view Everything that is known of the device
 */
export function workloadAdvice({ deployments }: DeviceView): Advice[] {
  return deployments.found.flatMap(({ deploymentId, status, told }): Advice[] => {
    if (status.kind !== "value" || status.value.phase !== "failed") return [];
    const { containers, error, name = deploymentId, reason } = status.value;
    const failed = containers.filter(({ state }) => state === "failed").map((container) => container.name);
    const which = failed.length === 0 ? "" : ` (${failed.join(", ")})`;
    const said = error ?? reason;
    return [{
      code: "DeploymentFailed",
      problem: `It cannot run ${name}${which} as it is, and tries again by itself${
        said === undefined ? "" : `: ${said}`
      }`,
      steps: [
        ...(told.kind === "absent" ? [] : [`fleetctl describe deployment ${name}   # whether others fail too`]),
        "on the device, as the agent's user: podman ps --all; podman logs NAME",
      ],
    }];
  });
}
