/**
 * Whether a device gets a new attempt, and where it stands with the release that decides for it (DESIGN 3; `Fleet agent
 * upgrades`, Intent). A pure chain of ordered checks; the first that applies names the reason.
 *
 * The question is not what the device runs but where it is *heading*: an intent that it has not finished yet will
 * change it. So an intent for a release that decides no more is replaced even while the device still reports the
 * desired version or works on the old attempt: the agent keeps only the newest intent and reads it when its transaction
 * ends, and a release that was taken back must not reach devices that come online later. Where nothing takes its place
 * (no release decides, the one that does is paused, or has nothing for the device) such an intent is withdrawn, unless the
 * device has taken it already or a person wrote it by hand.
 *
 * @module
 */
import type { AgentReleaseSpec, ReleaseArtifact } from "../../contracts/agent_release.ts";
import type { UpgradePhase } from "../../contracts/agent_upgrade.ts";
import { isTerminalPhase } from "../../contracts/agent_upgrade.ts";
import { CAPABILITY_HTTPS, CAPABILITY_OCI } from "../../contracts/device.ts";
import { DEVICE_INFO_SETTLE_MS } from "../../contracts/limits.ts";
import type { DesiredRelease } from "./desired_release.ts";
import { releaseTarget } from "./release_target.ts";

/** Where a device stands with its desired release; stands in the device's status as `desiredReason`. */
export const DESIRED_REASONS = [
  /** No release decides: the device is in no group. */
  "NoGroups",
  /** No release decides: none places the device. */
  "NoRelease",
  /** No release decides: several of the same priority would. */
  "Conflict",
  /** The release that decided cannot be read; until it can, or is deleted, nothing takes over. */
  "ReleaseUnreadable",
  /** Root must repair the device first. */
  "Quarantined",
  /** It runs the version. */
  "UpToDate",
  /** An attempt is written and the device has not taken it yet. */
  "Pending",
  /** An attempt of it is under way. */
  "Upgrading",
  /** Its identity failed before the switch and is not tried again. */
  "Failed",
  /** Its identity was started and rolled back, and is not tried again. */
  "RolledBack",
  /** Nothing readable is known of the device. */
  "NoDeviceInfo",
  /** The device runs from a work tree, which takes no upgrade. */
  "SourceForm",
  /** No artifact for the device's architecture and form. */
  "NoArtifact",
  /** The device cannot reach its updater. */
  "UpdaterUnavailable",
  /** The updater cannot fetch from the artifact's kind of URL. */
  "UpdaterTooOld",
  /** The release is paused. */
  "Paused",
] as const;
/** One of {@link DESIRED_REASONS}. */
export type DesiredReason = (typeof DESIRED_REASONS)[number];

/** What of a device info counts here. */
export interface InfoFacts {
  readonly agentVersion: string;
  readonly arch: "x86_64" | "aarch64";
  readonly form: "compiled" | "script" | "source";
  /** Absent while the agent cannot reach its updater. */
  readonly updater?: { readonly version: string; readonly capabilities: readonly string[] };
  /** Receipt at the broker, in ms. */
  readonly receivedAtMs: number;
}

/** The intent key of a device; every write of it is a compare-and-set on `revision`. */
export interface IntentFacts {
  readonly revision: number;
  /** What it says; null when it cannot be read. */
  readonly attempt: {
    readonly attemptId: string;
    readonly targetVersion: string;
    readonly artifactSha256: string;
    readonly releaseIdentity?: string;
  } | null;
}

/** What of an upgrade status counts here. */
export interface UpgradeFacts {
  readonly attemptId?: string;
  readonly rejectedRevision?: number;
  readonly targetVersion?: string;
  readonly releaseIdentity?: string;
  readonly phase: UpgradePhase;
  /** Whether the candidate was started and taken back. */
  readonly rolledBack: boolean;
  /** Receipt at the broker, in ms. */
  readonly receivedAtMs: number;
}

/** Everything that a decision looks at. */
export interface AttemptFacts {
  readonly deviceId: string;
  readonly nowMs: number;
  readonly info: InfoFacts | null;
  readonly intent: IntentFacts | null;
  readonly upgrade: UpgradeFacts | null;
  readonly failedIdentities: readonly string[];
  readonly quarantined: boolean;
  readonly desired: DesiredRelease;
}

/** An attempt without the UUID that its writer makes. */
export interface AttemptContent {
  readonly deviceId: string;
  readonly targetVersion: string;
  readonly arch: InfoFacts["arch"];
  readonly artifact: { readonly url: string; readonly maxBytes: number; readonly sha256: string };
  readonly releaseIdentity: string;
}

/** The decision. */
export interface AttemptDecision {
  readonly reason: DesiredReason;
  /** The attempt to write over the intent that was looked at; null when there is nothing to write. */
  readonly write: AttemptContent | null;
  /** Whether to delete the intent that was looked at: the device has not taken it, and is not to take it any more. */
  readonly withdraw: boolean;
  /** When to decide again without an event, in the broker's time. */
  readonly recheckAtMs: number | null;
}

/**
 * Decides for one device.
 *
 * @param facts What is known of it
 */
export function decideAttempt(facts: AttemptFacts): AttemptDecision {
  const { desired, info } = facts;
  if (desired.kind === "none") return { ...say(desired.reason), withdraw: isUntaken(facts) };
  // Both are for a person to settle; until then nothing is changed.
  if (desired.kind === "tie") return say("Conflict");
  if (desired.kind === "unreadable") return say("ReleaseUnreadable");
  if (facts.quarantined || facts.upgrade?.phase === "rollback-failed") return say("Quarantined");
  if (info === null) return say("NoDeviceInfo");
  const { artifact, identity } = releaseTarget(desired.release, info.arch, info.form) ?? {};
  const target: Target = { spec: desired.release.spec, artifact, identity };
  const kept = decideUnderWay(facts, info, target);
  if (kept !== null) return kept;
  const decision = decideSettled(facts, info, target) ?? decideGates(facts, info, target);
  return decision.write === null ? { ...decision, withdraw: isUntaken(facts) && !isCarried(facts, target) } : decision;
}

interface Target {
  readonly spec: AgentReleaseSpec;
  readonly artifact: ReleaseArtifact | undefined;
  readonly identity: string | undefined;
}

function say(reason: DesiredReason, recheckAtMs: number | null = null): AttemptDecision {
  return { reason, write: null, withdraw: false, recheckAtMs };
}

/** Whether the status speaks of the intent. */
function answers(upgrade: UpgradeFacts | null, intent: IntentFacts): boolean {
  if (upgrade === null) return false;
  return upgrade.attemptId === undefined
    ? upgrade.rejectedRevision === intent.revision
    : upgrade.attemptId === intent.attempt?.attemptId;
}

/** Whether an intent carries the desired release; one that was written by hand may have no identity. */
function carries(attempt: NonNullable<IntentFacts["attempt"]>, { spec, artifact, identity }: Target): boolean {
  if (attempt.releaseIdentity !== undefined) return attempt.releaseIdentity === identity;
  return attempt.targetVersion === spec.version && attempt.artifactSha256 === artifact?.sha256;
}

function isCarried({ intent }: AttemptFacts, target: Target): boolean {
  return intent !== null && intent.attempt !== null && carries(intent.attempt, target);
}

/** Whether an operator wrote the intent and the device has not taken it; one without an identity is a person's. */
function isUntaken({ intent, upgrade }: AttemptFacts): boolean {
  return intent !== null && intent.attempt?.releaseIdentity !== undefined && !answers(upgrade, intent);
}

/** An intent that waits or runs: kept when it carries the desired release, else left to be replaced or withdrawn. */
function decideUnderWay(facts: AttemptFacts, info: InfoFacts, target: Target): AttemptDecision | null {
  const { intent, upgrade } = facts;
  const running = upgrade !== null && !isTerminalPhase(upgrade.phase);
  if (intent !== null && isCarried(facts, target)) {
    if (answers(upgrade, intent)) return running ? say("Upgrading") : null;
    // Not taken yet, and nothing else runs: what the device reports is what it is.
    if (!running && info.agentVersion === target.spec.version) return say("UpToDate");
    // A pause holds what has not begun.
    return target.spec.paused && isUntaken(facts) ? { ...say("Paused"), withdraw: true } : say("Pending");
  }
  // Somebody removed the intent of the attempt that runs; it ends all the same.
  const orphan = running && intent === null && upgrade.releaseIdentity === target.identity;
  return orphan && target.identity !== undefined ? say("Upgrading") : null;
}

/** A device that no unfinished attempt will change: what it reports counts. */
function decideSettled(facts: AttemptFacts, info: InfoFacts, { spec }: Target): AttemptDecision | null {
  const { intent, upgrade } = facts;
  const running = upgrade !== null && !isTerminalPhase(upgrade.phase);
  // An unreadable intent changes nothing on the device, which refuses it; it is replaced when there is something to say.
  const waiting = intent !== null && intent.attempt !== null && !answers(upgrade, intent);
  if (running || waiting) return null;
  if (info.agentVersion === spec.version) return say("UpToDate");
  if (upgrade?.phase !== "complete" || upgrade.targetVersion !== spec.version) return null;
  // Reflashed, unless the info of the version that has just completed is still on its way.
  const settlesAtMs = upgrade.receivedAtMs + DEVICE_INFO_SETTLE_MS;
  const late = info.receivedAtMs < upgrade.receivedAtMs && facts.nowMs < settlesAtMs;
  return late ? say("Upgrading", settlesAtMs) : null;
}

/** The device must change: what keeps it from an attempt, if anything does. */
function decideGates(facts: AttemptFacts, info: InfoFacts, target: Target): AttemptDecision {
  const { spec, artifact, identity } = target;
  if (info.form === "source") return say("SourceForm");
  if (artifact === undefined || identity === undefined) return say("NoArtifact");
  const { intent, upgrade } = facts;
  const carried = intent !== null && answers(upgrade, intent) && isCarried(facts, target);
  if (upgrade?.phase === "failed" && (carried || upgrade.releaseIdentity === identity)) {
    return say(upgrade.rolledBack ? "RolledBack" : "Failed");
  }
  if (facts.failedIdentities.includes(identity)) return say("Failed");
  if (info.updater === undefined) return say("UpdaterUnavailable");
  const needed = artifact.url.startsWith("oci:") ? CAPABILITY_OCI : CAPABILITY_HTTPS;
  if (!info.updater.capabilities.includes(needed)) return say("UpdaterTooOld");
  if (spec.paused) return say("Paused");
  const { url, maxBytes, sha256 } = artifact;
  const write: AttemptContent = {
    deviceId: facts.deviceId,
    targetVersion: spec.version,
    arch: info.arch,
    artifact: { url, maxBytes, sha256 },
    releaseIdentity: identity,
  };
  return { reason: "Pending", write, withdraw: false, recheckAtMs: null };
}
