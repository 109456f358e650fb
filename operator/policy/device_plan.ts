/**
 * Everything that is decided about one device at once: which release, whether an attempt is written, and what its
 * status says. Pure; the reconciler gathers before and applies after.
 *
 * @module
 */
import type { AgentRelease } from "../../contracts/agent_release.ts";
import { isTerminalPhase } from "../../contracts/agent_upgrade.ts";
import type { Device, DeviceStatus } from "../../contracts/device_resource.ts";
import type { DeviceInfo } from "../../contracts/device.ts";
import {
  type AttemptContent,
  type AttemptDecision,
  decideAttempt,
  type IntentFacts,
  type UpgradeFacts,
} from "./attempt.ts";
import type { ConditionInput } from "./conditions.ts";
import { type DesiredRelease, selectRelease } from "./desired_release.ts";
import {
  type DesiredReport,
  nextDeviceStatus,
  nextFailedIdentities,
  nextQuarantined,
  type UpgradeReport,
} from "./device_status.ts";
import { judgeLiveness, type LivenessBounds } from "./liveness.ts";
import { releaseTarget } from "./release_target.ts";
import { sameJson } from "./same_json.ts";

/** What a device info says, and when the broker received it. */
export type InfoReport =
  & Pick<DeviceInfo, "agentVersion" | "form" | "arch" | "os" | "updater" | "step" | "blocked">
  & { readonly receivedAtMs: number };

/** What a heartbeat says, and when the broker received it, in ms. */
export interface HeartbeatReport {
  readonly receivedAtMs: number;
  readonly blocked?: string;
  readonly deferred?: { readonly attemptId: string; readonly reason: string };
}

/** What an upgrade status says, for the decision and for the device's status. */
export type UpgradeStatusReport = UpgradeReport & UpgradeFacts;

/** Everything that is known of a device. */
export interface DeviceFacts {
  readonly nowMs: number;
  readonly watchedSinceMs: number | null;
  readonly device: Device;
  readonly info: InfoReport | null;
  readonly heartbeat: HeartbeatReport | null;
  readonly intent: IntentFacts | null;
  readonly upgrade: UpgradeStatusReport | null;
  /** Problems of documents that cannot be read, each with its bucket's name. */
  readonly malformed: readonly string[];
  /** Null when they cannot be known now; then nothing is planned. */
  readonly groups: readonly string[] | null;
  /** Why they cannot be known. */
  readonly groupsProblem?: string;
}

/** The releases that there are. */
export interface ReleaseFacts {
  readonly releases: Iterable<AgentRelease>;
  /** Names of releases that cannot be read. */
  readonly unreadable: ReadonlySet<string>;
}

/** What is to be done for a device. */
export interface DevicePlan {
  readonly status: DeviceStatus;
  /** Whether it says anything else than the stored one. */
  readonly statusChanged: boolean;
  /** Whether the status must be stored before the attempt: it remembers what the attempt's status will replace. */
  readonly statusFirst: boolean;
  /** The attempt to write over the intent; null when there is nothing to write. */
  readonly attempt: AttemptContent | null;
  /** Whether to delete the intent, which the device has not taken and is not to take any more. */
  readonly withdraw: boolean;
  /** Name of the release that decides, if one does. */
  readonly releaseName: string | undefined;
  /** When to plan again without an event, in the broker's time. */
  readonly recheckAtMs: number | null;
}

/**
 * Plans one device.
 *
 * @param facts What is known of it
 * @param releases The releases
 * @param bounds Time bounds of liveness
 */
export function planDevice(facts: DeviceFacts, releases: ReleaseFacts, bounds: LivenessBounds): DevicePlan {
  const { device, upgrade, nowMs } = facts;
  const previous = device.status;
  const failedIdentities = nextFailedIdentities(previous?.failedIdentities ?? [], upgrade);
  const quarantined = nextQuarantined(previous, upgrade);
  const desired = desiredRelease(facts, releases);
  const decision = desired === null ? null : decideAttempt({
    deviceId: device.metadata.name,
    nowMs,
    info: facts.info,
    intent: facts.intent,
    upgrade,
    failedIdentities,
    quarantined,
    desired,
  });
  const liveness = judgeLiveness({
    nowMs,
    watchedSinceMs: facts.watchedSinceMs,
    heartbeatAtMs: facts.heartbeat?.receivedAtMs ?? null,
    openPhaseAtMs: upgrade === null || isTerminalPhase(upgrade.phase) ? null : upgrade.receivedAtMs,
    previous: previous === undefined
      ? null
      : { liveness: previous.liveness, sinceMs: Date.parse(previous.livenessSince) },
  }, bounds);
  const blocked = facts.heartbeat?.blocked;
  const status = nextDeviceStatus(previous, {
    nowMs,
    generation: device.metadata.generation,
    info: facts.info,
    ...(blocked === undefined ? {} : { blocked }),
    liveness,
    upgrade: upgrade === null ? null : reportOf(upgrade),
    desired: desired === null || decision === null ? null : desiredReport(facts, desired, decision),
    conditions: deviceConditions(facts, desired),
  });
  return {
    status,
    statusChanged: previous === undefined || !sameJson(previous, status),
    statusFirst: quarantined !== (previous?.quarantined ?? false) ||
      failedIdentities.join() !== (previous?.failedIdentities ?? []).join(),
    attempt: decision?.write ?? null,
    withdraw: decision?.withdraw ?? false,
    releaseName: desired?.kind === "release" ? desired.release.metadata.name : undefined,
    recheckAtMs: earlier(liveness.recheckAtMs, decision?.recheckAtMs ?? null),
  };
}

function earlier(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.min(a, b);
}

/** The release that decides; null when it cannot be known. */
function desiredRelease(facts: DeviceFacts, { releases, unreadable }: ReleaseFacts): DesiredRelease | null {
  const { device, groups } = facts;
  if (groups === null) return null;
  const held = device.status?.desiredRelease;
  // The release that decided cannot be read: nothing else takes over until it can, or is deleted.
  if (held !== undefined && unreadable.has(held)) return { kind: "unreadable", name: held };
  return selectRelease(releases, { groups, labels: device.metadata.labels ?? {} });
}

function desiredReport(facts: DeviceFacts, desired: DesiredRelease, { reason }: AttemptDecision): DesiredReport {
  switch (desired.kind) {
    case "none":
      return { reason };
    case "tie":
      return { reason, tiedReleases: desired.names };
    case "unreadable":
      return { reason, releaseName: desired.name };
    case "release": {
      const { info } = facts;
      const identity = info === null ? undefined : releaseTarget(desired.release, info.arch, info.form)?.identity;
      return {
        reason,
        releaseName: desired.release.metadata.name,
        ...(identity === undefined ? {} : { releaseIdentity: identity }),
      };
    }
  }
}

/** Only what a device's status shows: the rest of the facts is for the decision. */
function reportOf(upgrade: UpgradeStatusReport): UpgradeReport {
  const { rolledBack: _rolledBack, rejectedRevision: _rejectedRevision, ...report } = upgrade;
  return report;
}

/** What a person must know and no other field says. A condition is there only while it holds. */
function deviceConditions(facts: DeviceFacts, desired: DesiredRelease | null): ConditionInput[] {
  const { heartbeat, malformed } = facts;
  const conditions: ConditionInput[] = [];
  if (malformed.length > 0) {
    const message = malformed.join("; ");
    conditions.push({ type: "DocumentsReadable", status: "False", reason: "Malformed", message });
  }
  if (desired?.kind === "tie") {
    const message = `releases ${desired.names.join(", ")} all have priority ${desired.priority}: none of them decides`;
    conditions.push({ type: "Conflict", status: "True", reason: "PriorityTie", message });
  }
  if (facts.groupsProblem !== undefined) {
    const message = facts.groupsProblem;
    conditions.push({ type: "GroupsKnown", status: "False", reason: "GroupSourceFailed", message });
  }
  if (heartbeat?.deferred !== undefined) {
    const { attemptId, reason } = heartbeat.deferred;
    conditions.push({ type: "UpgradeDeferred", status: "True", reason, message: `attempt ${attemptId} waits` });
  }
  return conditions;
}
