/**
 * How each failure of a system upgrade is classified: who can change it (DESIGN 5, Verdicts). `docs/wire.md` has the same
 * table, and a test compares the two.
 *
 * @module
 */
import type { FailureClass } from "../../../contracts/errors.ts";
import type { SystemUpgradeReason } from "../../../contracts/system_upgrade.ts";

/** Reasons of failures that the updater itself finds. */
export const UPDATER_FAILURES = {
  ClockInsane: "environment",
  DiskFull: "environment",
  ReadOnlyFileSystem: "environment",
  LockTimeout: "environment",
  DpkgBroken: "environment",
  IndexRefreshFailed: "environment",
  SignatureInvalid: "policy",
  ReleaseNotYetValid: "environment",
  ReleaseExpired: "environment",
  ReleaseInfoChanged: "policy",
  SimulationFailed: "policy",
  ProtectedRemoval: "policy",
  DownloadFailed: "environment",
  HashMismatch: "policy",
  UpgradeFailed: "policy",
  UpgradeTimedOut: "policy",
  AuditFailed: "policy",
  RebootRefused: "environment",
  Interrupted: "environment",
  Internal: "internal",
} as const satisfies Partial<Record<SystemUpgradeReason, FailureClass>>;

/** A reason of a failure that the updater itself finds. */
export type UpdaterFailure = keyof typeof UPDATER_FAILURES;
