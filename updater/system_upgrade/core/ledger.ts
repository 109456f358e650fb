/**
 * What the ledger holds: the system upgrade that runs or ran last, and every attempt that has not expired yet. It is what
 * decides "at most once" (DESIGN 5, System upgrades); nothing is inferred from dpkg's state.
 *
 * @module
 */
import {
  type Decoded,
  decodeError,
  type Decoder,
  flag,
  integer,
  list,
  nullable,
  object,
  oneOf,
  optional,
} from "../../../contracts/codec.ts";
import { FAILURE_CLASSES, type FailureClass } from "../../../contracts/errors.ts";
import { detail, instant, reason, sha256Hex, shortText, uuid } from "../../../contracts/formats.ts";
import { LEDGER_ENTRIES_MAX, TRANSITIONS_MAX } from "../../../contracts/limits.ts";
import {
  type CommandReport,
  commandReport,
  isTerminalSystemPhase,
  SYSTEM_UPGRADE_PHASES,
  SYSTEM_UPGRADE_REASONS,
  type SystemUpgradeAttempt,
  systemUpgradeAttempt,
  type SystemUpgradePhase,
  type SystemUpgradeReason,
  type SystemUpgradeSummary,
  systemUpgradeSummary,
  type SystemUpgradeTransition,
  systemUpgradeTransition,
} from "../../../contracts/system_upgrade.ts";
import { UPDATER_FAILURES, type UpdaterFailure } from "./failure_class.ts";

/** Version of the ledger's body. A reader refuses a newer one. */
export const LEDGER_SCHEMA = 1;

/**
 * Where a phase stands. `configuring` belongs to `checking`: what an earlier run left unpacked is configured.
 * `auditing` belongs to `upgrading`.
 */
export const LEDGER_STEPS = ["none", "configuring", "auditing"] as const;
/** One of {@link LEDGER_STEPS}. */
export type LedgerStep = (typeof LEDGER_STEPS)[number];

/** Why an upgrade failed. */
export interface UpgradeFinding {
  readonly reason: SystemUpgradeReason;
  readonly failureClass: FailureClass;
  readonly error: string;
  readonly failedCommand?: CommandReport;
}

/**
 * A finding.
 *
 * @param reason Its reason, which says its class
 * @param error One clear line
 * @param failedCommand The command that failed, if one did
 */
export function upgradeFinding(reason: UpdaterFailure, error: string, failedCommand?: CommandReport): UpgradeFinding {
  const failureClass = UPDATER_FAILURES[reason];
  return { reason, failureClass, error, ...(failedCommand === undefined ? {} : { failedCommand }) };
}

/** The upgrade that is under way, or the last one. */
export interface LedgerRun {
  readonly attempt: SystemUpgradeAttempt;
  /** SHA-256 over the canonical JSON of the attempt as it came. */
  readonly digest: string;
  readonly phase: SystemUpgradePhase;
  readonly step: LedgerStep;
  /** Boot in which the attempt was accepted; another one before the record of its upgrade means `Interrupted`. */
  readonly bootId: string;
  readonly startedAt: string;
  readonly updatedAt: string;
  readonly transitions: readonly SystemUpgradeTransition[];
  /** Whether packages may have been changed by it. */
  readonly touched: boolean;
  /** Whether the upgrade may remove packages: only when the checked simulation did. */
  readonly mayRemove: boolean;
  readonly summary: SystemUpgradeSummary;
  /** Reason of a success. */
  readonly reason?: SystemUpgradeReason;
  readonly finding?: UpgradeFinding;
  readonly detail?: string;
}

/** An attempt that has ended: it never runs again. */
export interface LedgerEntry {
  readonly attemptId: string;
  readonly attemptDigest: string;
  readonly phase: SystemUpgradePhase;
  readonly reason: string;
  readonly startedAt: string;
  readonly at: string;
  readonly expiresAt: string;
}

/** What the ledger holds. */
export interface Ledger {
  /** The latest time at which an attempt was accepted, in ms since the epoch: it never runs back. */
  readonly clockMs: number;
  /** Attempts made until then are refused: a repair has lost what was known of them. In ms since the epoch. */
  readonly lostUntilMs: number;
  /** Boot in which packages were changed and that has not ended since: a reboot is due. */
  readonly rebootOwedBootId?: string;
  readonly run: LedgerRun | null;
  /** Oldest first; the run that ended last is among them. */
  readonly entries: readonly LedgerEntry[];
}

/** The ledger of a device that has never upgraded: what a missing file means. */
export const EMPTY_LEDGER: Ledger = { clockMs: 0, lostUntilMs: 0, run: null, entries: [] };

const finding = object({
  reason: oneOf(SYSTEM_UPGRADE_REASONS),
  failureClass: oneOf(FAILURE_CLASSES),
  error: detail,
  failedCommand: optional(commandReport),
});

const run = object({
  attempt: systemUpgradeAttempt,
  digest: sha256Hex,
  phase: oneOf(SYSTEM_UPGRADE_PHASES),
  step: oneOf(LEDGER_STEPS),
  bootId: shortText,
  startedAt: instant,
  updatedAt: instant,
  transitions: list(systemUpgradeTransition, TRANSITIONS_MAX),
  touched: flag,
  mayRemove: flag,
  summary: systemUpgradeSummary,
  reason: optional(oneOf(SYSTEM_UPGRADE_REASONS)),
  finding: optional(finding),
  detail: optional(detail),
});

const entry = object({
  attemptId: uuid,
  attemptDigest: sha256Hex,
  phase: oneOf(SYSTEM_UPGRADE_PHASES),
  reason,
  startedAt: instant,
  at: instant,
  expiresAt: instant,
});

const shape = object({
  clockMs: integer(0),
  lostUntilMs: integer(0),
  rebootOwedBootId: optional(shortText),
  run: nullable(run),
  entries: list(entry, LEDGER_ENTRIES_MAX),
});

const STEP_PHASES: Readonly<Record<Exclude<LedgerStep, "none">, SystemUpgradePhase>> = {
  configuring: "checking",
  auditing: "upgrading",
};

/**
 * Decodes a ledger and checks what ties its fields together.
 *
 * @param value The body
 * @param path Where it stands
 * @throws {FleetError} `E_DECODE`
 */
export const ledgerDecoder: Decoder<Ledger> = (value, path) => {
  const ledger: Decoded<typeof shape> = shape(value, path);
  const now = ledger.run;
  if (now === null) return ledger;
  if (now.step !== "none" && STEP_PHASES[now.step] !== now.phase) {
    throw decodeError("run.step", `is ${now.step}, which ${now.phase} does not have`);
  }
  const outcome = ledger.entries.some(({ attemptId }) => attemptId === now.attempt.attemptId);
  // An entry of a finished run may have gone with its time; one of a run that goes on cannot be there.
  if (outcome && !isTerminalSystemPhase(now.phase)) {
    throw decodeError("entries", "hold the outcome of the attempt that is still under way");
  }
  return ledger;
};

/**
 * Whether a system upgrade has still work to do.
 *
 * @param ledger The ledger
 */
export function isUpgrading({ run }: Ledger): boolean {
  return run !== null && !isTerminalSystemPhase(run.phase);
}
