/**
 * Which count of its release a device stands in. A function of the device's status alone, so that the list behind a
 * count is exactly the devices that were counted, and every operator counts alike.
 *
 * @module
 */
import type { DeviceStatus } from "../../contracts/device_resource.ts";
import { DESIRED_REASONS, type DesiredReason } from "./attempt.ts";

/** States of a target; each target is in exactly one. `pending` has no count of its own in a release's status. */
export const TARGET_STATES = [
  "current",
  "upgrading",
  "failed",
  "rolledBack",
  "quarantined",
  "lost",
  "ineligible",
  "pending",
] as const;
/** One of {@link TARGET_STATES}. */
export type TargetState = (typeof TARGET_STATES)[number];

const STATE_OF_REASON: Readonly<Record<DesiredReason, TargetState>> = {
  NoGroups: "pending",
  NoRelease: "pending",
  Conflict: "pending",
  ReleaseUnreadable: "pending",
  Quarantined: "quarantined",
  UpToDate: "current",
  Pending: "pending",
  Upgrading: "upgrading",
  Failed: "failed",
  RolledBack: "rolledBack",
  NoDeviceInfo: "pending",
  SourceForm: "ineligible",
  NoArtifact: "ineligible",
  UpdaterUnavailable: "ineligible",
  UpdaterTooOld: "ineligible",
  Paused: "pending",
};

/** What is looked at. */
export type TargetFacts = Pick<DeviceStatus, "desiredRelease" | "desiredReason" | "quarantined" | "liveness">;

/**
 * The state of a device as a target, or undefined when no release decides for it.
 *
 * @param status The device's status
 */
export function targetState(status: TargetFacts): TargetState | undefined {
  if (status.desiredRelease === undefined) return undefined;
  if (status.quarantined) return "quarantined";
  if (status.liveness === "Lost") return "lost";
  const reason = DESIRED_REASONS.find((known) => known === status.desiredReason);
  // A reason of a newer operator: the device is a target all the same.
  return reason === undefined ? "pending" : STATE_OF_REASON[reason];
}
