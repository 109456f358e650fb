/**
 * The next status of a `Device`, from what is known of it now and what was written last. It differs from the last one
 * only when something happened that a person would call a change (DESIGN 3): heartbeats as such never show.
 *
 * @module
 */
import type { UpgradePhase } from "../../contracts/agent_upgrade.ts";
import type { DeviceInfo } from "../../contracts/device.ts";
import type { DeviceStatus, DeviceUpgrade } from "../../contracts/device_resource.ts";
import { FAILED_IDENTITIES_MAX } from "../../contracts/limits.ts";
import type { DesiredReason } from "./attempt.ts";
import { type ConditionInput, nextConditions } from "./conditions.ts";
import type { LivenessJudgement } from "./liveness.ts";

/** What of an upgrade status a device's status shows. */
export interface UpgradeReport extends Omit<DeviceUpgrade, "releaseName" | "updatedAt" | "startedAt"> {
  readonly phase: UpgradePhase;
  /** When the attempt began by the device's clock, in ms since the epoch. */
  readonly startedAtMs: number;
  /** Receipt at the broker, in ms since the epoch. */
  readonly receivedAtMs: number;
}

/** Where the device stands with its desired release. */
export interface DesiredReport {
  readonly reason: DesiredReason;
  /** The release that decides, if one does. */
  readonly releaseName?: string;
  /** Its identity on this device, if the device has an artifact. */
  readonly releaseIdentity?: string;
  readonly tiedReleases?: readonly string[];
}

/** What a device's status is made of. */
export interface DeviceStatusFacts {
  readonly nowMs: number;
  readonly generation: number;
  /** Null while nothing readable is known; then what was written last stays. */
  readonly info: Pick<DeviceInfo, "agentVersion" | "form" | "arch" | "os" | "updater" | "step" | "blocked"> | null;
  /** What keeps the running agent from its work, as its heartbeat says. */
  readonly blocked?: string;
  readonly liveness: LivenessJudgement;
  /** Null when the status bucket has none. */
  readonly upgrade: UpgradeReport | null;
  /** Null while it could not be planned; then what was written last stays. */
  readonly desired: DesiredReport | null;
  readonly conditions: readonly ConditionInput[];
}

/**
 * Makes the next status.
 *
 * @param previous What was written last
 * @param facts What is known now
 */
export function nextDeviceStatus(previous: DeviceStatus | undefined, facts: DeviceStatusFacts): DeviceStatus {
  const { info, liveness } = facts;
  const upgrade = nextUpgrade(previous?.upgrade, facts);
  const conditions = nextConditions(previous?.conditions, facts.conditions, facts.nowMs, facts.generation);
  return {
    ...(info === null ? reported(previous) : reportedBy(info, facts.blocked)),
    liveness: liveness.liveness,
    livenessSince: new Date(liveness.sinceMs).toISOString(),
    ...(upgrade === undefined ? {} : { upgrade }),
    quarantined: nextQuarantined(previous, facts.upgrade),
    ...nextDesired(previous, facts.desired),
    failedIdentities: nextFailedIdentities(previous?.failedIdentities ?? [], facts.upgrade),
    ...(conditions.length === 0 ? {} : { conditions }),
    observedGeneration: facts.generation,
  };
}

type Reported = Partial<
  Pick<
    DeviceStatus,
    "agentVersion" | "form" | "arch" | "os" | "updaterVersion" | "capabilities" | "step" | "blocked"
  >
>;

function reportedBy(info: NonNullable<DeviceStatusFacts["info"]>, heartbeatBlocked: string | undefined): Reported {
  const { agentVersion, form, arch, os, updater, step } = info;
  // Before READY the info says what blocks the start; after it only heartbeats do.
  const blocked = step === "ready" ? heartbeatBlocked : info.blocked ?? heartbeatBlocked;
  return {
    agentVersion,
    form,
    arch,
    os,
    ...(updater === undefined ? {} : { updaterVersion: updater.version, capabilities: updater.capabilities }),
    ...(step === "ready" ? {} : { step }),
    ...(blocked === undefined ? {} : { blocked }),
  };
}

function reported(previous: DeviceStatus | undefined): Reported {
  const kept = ["agentVersion", "form", "arch", "os", "updaterVersion", "capabilities", "step", "blocked"] as const;
  return Object.fromEntries(
    kept.flatMap((name) => previous?.[name] === undefined ? [] : [[name, previous[name]]]),
  );
}

/**
 * Whether root must repair the device: set by `rollback-failed`, lifted when the device reports anything else, which it
 * does once the updater has been repaired. A status bucket that was lost lifts nothing.
 *
 * @param previous What was written last
 * @param upgrade What the device reports
 */
export function nextQuarantined(
  previous: Pick<DeviceStatus, "quarantined"> | undefined,
  upgrade: Pick<UpgradeReport, "phase"> | null,
): boolean {
  // A quarantined device puts every intent off: it reports nothing else until it has been repaired.
  return upgrade === null ? previous?.quarantined ?? false : upgrade.phase === "rollback-failed";
}

/**
 * The failed identities with what the device reports now: a failure is added as the newest, a completion removes its
 * identity.
 *
 * @param previous Oldest first
 * @param upgrade What the device reports
 */
export function nextFailedIdentities(
  previous: readonly string[],
  upgrade: Pick<UpgradeReport, "phase" | "releaseIdentity"> | null,
): string[] {
  const identity = upgrade?.releaseIdentity;
  if (upgrade === null || identity === undefined) return [...previous];
  if (upgrade.phase === "complete") return previous.filter((known) => known !== identity);
  const failed = upgrade.phase === "failed" || upgrade.phase === "rollback-failed";
  if (!failed || previous.includes(identity)) return [...previous];
  return [...previous, identity].slice(-FAILED_IDENTITIES_MAX);
}

function nextDesired(
  previous: DeviceStatus | undefined,
  desired: DesiredReport | null,
): Partial<Pick<DeviceStatus, "desiredRelease" | "desiredReason" | "tiedReleases">> {
  const release = desired === null ? previous?.desiredRelease : desired.releaseName;
  const reason = desired === null ? previous?.desiredReason : desired.reason;
  const tied = desired === null ? previous?.tiedReleases : desired.tiedReleases;
  return {
    ...(release === undefined ? {} : { desiredRelease: release }),
    ...(reason === undefined ? {} : { desiredReason: reason }),
    ...(tied === undefined ? {} : { tiedReleases: [...tied] }),
  };
}

function nextUpgrade(previous: DeviceUpgrade | undefined, facts: DeviceStatusFacts): DeviceUpgrade | undefined {
  const { upgrade, desired } = facts;
  if (upgrade === null) return previous;
  const { startedAtMs, receivedAtMs, ...said } = upgrade;
  const sameAttempt = previous !== undefined && previous.attemptId === upgrade.attemptId;
  const decided = upgrade.releaseIdentity !== undefined && upgrade.releaseIdentity === desired?.releaseIdentity;
  const releaseName = sameAttempt && previous.releaseName !== undefined
    ? previous.releaseName
    : decided
    ? desired?.releaseName
    : undefined;
  const next: DeviceUpgrade = {
    ...said,
    ...(releaseName === undefined ? {} : { releaseName }),
    // A device's clock may run ahead; an attempt has not begun after the broker heard of it.
    startedAt: sameAttempt ? previous.startedAt : new Date(Math.min(startedAtMs, receivedAtMs)).toISOString(),
    updatedAt: new Date(receivedAtMs).toISOString(),
  };
  // A status that was only written again says nothing new.
  return previous !== undefined && sameUpgrade(previous, next) ? previous : next;
}

function sameUpgrade(a: DeviceUpgrade, b: DeviceUpgrade): boolean {
  const names = ["attemptId", "releaseName", "releaseIdentity", "targetVersion", "phase", "reason", "failureClass"];
  return [...names, "error"].every((name) => Reflect.get(a, name) === Reflect.get(b, name));
}
