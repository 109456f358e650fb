/**
 * The next status of a `FleetDeployment`: counts, the latest error, and conditions that say in a line what is stuck.
 *
 * @module
 */
import type { FleetDeploymentSpec, FleetDeploymentStatus } from "../../contracts/fleet_deployment.ts";
import { bounded } from "../../contracts/formats.ts";
import { acceptedCondition } from "./accepted_condition.ts";
import { type ConditionInput, nextConditions } from "./conditions.ts";
import type { DeploymentFigures } from "./deployment_counts.ts";
import type { LatestError } from "./latest_errors.ts";

/** What a deployment's status is made of. */
export interface DeploymentStatusFacts {
  readonly nowMs: number;
  readonly generation: number;
  readonly spec: FleetDeploymentSpec;
  readonly counts: DeploymentFigures;
  /** Whether devices that the spec may place or let go have not been looked at since it changed. */
  readonly placing: boolean;
  readonly latestError: LatestError | null;
}

/**
 * Makes the next status.
 *
 * @param previous What was written last
 * @param facts What is known now
 */
export function nextDeploymentStatus(
  previous: FleetDeploymentStatus | undefined,
  facts: DeploymentStatusFacts,
): FleetDeploymentStatus {
  const { counts: { targets, ready, failed, pending }, generation, latestError, nowMs, spec } = facts;
  const stated = [acceptedCondition(spec, "deployment"), readyCondition(facts), progressing(facts), degraded(facts)];
  return {
    targets,
    ready,
    failed,
    pending,
    ...(latestError === null ? {} : { lastError: bounded(`${latestError.deviceId}: ${latestError.error}`) }),
    conditions: nextConditions(previous?.conditions, stated, nowMs, generation),
    observedGeneration: generation,
  };
}

function readyCondition({ counts: { targets, ready }, placing }: DeploymentStatusFacts): ConditionInput {
  const done = targets > 0 && ready === targets && !placing;
  const reason = placing ? "Placing" : targets === 0 ? "NoTargets" : done ? "AllReady" : "NotAllReady";
  const message = targets === 0 && !placing
    ? "it is placed on no device"
    : `${ready} of ${targets} targets are ready${placing ? ", and others are being told" : ""}`;
  return { type: "Ready", status: done ? "True" : "False", reason, message };
}

function progressing({ counts: { pending, failed }, placing }: DeploymentStatusFacts): ConditionInput {
  const message = `${pending} pending${failed === 0 ? "" : `, ${failed} failed and tried again`}`;
  if (placing) return { type: "Progressing", status: "True", reason: "Placing", message };
  if (pending > 0) return { type: "Progressing", status: "True", reason: "Pending", message };
  return { type: "Progressing", status: "False", reason: "NothingLeft", message };
}

function degraded({ counts: { failed } }: DeploymentStatusFacts): ConditionInput {
  if (failed === 0) {
    return { type: "Degraded", status: "False", reason: "NoFailures", message: "no target has failed" };
  }
  return { type: "Degraded", status: "True", reason: "DevicesFailed", message: `${failed} failed` };
}
