/**
 * What the runner of system upgrades is told to do, as data. Every effect may be done again after a restart of the updater:
 * the two that change packages find what they had begun.
 *
 * @module
 */

/** What the runner is told to do. */
export type UpgradeEffect =
  /** Clock, free space, writable file systems, dpkg's state. */
  | { readonly kind: "CheckHost" }
  /** `dpkg --configure -a`, for what an earlier run left. */
  | { readonly kind: "ConfigurePending"; readonly attemptId: string }
  | { readonly kind: "RefreshIndex" }
  | { readonly kind: "SimulateUpgrade" }
  | { readonly kind: "DownloadPackages" }
  | { readonly kind: "UpgradePackages"; readonly attemptId: string; readonly mayRemove: boolean }
  | { readonly kind: "AuditPackages" }
  | { readonly kind: "Reboot" };

/** Kinds of effects. */
export type UpgradeEffectKind = UpgradeEffect["kind"];
