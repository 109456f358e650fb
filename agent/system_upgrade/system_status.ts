/**
 * What the agent itself writes into the status of a system upgrade: a failure of an intent that never got to the updater,
 * and the first heartbeat after a success. Everything else is the updater's and is only mirrored.
 *
 * @module
 */
import { canonicalJson } from "../../contracts/canonical_json.ts";
import type { FailureClass } from "../../contracts/errors.ts";
import { bounded } from "../../contracts/formats.ts";
import { SYSTEM_STATUS_MAX_AGE_S } from "../../contracts/limits.ts";
import {
  type FirstHeartbeat,
  isTerminalSystemPhase,
  SYSTEM_UPGRADE_SCHEMA,
  type SystemUpgradeReason,
  type SystemUpgradeStatus,
} from "../../contracts/system_upgrade.ts";
import type { SystemIntent } from "./system_intent.ts";

/** Why an intent is answered with `failed` before the updater has it. */
export interface SystemRejection {
  readonly reason: SystemUpgradeReason;
  readonly failureClass: FailureClass;
  readonly error: string;
  /** What it waited for until then. */
  readonly detail?: string;
}

/**
 * The status of an intent that the updater never had.
 *
 * @param intent The intent
 * @param rejection Why
 * @param author Whose status it is, and when it is written
 */
export function rejectedSystemStatus(
  intent: SystemIntent,
  { reason, failureClass, error, detail }: SystemRejection,
  { deviceId, nowMs }: { readonly deviceId: string; readonly nowMs: number },
): SystemUpgradeStatus {
  const at = new Date(nowMs).toISOString();
  return {
    schema: SYSTEM_UPGRADE_SCHEMA,
    attemptId: intent.runId,
    runId: intent.runId,
    deviceId,
    phase: "failed",
    reason,
    failureClass,
    error: bounded(error),
    startedAt: at,
    updatedAt: at,
    completedAt: at,
    transitions: [{ phase: "failed", at, code: reason }],
    ...(detail === undefined ? {} : { detail: bounded(detail) }),
    ...(intent.digest === undefined ? {} : { attemptDigest: intent.digest }),
    ...(intent.kind === "attempt" ? { operation: intent.attempt.operation } : {}),
  };
}

/** What the mirror looks at. */
export interface SystemMirrorFacts {
  /** The updater's status. */
  readonly status: SystemUpgradeStatus;
  /** The status that stands in NATS, or null when there is none that can be read. */
  readonly published: SystemUpgradeStatus | null;
  /** The first heartbeat that the broker has taken since the agent saw the success, once there is one. */
  readonly heartbeat: FirstHeartbeat | null;
  /** The device's clock, in ms since the epoch. */
  readonly nowMs: number;
}

function isSameAttempt(one: SystemUpgradeStatus, other: SystemUpgradeStatus): boolean {
  return one.attemptId === other.attemptId && one.attemptDigest === other.attemptDigest;
}

/**
 * The status that must stand in NATS, or null when what stands there is right.
 *
 * @param facts What has been gathered
 */
export function mirroredSystemStatus(
  { status, published, heartbeat, nowMs }: SystemMirrorFacts,
): SystemUpgradeStatus | null {
  if (published === null && isTerminalSystemPhase(status.phase)) {
    // The bucket forgets what ended long ago, and the device must not remind it for ever.
    const ageMs = nowMs - Date.parse(status.completedAt ?? status.updatedAt);
    if (ageMs > SYSTEM_STATUS_MAX_AGE_S * 1_000) return null;
  }
  const kept = published !== null && isSameAttempt(published, status) ? published.firstHeartbeat : undefined;
  const first = status.phase === "succeeded" ? kept ?? heartbeat ?? undefined : undefined;
  const wanted = first === undefined ? status : { ...status, firstHeartbeat: first };
  return published !== null && canonicalJson(published) === canonicalJson(wanted) ? null : wanted;
}
