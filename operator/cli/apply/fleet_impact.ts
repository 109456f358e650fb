/**
 * How many devices a change of resources concerns, by the operator's own rules: the same functions that select a
 * release and decide on an attempt are run on the fleet as it is and as it would be.
 *
 * @module
 */
import type { AgentRelease } from "../../../contracts/agent_release.ts";
import type { Device } from "../../../contracts/device_resource.ts";
import type { FleetDeployment } from "../../../contracts/fleet_deployment.ts";
import type { TaskRun } from "../../../contracts/task_run.ts";
import { type AttemptDecision, decideAttempt, type DesiredReason, type InfoFacts } from "../../policy/attempt.ts";
import { selectRelease } from "../../policy/desired_release.ts";
import {
  type DeploymentImpact,
  DeploymentTally,
  type DeviceDeployments,
  deviceDeployments,
} from "./deployment_impact.ts";

/** The resources of a fleet that a plan depends on. */
export interface FleetState {
  readonly devices: readonly Device[];
  readonly releases: readonly AgentRelease[];
  readonly deployments: readonly FleetDeployment[];
  /** Absent where runs are not looked at. */
  readonly tasks?: readonly TaskRun[];
}

/** What would become of the devices that a release decides for. */
export interface ReleaseImpact {
  readonly release: string;
  /** Devices that it would decide for. */
  readonly targets: number;
  /** Targets that would get a new attempt of it at once. */
  readonly wouldUpgrade: number;
  /** Targets that would stay as they are, by reason. */
  readonly others: Readonly<Partial<Record<DesiredReason, number>>>;
  /** Devices for which another release decided before. */
  readonly gained: number;
  /** Devices for which it decided before and would not any more. */
  readonly lost: number;
  /** Devices for which it would be tied with others. */
  readonly tied: number;
}

/** What would become of one device. */
export interface DeviceImpact {
  readonly device: string;
  readonly before: string;
  readonly after: string;
  readonly wouldUpgrade: boolean;
  readonly deployments: DeviceDeployments;
}

/** What a change would do to a fleet. */
export interface FleetImpact {
  /**
   * Where the groups are taken from that were counted with. It is part of the answer: with `groups.source: bucket`, the
   * operator takes them from elsewhere, and the counts are then those of a fleet whose bucket says the same.
   */
  readonly groupsFrom: "Device.spec.groups";
  readonly releases: readonly ReleaseImpact[];
  readonly deployments: readonly DeploymentImpact[];
  readonly devices: readonly DeviceImpact[];
  /** Devices of the whole fleet that would get a new attempt at once, and would not without the change. */
  readonly newAttempts: number;
  /** Devices of the whole fleet on which containers would be made, changed or removed. */
  readonly workloadsChanged: number;
}

/** Which resources a change names. */
export interface ChangedNames {
  readonly devices: ReadonlySet<string>;
  readonly releases: ReadonlySet<string>;
  readonly deployments: ReadonlySet<string>;
}

/**
 * Compares a fleet before and after a change.
 *
 * @param before The fleet as it is
 * @param after The fleet as it would be
 * @param changed The resources that the change names; others are not listed
 */
export function fleetImpact(before: FleetState, after: FleetState, changed: ChangedNames): FleetImpact {
  const tallies = new Map([...changed.releases].map((name) => [name, newTally()]));
  const workloads = new DeploymentTally(changed.deployments);
  const devices: DeviceImpact[] = [];
  const formerDevices = new Map(before.devices.map((device) => [device.metadata.name, device]));
  let newAttempts = 0;
  for (const device of after.devices) {
    const { name } = device.metadata;
    const former = formerDevices.get(name);
    const was = former === undefined ? undefined : outlook(former, before.releases);
    const will = outlook(device, after.releases);
    if (will.starts && was?.starts !== true) newAttempts++;
    countDevice(tallies, was, will);
    const deployments = deviceDeployments(
      { device: former, deployments: before.deployments },
      { device, deployments: after.deployments },
    );
    workloads.add(device, after.deployments, deployments);
    if (changed.devices.has(name)) {
      devices.push({
        device: name,
        before: was === undefined ? "not there" : desiredText(was),
        after: desiredText(will),
        wouldUpgrade: will.starts,
        deployments,
      });
    }
  }
  return {
    groupsFrom: "Device.spec.groups",
    releases: [...tallies].map(([release, tally]) => ({ release, ...tally })),
    deployments: workloads.impacts,
    devices,
    newAttempts,
    workloadsChanged: workloads.devices,
  };
}

/** What the operator would decide for one device now. */
interface Outlook {
  readonly desired: ReturnType<typeof selectRelease>;
  readonly decision: AttemptDecision;
  /** Whether it would write a new attempt. */
  readonly starts: boolean;
}

function outlook(device: Device, releases: readonly AgentRelease[]): Outlook {
  const { spec, status, metadata } = device;
  const desired = selectRelease(releases, { groups: spec.groups, labels: metadata.labels ?? {} });
  const upgrade = status?.upgrade;
  const decision = decideAttempt({
    deviceId: metadata.name,
    nowMs: 0,
    info: infoOf(device),
    // Intents are not read: what waits or runs for another release is replaced, as it would be in truth.
    intent: null,
    upgrade: upgrade === undefined ? null : {
      phase: upgrade.phase,
      rolledBack: status?.desiredReason === "RolledBack",
      receivedAtMs: 0,
      ...(upgrade.attemptId === undefined ? {} : { attemptId: upgrade.attemptId }),
      ...(upgrade.targetVersion === undefined ? {} : { targetVersion: upgrade.targetVersion }),
      ...(upgrade.releaseIdentity === undefined ? {} : { releaseIdentity: upgrade.releaseIdentity }),
    },
    failedIdentities: status?.failedIdentities ?? [],
    quarantined: status?.quarantined ?? false,
    desired,
  });
  return { desired, decision, starts: decision.write !== null };
}

function infoOf({ status }: Device): InfoFacts | null {
  const { agentVersion, arch, form, updaterVersion, capabilities } = status ?? {};
  if (agentVersion === undefined || arch === undefined) return null;
  if (form !== "compiled" && form !== "script" && form !== "source") return null;
  return {
    agentVersion,
    arch,
    form,
    // Later than any upgrade status, so that what is reported counts as settled.
    receivedAtMs: 1,
    ...(updaterVersion === undefined ? {} : { updater: { version: updaterVersion, capabilities: capabilities ?? [] } }),
  };
}

interface Tally {
  targets: number;
  wouldUpgrade: number;
  others: Partial<Record<DesiredReason, number>>;
  gained: number;
  lost: number;
  tied: number;
}

function newTally(): Tally {
  return { targets: 0, wouldUpgrade: 0, others: {}, gained: 0, lost: 0, tied: 0 };
}

function countDevice(tallies: ReadonlyMap<string, Tally>, was: Outlook | undefined, will: Outlook): void {
  const former = was?.desired.kind === "release" ? was.desired.release.metadata.name : undefined;
  const next = will.desired.kind === "release" ? will.desired.release.metadata.name : undefined;
  if (will.desired.kind === "tie") {
    for (const name of will.desired.names) {
      const tally = tallies.get(name);
      if (tally !== undefined) tally.tied++;
    }
  }
  const left = former === undefined || former === next ? undefined : tallies.get(former);
  if (left !== undefined) left.lost++;
  const tally = next === undefined ? undefined : tallies.get(next);
  if (tally === undefined) return;
  tally.targets++;
  if (former !== next) tally.gained++;
  if (will.starts) tally.wouldUpgrade++;
  else tally.others[will.decision.reason] = (tally.others[will.decision.reason] ?? 0) + 1;
}

function desiredText({ desired, decision }: Outlook): string {
  switch (desired.kind) {
    case "release": {
      const { metadata, spec } = desired.release;
      return `${metadata.name} (${decision.write === null ? decision.reason : `upgrade to ${spec.version}`})`;
    }
    case "tie":
      return `tie of ${desired.names.join(", ")}`;
    case "none":
      return `none (${desired.reason})`;
  }
}
