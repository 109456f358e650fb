/**
 * What the agent does about an intent of a system upgrade: an ordered list of checks over what has been gathered. Busy is
 * not an outcome: an intent waits with a visible reason until its time is over (DESIGN 6, Intent).
 *
 * @module
 */
import { UPGRADE_ROOT_RESERVE_BYTES, UPGRADE_VAR_RESERVE_BYTES } from "../../contracts/limits.ts";
import {
  APT_FULL_UPGRADE_V1,
  isTerminalSystemPhase,
  type SystemUpgradeStatus,
} from "../../contracts/system_upgrade.ts";
import type { UpdaterState } from "../../contracts/updater_protocol.ts";
import { clockProblem, type DeferReason } from "../core/decide_intent.ts";
import type { SystemIntent, ValidSystemIntent } from "./system_intent.ts";
import type { SystemRejection } from "./system_status.ts";

/** What the decision looks at. */
export interface SystemIntentFacts {
  readonly deviceId: string;
  /** What the updater answered, or null while it cannot be reached. */
  readonly updater: UpdaterState | null;
  /** The run's status that stands in NATS, or null when there is none that can be read. */
  readonly published: SystemUpgradeStatus | null;
  /** The device's clock, in ms since the epoch. */
  readonly nowMs: number;
  /** Device clock minus server clock, in ms; null while unknown. */
  readonly clockSkewMs: number | null;
  /** Free bytes below `/usr` and `/var`; null when unknown, which leaves the check to the updater. */
  readonly freeBytes: { readonly usr: number | null; readonly var: number | null };
  /** What it waited for until now. */
  readonly waitedFor?: string;
}

/** What to do about an intent. */
export type SystemIntentDecision =
  /** It runs: the mirror tells how. */
  | { readonly kind: "known" }
  /** Its final status stands in NATS. */
  | { readonly kind: "answered" }
  | { readonly kind: "reject"; readonly rejection: SystemRejection }
  /** Look again later. */
  | { readonly kind: "defer"; readonly reason: DeferReason; readonly detail: string }
  | { readonly kind: "forward"; readonly intent: ValidSystemIntent };

function defer(reason: DeferReason, detail: string): SystemIntentDecision {
  return { kind: "defer", reason, detail };
}

function reject(rejection: SystemRejection): SystemIntentDecision {
  return { kind: "reject", rejection };
}

/**
 * The updater had accepted this attempt and can know nothing of it now: its ledger was lost, and sending the attempt
 * again could run it a second time. An attempt that another one followed is in a ledger that was not.
 */
function isLost(published: SystemUpgradeStatus | null, updater: UpdaterState): boolean {
  if (published === null) return false;
  const { systemUpgrade } = updater;
  return systemUpgrade === undefined || Date.parse(systemUpgrade.startedAt) < Date.parse(published.startedAt);
}

/**
 * Decides about one intent.
 *
 * @param intent The intent
 * @param facts What has been gathered
 */
export function decideSystemIntent(intent: SystemIntent, facts: SystemIntentFacts): SystemIntentDecision {
  const { deviceId, published, updater } = facts;
  if (updater?.systemUpgrade?.attemptId === intent.runId) return { kind: "known" };
  if (published !== null && isTerminalSystemPhase(published.phase)) return { kind: "answered" };
  if (intent.kind === "invalid") {
    return reject({ reason: intent.reason, failureClass: "policy", error: intent.error });
  }
  const { attempt } = intent;
  if (attempt.deviceId !== deviceId) {
    const error = `deviceId: is ${attempt.deviceId}, this device is ${deviceId}`;
    return reject({ reason: "WrongDevice", failureClass: "policy", error });
  }
  if (updater !== null && updater.ledgerProblem === undefined && isLost(published, updater)) {
    const error = `the updater no longer knows this attempt, which was ${published?.phase ?? "accepted"}`;
    return reject({ reason: "LedgerLost", failureClass: "internal", error });
  }
  // What was accepted does not expire; what became of it is for the updater to say.
  const expired = published === null ? expiry(intent, facts) : undefined;
  return expired ?? decideByUpdater(intent, facts);
}

function expiry(
  { attempt: { expiresAt } }: ValidSystemIntent,
  facts: SystemIntentFacts,
): SystemIntentDecision | undefined {
  const { nowMs, clockSkewMs, waitedFor } = facts;
  // By the server's clock where it can be known, and never by a clock that cannot be right.
  if (clockSkewMs === null && clockProblem(facts) !== undefined) return undefined;
  if (Date.parse(expiresAt) > nowMs - (clockSkewMs ?? 0)) return undefined;
  return reject({
    reason: "Expired",
    failureClass: "policy",
    error: `the attempt expired at ${expiresAt}, before the updater had accepted it`,
    ...(waitedFor === undefined ? {} : { detail: waitedFor }),
  });
}

/** The checks that pass with time or by a hand on the device, but for the one that says that they never will. */
function decideByUpdater(intent: ValidSystemIntent, facts: SystemIntentFacts): SystemIntentDecision {
  const { updater, freeBytes } = facts;
  if (updater === null) return defer("UpdaterUnavailable", "the updater cannot be reached");
  if (updater.ledgerProblem !== undefined) return defer("UpdaterRefused", updater.ledgerProblem);
  if (!updater.capabilities.includes(APT_FULL_UPGRADE_V1)) {
    const error = `updater ${updater.updaterVersion} cannot upgrade the system of this device`;
    return reject({ reason: "UnsupportedOperation", failureClass: "policy", error });
  }
  if (updater.busy) return defer("UpdaterBusy", "another attempt is under way");
  if (updater.quarantined) return defer("UpdaterQuarantined", "the device needs a repair by root first");
  const clock = clockProblem(facts);
  if (clock !== undefined) return defer("ClockInsane", clock);
  const low = ([
    ["/usr", freeBytes.usr, UPGRADE_ROOT_RESERVE_BYTES],
    ["/var", freeBytes.var, UPGRADE_VAR_RESERVE_BYTES],
  ] as const).find(([, free, needed]) => free !== null && free < needed);
  if (low !== undefined) return defer("DiskLow", `${low[0]}: ${low[1]} bytes are free, an upgrade needs ${low[2]}`);
  return { kind: "forward", intent };
}
