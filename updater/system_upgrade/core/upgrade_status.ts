/**
 * What the ledger shows of a system upgrade: its public status.
 *
 * @module
 */
import {
  APT_FULL_UPGRADE_V1,
  isTerminalSystemPhase,
  SYSTEM_UPGRADE_SCHEMA,
  type SystemUpgradeStatus,
} from "../../../contracts/system_upgrade.ts";
import type { LedgerEntry, LedgerRun } from "./ledger.ts";

/**
 * Name of the unit in which a run changes packages, and in whose journal the details stand.
 *
 * @param attemptId The run's UID: it is validated, since it enters a unit's name
 */
export function upgradeUnit(attemptId: string): string {
  return `fleet-system-upgrade-${attemptId}.service`;
}

/**
 * Name of the unit in which a run configures what an earlier one left.
 *
 * @param attemptId The run's UID
 */
export function configureUnit(attemptId: string): string {
  return `fleet-system-upgrade-configure-${attemptId}.service`;
}

/**
 * The public status of a run.
 *
 * @param run The run
 */
export function statusOfRun(run: LedgerRun): SystemUpgradeStatus {
  const { attempt, finding, phase } = run;
  const reason = finding?.reason ?? run.reason;
  return {
    schema: SYSTEM_UPGRADE_SCHEMA,
    attemptId: attempt.attemptId,
    runId: attempt.runId,
    deviceId: attempt.deviceId,
    attemptDigest: run.digest,
    operation: attempt.operation,
    phase,
    startedAt: run.startedAt,
    updatedAt: run.updatedAt,
    transitions: [...run.transitions],
    summary: run.summary,
    ...(run.touched ? { journalUnit: upgradeUnit(attempt.attemptId) } : {}),
    ...(reason === undefined ? {} : { reason }),
    ...(run.detail === undefined ? {} : { detail: run.detail }),
    ...(finding === undefined ? {} : { failureClass: finding.failureClass, error: finding.error }),
    ...(finding?.failedCommand === undefined ? {} : { failedCommand: finding.failedCommand }),
    ...(isTerminalSystemPhase(phase) ? { completedAt: run.updatedAt } : {}),
  };
}

/**
 * What is still known of an attempt that ended before the last one.
 *
 * @param entry What the ledger remembers
 * @param deviceId This device
 */
export function statusOfEntry(entry: LedgerEntry, deviceId: string): SystemUpgradeStatus {
  const { attemptId, attemptDigest, phase, reason, startedAt, at } = entry;
  return {
    schema: SYSTEM_UPGRADE_SCHEMA,
    attemptId,
    runId: attemptId,
    deviceId,
    attemptDigest,
    operation: APT_FULL_UPGRADE_V1,
    phase,
    reason,
    detail: "this attempt ended before the last one: its details are no longer kept",
    startedAt,
    updatedAt: at,
    completedAt: at,
    transitions: [{ phase, at, code: reason }],
  };
}
