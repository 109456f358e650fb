/**
 * What a device says of its deployments in NATS.
 *
 * @module
 */
import { BUCKETS, deploymentStatusFilter } from "../../contracts/buckets.ts";
import { decodeBytes } from "../../contracts/codec.ts";
import { type DeploymentStatus, deploymentStatus } from "../../contracts/deployment_status.ts";
import { isFleetError } from "../../contracts/errors.ts";
import { DEPLOYMENT_STATUS_MAX_BYTES } from "../../contracts/limits.ts";
import type { Bus } from "../../lib/bus/port.ts";
import { snapshotMap } from "../../lib/bus/snapshot_map.ts";
import { waitUntil } from "../nats/wait_until.ts";
import { DEVICE_ID } from "./agent_samples.ts";

/** Statuses of a device; empty while the broker does not answer. */
export async function reportedDeployments(
  bus: Pick<Bus, "bucket">,
  deviceId = DEVICE_ID,
): Promise<DeploymentStatus[]> {
  try {
    const bucket = await bus.bucket(BUCKETS.deploymentStatus);
    const found = await snapshotMap(bucket, deploymentStatusFilter(deviceId));
    return [...found.values()].map(({ value }) => decodeBytes(deploymentStatus, value, DEPLOYMENT_STATUS_MAX_BYTES));
  } catch (error) {
    if (isFleetError(error) && error.retry === "transient") return [];
    throw error;
  }
}

/**
 * Waits until a device says exactly this of its deployments.
 *
 * @param bus Whose connection may read it
 * @param expected `name generation phase`, with the reason behind it where there is one, in order of name
 * @param deviceId The device
 * @param timeoutMs How long
 */
export async function untilReported(
  bus: Pick<Bus, "bucket">,
  expected: readonly string[],
  deviceId = DEVICE_ID,
  timeoutMs = 60_000,
): Promise<DeploymentStatus[]> {
  let last: string[] = [];
  try {
    return await waitUntil(expected.join(", "), async () => {
      const found = await reportedDeployments(bus, deviceId);
      last = found.map(({ generation, name, phase, reason }) =>
        [name, generation, phase, reason].filter(Boolean).join(" ")
      );
      return JSON.stringify(last.sort()) === JSON.stringify([...expected].sort()) ? found : null;
    }, timeoutMs);
  } catch (error) {
    throw new Error(`the device says: ${last.join(", ") || "nothing"}`, { cause: error });
  }
}
