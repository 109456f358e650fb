/**
 * Whether a system upgrade may begin: an ordered list of checks over what has been gathered. A refusal changes nothing.
 *
 * @module
 */
import { CLOCK_SKEW_MAX_MS, LEDGER_ENTRIES_MAX, TASK_DEADLINE_MAX_S } from "../../../contracts/limits.ts";
import type { SystemUpgradeAttempt, SystemUpgradeStatus } from "../../../contracts/system_upgrade.ts";
import type { FailureClass } from "../../../contracts/errors.ts";
import type { UpdaterErrorCode, UpdaterRefusal } from "../../../contracts/updater_protocol.ts";
import { refuse } from "../../core/admission.ts";
import { clockProblem, hasExpired } from "./clock_sanity.ts";
import { isUpgrading, type Ledger } from "./ledger.ts";
import { unexpired } from "./rewrite_ledger.ts";
import { statusOfEntry, statusOfRun } from "./upgrade_status.ts";

/** What admission looks at beside the ledger. */
export interface UpgradeAdmissionFacts {
  readonly deviceId: string;
  /** Why this device cannot upgrade its system, if it cannot. */
  readonly incapable: string | undefined;
  readonly nowMs: number;
  /** Whether an agent upgrade is under way or being admitted. */
  readonly agentUpgradeActive: boolean;
  /** Whether the device waits for root's repair. */
  readonly quarantined: boolean;
  /** Whether every reserve slot of the ledger is there. */
  readonly reserveComplete: boolean;
  /** Whether the updater is stopping. */
  readonly stopping: boolean;
}

/** What becomes of a request. */
export type UpgradeAdmission =
  | { readonly kind: "admit" }
  /** It runs, or has run, and never begins again: this is how it stands. */
  | { readonly kind: "answer"; readonly status: SystemUpgradeStatus }
  | { readonly kind: "refuse"; readonly refusal: UpdaterRefusal };

/** What is known of an attempt by its UUID. */
function earlier(ledger: Ledger, deviceId: string, attemptId: string): SystemUpgradeStatus | undefined {
  if (ledger.run?.attempt.attemptId === attemptId) return statusOfRun(ledger.run);
  const entry = ledger.entries.find((one) => one.attemptId === attemptId);
  return entry === undefined ? undefined : statusOfEntry(entry, deviceId);
}

function refused(
  code: UpdaterErrorCode,
  message: string,
  failureClass: FailureClass = "policy",
  field?: string,
): UpgradeAdmission {
  return { kind: "refuse", refusal: refuse(code, message, failureClass, field) };
}

/**
 * Decides about an attempt that has been decoded.
 *
 * @param ledger The ledger
 * @param attempt The attempt
 * @param digest SHA-256 over its canonical JSON as it came
 * @param facts What has been gathered
 */
export function admitUpgrade(
  ledger: Ledger,
  attempt: SystemUpgradeAttempt,
  digest: string,
  facts: UpgradeAdmissionFacts,
): UpgradeAdmission {
  const { attemptId } = attempt;
  const known = earlier(ledger, facts.deviceId, attemptId);
  if (known !== undefined) {
    if (known.attemptDigest === digest) return { kind: "answer", status: known };
    return refused(
      "E_UUID_REUSED",
      `attempt ${attemptId} was accepted before with other content`,
      "policy",
      "attemptId",
    );
  }
  if (attempt.deviceId !== facts.deviceId) {
    const message = `the attempt is for device ${attempt.deviceId}, this is ${facts.deviceId}`;
    return refused("E_WRONG_DEVICE", message, "policy", "deviceId");
  }
  if (facts.incapable !== undefined) return refused("E_UNSUPPORTED_OPERATION", facts.incapable, "policy", "operation");
  return admitInTime(ledger, attempt, facts) ?? admitNow(ledger, facts);
}

/** The checks of its times: by a clock that can be believed only. */
function admitInTime(
  ledger: Ledger,
  { createdAt, expiresAt }: SystemUpgradeAttempt,
  facts: UpgradeAdmissionFacts,
): UpgradeAdmission | undefined {
  const createdAtMs = Date.parse(createdAt);
  const expiresAtMs = Date.parse(expiresAt);
  // An entry is kept until its attempt has expired: one that never does would be kept for ever.
  if (expiresAtMs - createdAtMs > TASK_DEADLINE_MAX_S * 1_000) {
    const message = `expiresAt is more than ${TASK_DEADLINE_MAX_S} s after createdAt`;
    return refused("E_REQUEST_INVALID", message, "policy", "expiresAt");
  }
  const clock = { nowMs: facts.nowMs, ledgerClockMs: ledger.clockMs, createdAtMs };
  const problem = clockProblem(clock);
  if (problem !== undefined) return refused("E_CLOCK_INSANE", problem, "environment");
  if (hasExpired(expiresAtMs, clock)) {
    return refused("E_EXPIRED", `the attempt expired at ${expiresAt}`, "policy", "expiresAt");
  }
  // It is the broker's clock that said so: the device's own may have been ahead of it at the repair.
  if (createdAtMs <= ledger.lostUntilMs + CLOCK_SKEW_MAX_MS && ledger.lostUntilMs > 0) {
    const at = new Date(ledger.lostUntilMs).toISOString();
    return refused("E_LEDGER_LOST", `the ledger was lost at ${at}: whether this attempt ran before is not known`);
  }
  return undefined;
}

/** The checks that pass with time or by a hand on the device. */
function admitNow(ledger: Ledger, facts: UpgradeAdmissionFacts): UpgradeAdmission {
  const wait = (code: UpdaterErrorCode, message: string) => refused(code, message, "environment");
  if (facts.stopping) return wait("E_STOPPING", "the updater is stopping");
  if (facts.quarantined) {
    return wait("E_QUARANTINED", "the device needs `fleet-updater repair` by root before another attempt");
  }
  if (facts.agentUpgradeActive) return wait("E_BUSY", "an agent upgrade is under way");
  if (isUpgrading(ledger)) return wait("E_BUSY", "another system upgrade is under way");
  if (!facts.reserveComplete) {
    return wait("E_NO_RESERVE", "the ledger's reserve is not complete: free space below the state directory");
  }
  const kept = unexpired(ledger.entries, Math.max(ledger.clockMs, facts.nowMs)).length;
  if (kept >= LEDGER_ENTRIES_MAX) {
    return wait("E_LEDGER_FULL", `${kept} attempts have not expired yet, at most ${LEDGER_ENTRIES_MAX} are remembered`);
  }
  return { kind: "admit" };
}
