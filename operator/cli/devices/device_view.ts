/**
 * Everything that is known of one device.
 *
 * @module
 */
import type { AgentUpgradeAttempt, AgentUpgradeStatus } from "../../../contracts/agent_upgrade.ts";
import type { Heartbeat } from "../../../contracts/device.ts";
import type { Device } from "../../../contracts/device_resource.ts";
import type { DeploymentsOnDevices, FleetAccess, Reported } from "../fleet_access.ts";

/** A device, and what it reports itself. */
export interface DeviceView {
  readonly device: Device;
  readonly heartbeat: Reported<Heartbeat>;
  readonly upgradeStatus: Reported<AgentUpgradeStatus>;
  readonly upgradeIntent: Reported<AgentUpgradeAttempt>;
  /** What it was told to run, and what it says of it. */
  readonly deployments: DeploymentsOnDevices;
  /** The present by the broker's clock, in ms since the epoch. */
  readonly nowMs: number;
}

/**
 * Reads what a device reports.
 *
 * @param fleet The fleet
 * @param device The device
 */
export async function viewDevice(fleet: FleetAccess, device: Device): Promise<DeviceView> {
  const { name } = device.metadata;
  const [heartbeat, upgradeStatus, upgradeIntent, deployments, nowMs] = await Promise.all([
    fleet.heartbeat(name),
    fleet.upgradeStatus(name),
    fleet.upgradeIntent(name),
    fleet.deployments({ deviceId: name }),
    fleet.nowMs(),
  ]);
  return { device, heartbeat, upgradeStatus, upgradeIntent, deployments, nowMs };
}
