/**
 * What may happen to a system upgrade, in the past tense; every event carries the time at which it was seen.
 *
 * @module
 */
import type { PackageGroup, SystemUpgradeAttempt } from "../../../contracts/system_upgrade.ts";
import type { UpgradeFinding } from "./ledger.ts";

/** What may happen, without its time. */
export type UpgradeEventBody =
  /** An admitted attempt begins. */
  | {
    readonly kind: "AttemptAccepted";
    readonly attempt: SystemUpgradeAttempt;
    readonly digest: string;
    readonly bootId: string;
    readonly kernel: string;
  }
  /** The host is fit for an upgrade. `pending`: packages wait for their configuration. */
  | { readonly kind: "HostChecked"; readonly pending: boolean }
  | { readonly kind: "PendingConfigured" }
  | { readonly kind: "IndexRefreshed" }
  /** What the upgrade would do; nothing protected goes. */
  | {
    readonly kind: "UpgradeSimulated";
    readonly upgraded: PackageGroup;
    readonly installed: PackageGroup;
    readonly removed: PackageGroup;
    readonly kept: PackageGroup;
    readonly downloadBytes: number;
    /** Whether the system asks for a reboot, whatever this upgrade does. */
    readonly rebootDue: boolean;
  }
  | { readonly kind: "PackagesDownloaded" }
  | { readonly kind: "PackagesUpgraded" }
  /** No package is left half done. */
  | { readonly kind: "PackagesAudited" }
  /** An effect did not do what it should. */
  | { readonly kind: "StepFailed"; readonly finding: UpgradeFinding };

/** What happened, and when, in ms since the epoch. */
export type UpgradeEvent = UpgradeEventBody & { readonly atMs: number };

/** Kinds of events. */
export type UpgradeEventKind = UpgradeEventBody["kind"];
