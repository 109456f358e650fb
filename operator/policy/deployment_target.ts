/**
 * Which count of its deployment a device stands in: a function of the two documents that stand in NATS, so that the list
 * behind a count is exactly the devices that were counted, and every operator counts alike.
 *
 * @module
 */
import type { DeploymentPhase } from "../../contracts/deployment_status.ts";

/** States of a target; each target is in exactly one. */
export const DEPLOYMENT_TARGET_STATES = ["ready", "failed", "pending"] as const;
/** One of {@link DEPLOYMENT_TARGET_STATES}. */
export type DeploymentTargetState = (typeof DEPLOYMENT_TARGET_STATES)[number];

/** What of a deployment status counts here. */
export interface ReportFacts {
  /** Generation that the device speaks of; absent where it cannot read its entry. */
  readonly generation?: number;
  readonly phase: DeploymentPhase;
}

/**
 * The state of a target.
 *
 * @param wanted Generation that the device shall run
 * @param told Generation of its entry; null while the entry cannot be read
 * @param report What the device says last, or null
 */
export function deploymentTargetState(
  wanted: number,
  told: number | null,
  report: ReportFacts | null,
): DeploymentTargetState {
  if (told !== wanted || report === null || report.generation !== told) {
    // A device that cannot read what it was told has no generation to name, and runs nothing of it.
    const isRefused = told === wanted && report?.phase === "failed" && report.generation === undefined;
    return isRefused ? "failed" : "pending";
  }
  return report.phase === "ready" || report.phase === "failed" ? report.phase : "pending";
}
