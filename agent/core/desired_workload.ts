/**
 * What a desired-state entry tells the device to run. An entry that this agent cannot carry out is no error of the
 * snapshot: its deployment says so in its status, and its containers are left alone.
 *
 * @module
 */
import { DESIRED_ENTRY_SCHEMA, desiredDeployment } from "../../contracts/desired_state.ts";
import type { DeploymentReason } from "../../contracts/deployment_status.ts";
import { errorText, isFleetError } from "../../contracts/errors.ts";
import { bounded } from "../../contracts/formats.ts";
import type { WorkloadContainer } from "../../contracts/podman_workload.ts";

/** What an entry tells the device to run. */
export type DesiredWorkload =
  | { readonly kind: "containers"; readonly containers: readonly WorkloadContainer[] }
  | { readonly kind: "unusable"; readonly reason: DeploymentReason; readonly error: string };

/**
 * Reads the workload of an entry whose common part has been decoded.
 *
 * @param document The entry as it was parsed
 */
export function readWorkload(document: unknown): DesiredWorkload {
  const { schema, podmanV0 } = document as { schema: number; podmanV0?: unknown };
  if (schema > DESIRED_ENTRY_SCHEMA) {
    return unusable("UnknownWorkload", `the entry has schema ${schema}, this agent knows ${DESIRED_ENTRY_SCHEMA}`);
  }
  if (podmanV0 === undefined) {
    return unusable("UnknownWorkload", "the entry has no podmanV0, the one kind of workload that this agent knows");
  }
  try {
    return { kind: "containers", containers: desiredDeployment(document, "").podmanV0.containers };
  } catch (error) {
    if (!isFleetError(error, "E_DECODE")) throw error;
    return unusable("InvalidWorkload", errorText(error));
  }
}

function unusable(reason: DeploymentReason, error: string): DesiredWorkload {
  return { kind: "unusable", reason, error: bounded(error) };
}
