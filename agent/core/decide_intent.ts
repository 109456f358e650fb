/**
 * What the agent does about the newest intent: an ordered list of checks over what has been gathered. Busy is not an
 * outcome, and an intent that cannot run now is deferred with a visible reason, never dropped (DESIGN 6, Intent).
 *
 * @module
 */
import { type AgentUpgradeStatus, isTerminalPhase } from "../../contracts/agent_upgrade.ts";
import type { FailureClass } from "../../contracts/errors.ts";
import type { Architecture } from "../../contracts/formats.ts";
import { CLOCK_EARLIEST_MS, CLOCK_SKEW_MAX_MS, INSTALL_RESERVE_BYTES } from "../../contracts/limits.ts";
import { JOURNAL_CORRUPT, type UpdaterState } from "../../contracts/updater_protocol.ts";
import { identityOf } from "./attempt_identity.ts";
import type { Intent, ValidIntent } from "./intent.ts";

/** What the decision looks at. */
export interface IntentFacts {
  readonly deviceId: string;
  readonly arch: Architecture;
  /** What the updater answered, or null while it cannot be reached. */
  readonly updater: UpdaterState | null;
  /** The status that stands in NATS, or null when there is none that can be read. */
  readonly published: AgentUpgradeStatus | null;
  /** The device's clock, in ms since the epoch. */
  readonly nowMs: number;
  /** Device clock minus server clock, in ms; null while unknown, which defers nothing. */
  readonly clockSkewMs: number | null;
  /** Free bytes where binaries are installed; null when unknown, which leaves the check to the updater. */
  readonly freeBytes: number | null;
}

/** Why an intent waits. */
export type DeferReason =
  | "UpdaterUnavailable"
  | "UpdaterQuarantined"
  | "UpdaterBusy"
  | "UpdaterRefused"
  | "ClockInsane"
  | "DiskLow";

/** Why an intent is answered with `failed` before the updater sees it. */
export interface Rejection {
  readonly reason: string;
  readonly failureClass: FailureClass;
  readonly error: string;
}

/** What to do about an intent. */
export type IntentDecision =
  /** It runs or has run: the mirror tells how. */
  | { readonly kind: "known" }
  /** Its final status stands in NATS. */
  | { readonly kind: "answered" }
  /** Publish `failed`; it never reaches the updater. */
  | { readonly kind: "reject"; readonly rejection: Rejection }
  /** Look again later. */
  | { readonly kind: "defer"; readonly reason: DeferReason; readonly detail: string }
  /** Publish `preparing` and send it to the updater. */
  | { readonly kind: "forward"; readonly intent: ValidIntent };

function policy(reason: string, error: string): Rejection {
  return { reason, failureClass: "policy", error };
}

function defer(reason: DeferReason, detail: string): IntentDecision {
  return { kind: "defer", reason, detail };
}

/** What is wrong with an attempt for this device, whatever the state of the device. */
function rejectionOf({ attempt, digest }: ValidIntent, facts: IntentFacts): Rejection | undefined {
  if (attempt.deviceId !== facts.deviceId) {
    return policy("WrongDevice", `deviceId: is ${attempt.deviceId}, this device is ${facts.deviceId}`);
  }
  if (attempt.arch !== facts.arch) {
    return policy("WrongArchitecture", `arch: is ${attempt.arch}, this device is ${facts.arch}`);
  }
  const running = facts.updater?.transaction;
  if (running?.attemptId === attempt.attemptId && running.attemptDigest !== digest) {
    return policy("UuidReused", `attemptId: ${attempt.attemptId} was accepted before with other content`);
  }
  return undefined;
}

/**
 * The updater had accepted this attempt and knows nothing of it now: its journal was lost. Sending it again could run
 * it a second time.
 */
function lostTransaction({ identity }: ValidIntent, { published, updater }: IntentFacts): Rejection | undefined {
  const { transaction } = updater ?? {};
  if (transaction === undefined || published === null || identityOf(published) !== identity) return undefined;
  // What a repair of a corrupt journal leaves knows no earlier attempt either.
  if (transaction !== null && transaction.status.reason !== JOURNAL_CORRUPT) return undefined;
  if (published.phase === "preparing") return undefined;
  const error = `the updater no longer knows this attempt, which was ${published.phase}`;
  return { reason: "TransactionLost", failureClass: "internal", error };
}

/**
 * What is wrong with the device's clock, if anything is; an unknown skew is no problem.
 *
 * @param clock The clock, and how far it is from the server's
 */
export function clockProblem(
  { nowMs, clockSkewMs }: { readonly nowMs: number; readonly clockSkewMs: number | null },
): string | undefined {
  if (nowMs < CLOCK_EARLIEST_MS) return `the clock says ${new Date(nowMs).toISOString()}, it has never been set`;
  if (clockSkewMs === null || Math.abs(clockSkewMs) <= CLOCK_SKEW_MAX_MS) return undefined;
  const direction = clockSkewMs > 0 ? "ahead of" : "behind";
  return `the clock is ${Math.abs(clockSkewMs)} ms ${direction} the server's, at most ${CLOCK_SKEW_MAX_MS}`;
}

/**
 * Decides about the newest intent.
 *
 * The one status key keeps telling of the attempt that runs, or that left the device to be repaired: until then a
 * rejection waits as every other intent does.
 *
 * @param intent The newest intent
 * @param facts What has been gathered
 */
export function decideIntent(intent: Intent, facts: IntentFacts): IntentDecision {
  const { updater, published } = facts;
  if (updater !== null && updater.transaction !== null && identityOf(updater.transaction) === intent.identity) {
    return { kind: "known" };
  }
  if (published !== null && isTerminalPhase(published.phase) && identityOf(published) === intent.identity) {
    return { kind: "answered" };
  }
  if (updater === null) return defer("UpdaterUnavailable", "the updater cannot be reached");
  if (updater.busy) return defer("UpdaterBusy", "another transaction is active");
  if (updater.quarantined) return defer("UpdaterQuarantined", "the device needs a repair by root first");
  if (intent.kind === "invalid") return { kind: "reject", rejection: policy(intent.reason, intent.error) };
  const rejection = rejectionOf(intent, facts) ?? lostTransaction(intent, facts);
  if (rejection !== undefined) return { kind: "reject", rejection };
  return decideNow(intent, facts);
}

/** The checks that pass with time or by a hand on the device. */
function decideNow(intent: ValidIntent, facts: IntentFacts): IntentDecision {
  const clock = clockProblem(facts);
  if (clock !== undefined) return defer("ClockInsane", clock);
  const neededBytes = intent.attempt.artifact.maxBytes + INSTALL_RESERVE_BYTES;
  if (facts.freeBytes !== null && facts.freeBytes < neededBytes) {
    return defer("DiskLow", `${facts.freeBytes} bytes are free for binaries, ${neededBytes} are needed`);
  }
  return { kind: "forward", intent };
}
