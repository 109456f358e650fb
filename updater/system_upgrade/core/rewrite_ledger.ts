/**
 * How a ledger is rewritten when its run begins, moves or ends: phases, times, bounds and entries in one place.
 *
 * @module
 */
import { bounded } from "../../../contracts/formats.ts";
import { LEDGER_ENTRIES_MAX, TRANSITIONS_MAX } from "../../../contracts/limits.ts";
import {
  isTerminalSystemPhase,
  type SystemUpgradePhase,
  type SystemUpgradeReason,
} from "../../../contracts/system_upgrade.ts";
import type { Ledger, LedgerEntry, LedgerRun, LedgerStep, UpgradeFinding } from "./ledger.ts";
import type { UpgradeEvent } from "./upgrade_event.ts";

function iso(atMs: number): string {
  return new Date(atMs).toISOString();
}

/**
 * Entries that are still needed at a time: one goes only after its attempt has expired by a clock that never runs back.
 *
 * @param entries The entries
 * @param clockMs That clock, in ms since the epoch
 */
export function unexpired(entries: readonly LedgerEntry[], clockMs: number): LedgerEntry[] {
  return entries.filter(({ expiresAt }) => Date.parse(expiresAt) > clockMs);
}

/**
 * Begins a run: from here on the attempt never begins again.
 *
 * @param ledger The ledger of a device at rest
 * @param event The admitted attempt
 */
export function beginRun(ledger: Ledger, event: Extract<UpgradeEvent, { kind: "AttemptAccepted" }>): Ledger {
  const at = iso(event.atMs);
  const clockMs = Math.max(ledger.clockMs, event.atMs);
  const run: LedgerRun = {
    attempt: event.attempt,
    digest: event.digest,
    phase: "checking",
    step: "none",
    bootId: event.bootId,
    startedAt: at,
    updatedAt: at,
    // One write for both: what is accepted is looked at at once.
    transitions: [{ phase: "accepted", at }, { phase: "checking", at }],
    touched: false,
    mayRemove: false,
    summary: { kernelBefore: event.kernel, bootIdBefore: event.bootId },
  };
  return { ...ledger, clockMs, run, entries: unexpired(ledger.entries, clockMs) };
}

/** Where a run moves. */
export interface RunMove {
  readonly phase: SystemUpgradePhase;
  /** Default `none` */
  readonly step?: LedgerStep;
  /** Reason of a success. */
  readonly reason?: SystemUpgradeReason;
  readonly finding?: UpgradeFinding;
}

/**
 * Moves a run to a phase, with its transition, and remembers the outcome of a terminal one.
 *
 * @param ledger The ledger
 * @param now The run as it stands, with what the event added to it
 * @param atMs Time of the event
 * @param move Where to
 */
export function moveRun(ledger: Ledger, now: LedgerRun, atMs: number, move: RunMove): Ledger {
  const at = iso(atMs);
  const { phase, step = "none", reason, finding } = move;
  const { detail: _over, ...kept } = now;
  const code = finding?.reason ?? reason;
  const moved: LedgerRun = {
    ...kept,
    phase,
    step,
    updatedAt: at,
    transitions: phase === now.phase
      ? now.transitions
      : [...now.transitions, { phase, at, ...(code === undefined ? {} : { code }) }].slice(-TRANSITIONS_MAX),
    ...(reason === undefined ? {} : { reason }),
    ...(finding === undefined ? {} : { finding: { ...finding, error: bounded(finding.error) } }),
  };
  const { rebootOwedBootId: _owed, ...rest } = ledger;
  // Whatever becomes of it, the system now running is not the one that its packages are made for.
  const owed = moved.touched && phase !== "succeeded" ? now.bootId : ledger.rebootOwedBootId;
  return {
    ...rest,
    run: moved,
    entries: isTerminalSystemPhase(phase) ? remember(ledger.entries, moved, at) : ledger.entries,
    ...(owed === undefined ? {} : { rebootOwedBootId: owed }),
  };
}

function remember(
  entries: readonly LedgerEntry[],
  { attempt, digest, phase, ...run }: LedgerRun,
  at: string,
): LedgerEntry[] {
  const { attemptId, expiresAt } = attempt;
  const outcome: LedgerEntry = {
    attemptId,
    attemptDigest: digest,
    phase,
    reason: run.finding?.reason ?? run.reason ?? "Internal",
    startedAt: run.startedAt,
    at,
    expiresAt,
  };
  // Admission leaves room for it.
  return [...entries.filter((one) => one.attemptId !== attemptId), outcome].slice(-LEDGER_ENTRIES_MAX);
}
