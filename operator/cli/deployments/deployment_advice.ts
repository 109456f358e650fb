/**
 * What the person on call does next about a deployment.
 *
 * @module
 */
import type { FleetDeployment } from "../../../contracts/fleet_deployment.ts";
import type { Advice } from "../advice.ts";
import { selectorFlags } from "../render/selector.ts";
import { deploymentState } from "./deployment_state.ts";

/**
 * Lists what is not well about a deployment; empty when there is nothing to do.
 *
 * @param deployment The deployment
 */
export function deploymentAdvice(deployment: FleetDeployment): Advice[] {
  const { metadata: { name }, spec, status } = deployment;
  const list = (phase: string) => `fleetctl deployment devices ${name} --phase ${phase}`;
  switch (deploymentState(deployment)) {
    case "New":
      return [{
        code: "NoStatus",
        problem: "The operator has not looked at its newest spec yet",
        steps: ["is fleet-operator running? it writes a status within seconds"],
      }];
    case "NotAccepted":
      return [{
        code: "NotAccepted",
        problem: "The operator does not understand the whole spec, and so places it nowhere: see its conditions",
        steps: ["use targetSelector.matchLabels, and apply it again"],
      }];
    case "NoTargets":
      return [{
        code: "NoTargets",
        problem: "It is placed on no device: none is in an allowed group and has its labels",
        steps: [
          `compare allowedGroups and targetSelector with the devices: fleetctl get devices${
            selectorFlags(spec.targetSelector.matchLabels ?? {})
          }`,
        ],
      }];
    case "Degraded":
      return [{
        code: "DevicesFailed",
        problem: `${
          devices(status?.failed ?? 0)
        } cannot run it as it is; each tries again by itself, with growing pauses`,
        steps: [
          list("failed"),
          "fleetctl describe device NAME   # which container, and why",
          "mend the image, the registry or the device; a spec that is wrong is applied anew",
        ],
      }];
    case "Pending":
      return [{
        code: "Pending",
        problem: `${devices(status?.pending ?? 0)} are under way, or have not said anything of it yet`,
        steps: [`${list("pending")}   # LIVENESS and SEEN say who is away`],
      }];
    default:
      return [];
  }
}

function devices(count: number): string {
  return count === 1 ? "1 device" : `${count} devices`;
}
