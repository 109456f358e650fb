/**
 * Reads what devices were told of deployments, and what they say of them.
 *
 * @module
 */
import { BUCKETS } from "../../../contracts/buckets.ts";
import { deploymentStatus } from "../../../contracts/deployment_status.ts";
import { desiredEntry, GENERATION_TOKEN } from "../../../contracts/desired_state.ts";
import { DEPLOYMENT_STATUS_MAX_BYTES, DESIRED_STATE_MAX_BYTES } from "../../../contracts/limits.ts";
import type { Bus, BusEntry } from "../../../lib/bus/port.ts";
import { snapshotMap } from "../../../lib/bus/snapshot_map.ts";
import type { DeploymentOnDevice } from "../fleet_access.ts";
import { readReported } from "./read_reported.ts";

/**
 * Reads both buckets under a filter.
 *
 * @param bus The connection
 * @param filter Key filter of two tokens: device and deployment
 * @throws {FleetError} as a snapshot does
 */
export async function readDeployments(bus: Pick<Bus, "bucket">, filter: string): Promise<DeploymentOnDevice[]> {
  const told = await snapshotMap(await bus.bucket(BUCKETS.desiredState), filter);
  const said = await snapshotMap(await bus.bucket(BUCKETS.deploymentStatus), filter);
  const keys = new Set([...told.keys(), ...said.keys()].filter((key) => !key.endsWith(`.${GENERATION_TOKEN}`)));
  return [...keys].sort().map((key) => {
    const dot = key.indexOf(".");
    return {
      deviceId: key.slice(0, dot),
      deploymentId: key.slice(dot + 1),
      told: reported(told.get(key), (entry) => readReported(entry, desiredEntry, DESIRED_STATE_MAX_BYTES)),
      status: reported(said.get(key), (entry) => readReported(entry, deploymentStatus, DEPLOYMENT_STATUS_MAX_BYTES)),
    };
  });
}

function reported<T>(entry: BusEntry | undefined, read: (entry: BusEntry) => T): T | { readonly kind: "absent" } {
  return entry === undefined ? { kind: "absent" } : read(entry);
}
