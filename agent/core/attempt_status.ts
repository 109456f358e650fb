/**
 * The statuses that the agent itself writes: before the updater has an attempt, when it never gets it, and the last
 * words before a switch. Everything else is the updater's and is only mirrored.
 *
 * @module
 */
import { AGENT_UPGRADE_SCHEMA, type AgentUpgradeStatus, type UpgradePhase } from "../../contracts/agent_upgrade.ts";
import { bounded } from "../../contracts/formats.ts";
import type { AttemptOutcome, UpdaterRefusal } from "../../contracts/updater_protocol.ts";
import type { Rejection } from "./decide_intent.ts";
import type { Intent, ValidIntent } from "./intent.ts";

/** Who says it, and when. */
export interface StatusAuthor {
  readonly deviceId: string;
  readonly bootId: string;
  readonly nowMs: number;
}

/** What identifies the attempt of an intent and its target, as far as they are known. */
function about(intent: Intent): Partial<AgentUpgradeStatus> {
  if (intent.kind === "invalid") {
    return {
      ...(intent.attemptId === undefined ? { rejectedRevision: intent.revision } : { attemptId: intent.attemptId }),
      ...(intent.digest === undefined ? {} : { attemptDigest: intent.digest }),
    };
  }
  const { attempt, digest } = intent;
  return {
    attemptId: attempt.attemptId,
    attemptDigest: digest,
    targetVersion: attempt.targetVersion,
    artifactSha256: attempt.artifact.sha256,
    ...(attempt.releaseIdentity === undefined ? {} : { releaseIdentity: attempt.releaseIdentity }),
  };
}

function statusAt(
  phase: UpgradePhase,
  intent: Intent,
  author: StatusAuthor,
  more: Partial<AgentUpgradeStatus>,
): AgentUpgradeStatus {
  const at = new Date(author.nowMs).toISOString();
  return {
    schema: AGENT_UPGRADE_SCHEMA,
    deviceId: author.deviceId,
    phase,
    startedAt: at,
    updatedAt: at,
    bootId: author.bootId,
    transitions: [{ phase, at, ...(more.reason === undefined ? {} : { code: more.reason }) }],
    ...about(intent),
    ...more,
  };
}

/**
 * `preparing`, which is published before the attempt goes to the updater (`Fleet agent upgrades`, Preparation).
 *
 * @param intent The attempt
 * @param author Who says it, and when
 */
export function preparingStatus(intent: ValidIntent, author: StatusAuthor): AgentUpgradeStatus {
  return statusAt("preparing", intent, author, {});
}

/**
 * `failed`, for an intent that was rejected before the updater had it (DESIGN 6, Intent).
 *
 * @param intent The intent
 * @param rejection Why
 * @param author Who says it, and when
 */
export function rejectedStatus(intent: Intent, rejection: Rejection, author: StatusAuthor): AgentUpgradeStatus {
  const { reason, failureClass, error } = rejection;
  return statusAt("failed", intent, author, { reason, failureClass, error: bounded(error) });
}

const REFUSAL_REASONS: Readonly<Partial<Record<UpdaterRefusal["code"], string>>> = {
  E_UUID_REUSED: "UuidReused",
  E_WRONG_DEVICE: "WrongDevice",
  E_WRONG_ARCH: "WrongArchitecture",
  E_UNSUPPORTED_SCHEME: "UnsupportedScheme",
  E_VERSION_SELECTED: "VersionSelected",
  E_REQUEST_INVALID: "InvalidIntent",
  E_REQUEST_TOO_LARGE: "InvalidIntent",
};

/**
 * What a final refusal of the updater is as a rejection.
 *
 * @param refusal A refusal that is not retryable
 */
export function rejectionOfRefusal({ code, message, failureClass }: UpdaterRefusal): Rejection {
  return { reason: REFUSAL_REASONS[code] ?? "UpdaterRefused", failureClass, error: message };
}

/**
 * The outcome of an attempt that ran earlier and came again: it answers the intent, and nothing runs twice.
 *
 * @param intent The attempt
 * @param outcome What the updater remembers
 * @param author Who says it, and when
 */
export function replayedStatus(intent: ValidIntent, outcome: AttemptOutcome, author: StatusAuthor): AgentUpgradeStatus {
  return statusAt(outcome.phase, intent, author, {
    detail: `this attempt ended at ${outcome.at} and is not run again`,
    ...(outcome.reason === undefined ? {} : { reason: outcome.reason }),
  });
}

/**
 * The last words of an agent that the updater stops for a switch (`Fleet agent upgrades`, Stop, switch, start).
 *
 * @param status The updater's status of the attempt
 * @param nowMs The time
 */
export function stoppingStatus(status: AgentUpgradeStatus, nowMs: number): AgentUpgradeStatus {
  return { ...status, phase: "stopping", reason: "Updater", updatedAt: new Date(nowMs).toISOString() };
}
