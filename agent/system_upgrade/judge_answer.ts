/**
 * What the updater's answer to a forwarded system attempt means.
 *
 * @module
 */
import type { SystemUpgradeReason, SystemUpgradeStatus } from "../../contracts/system_upgrade.ts";
import type { UpdaterErrorCode, UpdaterResponse } from "../../contracts/updater_protocol.ts";
import type { DeferReason } from "../core/decide_intent.ts";
import type { SystemRejection } from "./system_status.ts";

/** What an answer means. */
export type SystemAnswer =
  /** The ledger has it: this is how it stands. */
  | { readonly kind: "status"; readonly status: SystemUpgradeStatus }
  /** It will never run. */
  | { readonly kind: "rejected"; readonly rejection: SystemRejection }
  /** It may run later. */
  | { readonly kind: "deferred"; readonly reason: DeferReason; readonly detail: string };

const FINAL: Readonly<Partial<Record<UpdaterErrorCode, SystemUpgradeReason>>> = {
  E_UUID_REUSED: "AttemptReused",
  E_WRONG_DEVICE: "WrongDevice",
  E_UNSUPPORTED_OPERATION: "UnsupportedOperation",
  E_EXPIRED: "Expired",
  E_LEDGER_LOST: "LedgerLost",
  E_REQUEST_INVALID: "InvalidAttempt",
  E_REQUEST_TOO_LARGE: "InvalidAttempt",
};

const PASSING: Readonly<Partial<Record<UpdaterErrorCode, DeferReason>>> = {
  E_BUSY: "UpdaterBusy",
  E_QUARANTINED: "UpdaterQuarantined",
  E_CLOCK_INSANE: "ClockInsane",
  E_NO_RESERVE: "DiskLow",
};

/**
 * What an answer means for the attempt that was sent.
 *
 * @param runId The run that was sent
 * @param response The answer
 */
export function judgeSystemAnswer(runId: string, response: UpdaterResponse): SystemAnswer {
  if (response.ok) {
    const { systemUpgrade } = response;
    if (systemUpgrade?.attemptId === runId) return { kind: "status", status: systemUpgrade };
    return { kind: "deferred", reason: "UpdaterRefused", detail: "the updater answered for another attempt" };
  }
  const { code, message, failureClass, retryable } = response.error;
  if (retryable) return { kind: "deferred", reason: PASSING[code] ?? "UpdaterRefused", detail: message };
  return { kind: "rejected", rejection: { reason: FINAL[code] ?? "UpdaterRefused", failureClass, error: message } };
}
