/**
 * One ledger for every state that a system upgrade has, and one event of every kind, for tests and tables.
 *
 * @module
 */
import { canonicalDigest } from "../../contracts/digest.ts";
import { APT_FULL_UPGRADE_V1, type SystemUpgradeAttempt } from "../../contracts/system_upgrade.ts";
import {
  EMPTY_LEDGER,
  type Ledger,
  type LedgerRun,
  type UpgradeFinding,
} from "../../updater/system_upgrade/core/ledger.ts";
import { beginRun, moveRun, type RunMove } from "../../updater/system_upgrade/core/rewrite_ledger.ts";
import type { UpgradeEventBody } from "../../updater/system_upgrade/core/upgrade_event.ts";

/** Time at which the sample attempt is accepted, in ms since the epoch. */
export const LEDGER_START_MS = Date.parse("2026-06-01T12:00:00.000Z");
/** The boot in which it is accepted. */
export const FIRST_BOOT = { bootId: "b".repeat(32), kernel: "6.1.0-28" } as const;
/** A later boot. */
export const NEXT_BOOT = { bootId: "c".repeat(32), kernel: "6.1.0-30" } as const;

/**
 * An attempt that is a minute old and has six hours.
 *
 * @param overrides Members that differ; `runId` follows `attemptId`
 */
export function sampleSystemAttempt(overrides: Partial<SystemUpgradeAttempt> = {}): SystemUpgradeAttempt {
  const { attemptId = "7a9c3d1e-6f5a-4b7c-8d9e-0a1b2c3d4e5f" } = overrides;
  return {
    schema: 1,
    attemptId,
    runId: attemptId,
    deviceId: "device-1",
    operation: APT_FULL_UPGRADE_V1,
    createdAt: new Date(LEDGER_START_MS - 60_000).toISOString(),
    expiresAt: new Date(LEDGER_START_MS + 6 * 3_600_000).toISOString(),
    ...overrides,
  };
}

/**
 * The UUID of a number.
 *
 * @param index The number
 */
export function runUid(index: number): string {
  return `7b9c3d1e-6f5a-4b7c-8d9e-${index.toString(16).padStart(12, "0")}`;
}

/**
 * The event that accepts an attempt.
 *
 * @param attempt The attempt. Default the sample
 */
export function accepted(attempt = sampleSystemAttempt()): Extract<UpgradeEventBody, { kind: "AttemptAccepted" }> {
  return { kind: "AttemptAccepted", attempt, digest: canonicalDigest(attempt), ...FIRST_BOOT };
}

const NONE = { count: 0, names: [] };

/** What a simulation found. */
export const SIMULATED: Extract<UpgradeEventBody, { kind: "UpgradeSimulated" }> = {
  kind: "UpgradeSimulated",
  upgraded: { count: 2, names: ["lab-app", "libc6"] },
  installed: NONE,
  removed: NONE,
  kept: { count: 1, names: ["lab-held"] },
  downloadBytes: 4_096,
  rebootDue: false,
};

/** A finding. */
export const APT_FINDING: UpgradeFinding = {
  reason: "UpgradeFailed",
  failureClass: "policy",
  error: "E: Sub-process /usr/bin/dpkg returned an error code (1)",
  failedCommand: { command: "apt-get full-upgrade", exitCode: 100, lastLines: ["dpkg: error"] },
};

/** One event of every kind, with the variants that lead elsewhere. */
export const LEDGER_EVENTS: Readonly<Record<string, UpgradeEventBody>> = {
  "AttemptAccepted (the same)": accepted(),
  "AttemptAccepted (another)": accepted(sampleSystemAttempt({ attemptId: runUid(1) })),
  "HostChecked": { kind: "HostChecked", pending: false },
  "HostChecked (pending packages)": { kind: "HostChecked", pending: true },
  "PendingConfigured": { kind: "PendingConfigured" },
  "IndexRefreshed": { kind: "IndexRefreshed" },
  "UpgradeSimulated": SIMULATED,
  "UpgradeSimulated (removals)": { ...SIMULATED, removed: { count: 1, names: ["lab-old"] } },
  "UpgradeSimulated (nothing)": { ...SIMULATED, upgraded: NONE },
  "UpgradeSimulated (nothing, reboot due)": { ...SIMULATED, upgraded: NONE, rebootDue: true },
  "PackagesDownloaded": { kind: "PackagesDownloaded" },
  "PackagesUpgraded": { kind: "PackagesUpgraded" },
  "PackagesAudited": { kind: "PackagesAudited" },
  "StepFailed": { kind: "StepFailed", finding: APT_FINDING },
};

const BEGUN = beginRun(EMPTY_LEDGER, { ...accepted(), atMs: LEDGER_START_MS });

function at(move: RunMove, more: Partial<LedgerRun> = {}): Ledger {
  if (BEGUN.run === null) throw new RangeError("the sample has no run");
  return moveRun(BEGUN, { ...BEGUN.run, ...more }, LEDGER_START_MS + 1_000, move);
}

const SUMMARY = { ...BEGUN.run?.summary, upgraded: SIMULATED.upgraded };

/** One ledger for every state. */
export const SAMPLE_LEDGERS: Readonly<Record<string, Ledger>> = {
  "no upgrade yet": EMPTY_LEDGER,
  "checking": BEGUN,
  "checking (configuring)": at({ phase: "checking", step: "configuring" }, { touched: true }),
  "refreshing": at({ phase: "refreshing" }),
  "refreshing (after configuring)": at({ phase: "refreshing" }, { touched: true }),
  "simulating": at({ phase: "simulating" }),
  "simulating (after configuring)": at({ phase: "simulating" }, { touched: true }),
  "simulating (a reboot is owed)": { ...at({ phase: "simulating" }), rebootOwedBootId: FIRST_BOOT.bootId },
  "downloading": at({ phase: "downloading" }),
  "upgrading": at({ phase: "upgrading" }, { touched: true, summary: SUMMARY }),
  "upgrading (may remove)": at({ phase: "upgrading" }, { touched: true, mayRemove: true, summary: SUMMARY }),
  "upgrading (auditing)": at({ phase: "upgrading", step: "auditing" }, { touched: true, summary: SUMMARY }),
  "rebooting": at({ phase: "rebooting" }, { touched: true, summary: SUMMARY }),
  "rebooting (nothing upgraded)": at({ phase: "rebooting" }),
  "succeeded": at({ phase: "succeeded", reason: "NothingToDo" }),
  "failed": at({ phase: "failed", finding: APT_FINDING }, { touched: true }),
};
