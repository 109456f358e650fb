/**
 * How a record is rewritten when its transaction begins, moves or ends: phases, times, bounds and history in one place.
 *
 * @module
 */
import { bounded } from "../../contracts/formats.ts";
import { JOURNAL_HISTORY_MAX, TRANSITIONS_MAX } from "../../contracts/limits.ts";
import { isTerminalPhase } from "../../contracts/agent_upgrade.ts";
import type { AttemptOutcome, DurablePhase } from "../../contracts/updater_protocol.ts";
import type { UpdaterEvent } from "./event.ts";
import { type Finding, publicPhase, type Step, type Transaction, type UpdaterRecord } from "./record.ts";

function iso(atMs: number): string {
  return new Date(atMs).toISOString();
}

/**
 * Starts a transaction.
 *
 * @param record The record of a device at rest
 * @param event The admitted attempt
 */
export function begin(
  record: UpdaterRecord,
  event: Extract<UpdaterEvent, { kind: "AttemptAccepted" }>,
): UpdaterRecord {
  const at = iso(event.atMs);
  const started: Transaction = {
    attempt: event.attempt,
    digest: event.digest,
    phase: "preparing",
    step: "none",
    previousPath: event.previousPath,
    targetPath: event.targetPath,
    startedAt: at,
    updatedAt: at,
    transitions: [{ phase: "preparing", at }],
    ...(event.bootId === undefined ? {} : { bootId: event.bootId }),
  };
  const begun = { ...record, transaction: started };
  return event.alreadySelected ? moveTo(begun, started, event.atMs, { phase: "committed" }) : begun;
}

/** Where a transaction moves, and what is known of why. */
export interface Move {
  readonly phase: DurablePhase;
  readonly step?: Step;
  /** Why, if something failed; the first finding of a transaction stays. */
  readonly finding?: Finding;
  /** Why the rollback failed; what was waited for before is over with the move. */
  readonly detail?: string;
}

/**
 * Moves a transaction to a phase, with its public transition, and remembers the outcome of a terminal one.
 *
 * @param record The record
 * @param now The transaction as it stands, with what the event added to it
 * @param atMs Time of the event
 * @param move Where to
 */
export function moveTo(record: UpdaterRecord, now: Transaction, atMs: number, move: Move): UpdaterRecord {
  const at = iso(atMs);
  const { phase, step = "none", finding, detail } = move;
  const { detail: _over, ...kept } = now;
  const first = now.finding ?? boundedFinding(finding);
  const next = publicPhase({ phase, step });
  const moved: Transaction = {
    ...kept,
    phase,
    step,
    updatedAt: at,
    transitions: next === publicPhase(now)
      ? now.transitions
      : [...now.transitions, { phase: next, at, ...(finding === undefined ? {} : { code: finding.reason }) }]
        .slice(-TRANSITIONS_MAX),
    ...(first === undefined ? {} : { finding: first }),
    ...(detail === undefined ? {} : { detail: bounded(detail) }),
  };
  return { transaction: moved, history: isTerminalPhase(next) ? remember(record.history, moved, at) : record.history };
}

/**
 * Notes a time, and what a repair met, on a transaction that stays in its phase.
 *
 * @param record The record
 * @param atMs Time of the event
 * @param error What went wrong, if anything did
 */
export function note(record: UpdaterRecord, atMs: number, error?: string): UpdaterRecord {
  const { transaction } = record;
  if (transaction === null) return record;
  return {
    ...record,
    transaction: {
      ...transaction,
      updatedAt: iso(atMs),
      ...(error === undefined ? {} : { detail: bounded(error) }),
    },
  };
}

function boundedFinding(finding: Finding | undefined): Finding | undefined {
  return finding === undefined ? undefined : { ...finding, error: bounded(finding.error) };
}

/** One outcome per attempt: a repaired `rollback-failed` replaces what was remembered of it. */
function remember(
  history: readonly AttemptOutcome[],
  { attempt, digest, phase, step, finding }: Transaction,
  at: string,
): AttemptOutcome[] {
  const outcome: AttemptOutcome = {
    attemptId: attempt.attemptId,
    attemptDigest: digest,
    phase: publicPhase({ phase, step }),
    at,
    ...(finding === undefined ? {} : { reason: finding.reason }),
  };
  return [...history.filter(({ attemptId }) => attemptId !== attempt.attemptId), outcome].slice(-JOURNAL_HISTORY_MAX);
}
