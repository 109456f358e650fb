/**
 * What a system upgrade needs of the outside. The only adapters today are apt and systemd; both ports have fakes that
 * tests script.
 *
 * @module
 */
import type { UpgradeFinding } from "./core/ledger.ts";
import type { Space } from "./core/space_rule.ts";
import type { UpgradePlan } from "./parse_simulation.ts";

/** How a step ended. A finding has its reason from the adapter, which alone reads the words of foreign programs. */
export type StepResult<T = unknown> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly finding: UpgradeFinding };

/** The state of the packages, as far as an upgrade must know it. */
export interface PackageState {
  /** Packages that are not in a final state: an earlier run was interrupted. */
  readonly unfinished: readonly string[];
  /** Folders of the package system that cannot be written to. */
  readonly readOnly: readonly string[];
}

/** What an upgrade would do. */
export interface SimulatedUpgrade {
  readonly plan: UpgradePlan;
  /** Bytes of the archives that have still to be fetched. */
  readonly downloadBytes: number;
}

/** One attempt's change of packages. */
export interface PackageChange {
  /** UID of the run: it names the unit in which packages are changed. */
  readonly attemptId: string;
  /** Whether packages may be removed. */
  readonly mayRemove: boolean;
}

/**
 * The package system. Every step is bounded in time by itself and runs outside of the updater's own unit, so that
 * neither its sandbox nor its end is in the way.
 *
 * The first steps may be repeated at will. {@link configure} and {@link upgrade} change packages: each begins at most
 * once for an attempt and boot, goes on when the updater ends, leaves its result durably, and a call after a restart of
 * the updater waits for the one that was begun. A signal that aborts ends the wait and rejects; it never ends the change.
 */
export interface PackageManager {
  /** Looks; changes nothing. */
  look(signal: AbortSignal): Promise<StepResult<PackageState>>;
  /** Fetches the package index, all of it, or fails. Waits for the lock of whoever refreshes it now. */
  refresh(signal: AbortSignal): Promise<StepResult>;
  /** Says what {@link upgrade} would do. */
  simulate(signal: AbortSignal): Promise<StepResult<SimulatedUpgrade>>;
  /** Fetches the archives. What is there already is verified and kept. */
  download(signal: AbortSignal): Promise<StepResult>;
  /** Configures what an interrupted run left unpacked. */
  configure(attemptId: string, signal: AbortSignal): Promise<StepResult>;
  /** Upgrades every package. */
  upgrade(change: PackageChange, signal: AbortSignal): Promise<StepResult>;
  /** Removes fetched archives, and what changes of earlier attempts left for the updater. Best effort; never throws. */
  tidy(signal: AbortSignal): Promise<void>;
}

/** The machine. */
export interface UpgradeHost {
  /** Room on the file systems that an upgrade fills. */
  spaces(): Promise<readonly Space[]>;
  /** Whether the system asks for a reboot. */
  isRebootDue(): Promise<boolean>;
  /**
   * Reboots, and makes sure that the reboot is under way. Returns only when it is not: refused for longer than the
   * bound, or ordered and not done in time. Idempotent while a reboot is under way.
   */
  reboot(signal: AbortSignal): Promise<StepResult>;
}
