/**
 * What the agent writes of the updater's transaction into NATS: level-triggered, at start and at each poll
 * (DESIGN 6, Mirror).
 *
 * The status key holds one attempt. When it tells of another attempt than the updater's transaction does, one of the
 * two is newer:
 *
 * 1. A transaction that is active is what the device does now: nothing is newer.
 * 2. What the agent is sending to the updater, and what the intent key names, are newer than a transaction that has
 *    ended; a transaction that the intent key names is newer than any other status.
 * 3. Else a status that never reached its end, of an attempt that neither runs nor is wanted, is a leftover.
 * 4. Else the one that began later is newer. Both times are this device's own.
 *
 * Where the updater has no transaction at all, a leftover of rule 3 is ended as `failed`, since nothing else ever will.
 *
 * @module
 */
import { type AgentUpgradeStatus, isTerminalPhase } from "../../contracts/agent_upgrade.ts";
import { canonicalJson } from "../../contracts/canonical_json.ts";
import { TRANSITIONS_MAX } from "../../contracts/limits.ts";
import type { TransactionView } from "../../contracts/updater_protocol.ts";
import { type AttemptIdentity, identityOf } from "./attempt_identity.ts";
import { type LastDrain, withDrainTime } from "./last_drain.ts";

/** What the decision looks at. */
export interface MirrorFacts {
  readonly deviceId: string;
  /** The updater's transaction, or null when there has been none. */
  readonly transaction: TransactionView | null;
  /** The status that stands in NATS, or null when there is none that can be read. */
  readonly published: AgentUpgradeStatus | null;
  /** What the intent key names, or null. */
  readonly intent: AttemptIdentity | null;
  /** What is on its way to the updater, or null. */
  readonly forwarding: AttemptIdentity | null;
  readonly lastDrain: LastDrain | null;
  /** The device's clock, in ms since the epoch. */
  readonly nowMs: number;
}

/** What to write. */
export type MirrorDecision =
  | { readonly kind: "nothing"; readonly why: "no-transaction" | "same" | "newer" }
  /** The journal tells of another device: its disk was cloned, or the device was renamed. */
  | { readonly kind: "foreign"; readonly error: string }
  | { readonly kind: "write"; readonly status: AgentUpgradeStatus };

/** Whether the published status is newer than the updater's, by the rules of this module. */
function publishedIsNewer(published: AgentUpgradeStatus, status: AgentUpgradeStatus, facts: MirrorFacts): boolean {
  const theirs = identityOf(published);
  const ours = identityOf(status);
  if (theirs === ours || !isTerminalPhase(status.phase)) return false;
  if (theirs === facts.forwarding || theirs === facts.intent) return true;
  if (ours === facts.intent || !isTerminalPhase(published.phase)) return false;
  return Date.parse(published.startedAt) > Date.parse(status.startedAt);
}

/** The end of an attempt that was announced and that neither runs nor is wanted. */
function endLeftover({ forwarding, intent, nowMs, published }: MirrorFacts): MirrorDecision {
  const identity = published === null ? null : identityOf(published);
  if (published === null || isTerminalPhase(published.phase) || identity === forwarding || identity === intent) {
    return { kind: "nothing", why: "no-transaction" };
  }
  const at = new Date(nowMs).toISOString();
  const end = published.phase === "preparing"
    ? {
      reason: "Withdrawn",
      failureClass: "policy",
      error: "the intent was withdrawn before the updater had it",
    } as const
    : {
      reason: "TransactionLost",
      failureClass: "internal",
      error: "the updater no longer knows this attempt",
    } as const;
  const transitions = [...published.transitions, { phase: "failed", at, code: end.reason } as const];
  return {
    kind: "write",
    status: { ...published, ...end, phase: "failed", updatedAt: at, transitions: transitions.slice(-TRANSITIONS_MAX) },
  };
}

/**
 * Decides what to write of the updater's transaction.
 *
 * @param facts What has been gathered
 */
export function decideMirror(facts: MirrorFacts): MirrorDecision {
  const { deviceId, lastDrain, published, transaction } = facts;
  if (transaction === null) return endLeftover(facts);
  if (transaction.status.deviceId !== deviceId) {
    const error = `the updater's transaction is of device ${transaction.status.deviceId}, this device is ${deviceId}`;
    return { kind: "foreign", error };
  }
  const status = withDrainTime(transaction.status, lastDrain);
  if (published === null) return { kind: "write", status };
  if (canonicalJson(published) === canonicalJson(status)) return { kind: "nothing", why: "same" };
  return publishedIsNewer(published, status, facts) ? { kind: "nothing", why: "newer" } : { kind: "write", status };
}
