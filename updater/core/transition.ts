/**
 * The state machine of an upgrade: a pure and total function from a record and an event to the next record and the
 * effects to run. The interpreter persists the record, then runs the effects.
 *
 * The table is rendered, with {@link recover}, to `tests/golden/updater_transitions.txt`. An event that does not fit
 * the record changes nothing: it can only be the late result of an effect that no longer matters.
 *
 * @module
 */
import { bounded } from "../../contracts/formats.ts";
import type { DurablePhase } from "../../contracts/updater_protocol.ts";
import type { Effect } from "./effect.ts";
import type { EventKind, UpdaterEvent } from "./event.ts";
import { begin, moveTo, note } from "./rewrite.ts";
import type { Finding, Transaction, UpdaterRecord } from "./record.ts";

/** The next record, and what to do once it is durable. */
export interface Outcome {
  readonly record: UpdaterRecord;
  readonly effects: readonly Effect[];
}

type Of<K extends EventKind> = Extract<UpdaterEvent, { kind: K }>;
/** One row per event that a phase answers; a missing row means that the event is ignored. */
type Rows = { readonly [K in EventKind]?: (record: UpdaterRecord, now: Transaction, event: Of<K>) => Outcome };

function outcome(record: UpdaterRecord, ...effects: Effect[]): Outcome {
  return { record, effects };
}

const STOP: Effect = { kind: "StopService" };
const WAIT: Effect = { kind: "Wait" };
const START_PREVIOUS: Effect = { kind: "StartService", role: "previous" };
const START_CANDIDATE: Effect = { kind: "StartService", role: "candidate" };

function select(path: string): Effect {
  return { kind: "SelectBinary", path };
}

const PREPARING: Rows = {
  CandidatePrepared: (record, { attempt, targetPath }) =>
    outcome(record, { kind: "ProbeCandidate", targetPath, targetVersion: attempt.targetVersion }),
  PreparationFailed: (record, now, { atMs, finding }) =>
    outcome(moveTo(record, now, atMs, { phase: "failed", finding })),
  ProbeFailed: (record, now, { atMs, finding }) => outcome(moveTo(record, now, atMs, { phase: "failed", finding })),
  ProbePassed: (record, now, { atMs }) =>
    outcome(moveTo(record, now, atMs, { phase: "activating", step: "stopping" }), STOP),
  // The rows below belong to recovery: the link is put back before `failed` is recorded (seed, Recovery).
  PreviousRestored: (record, now, { atMs }) =>
    outcome(moveTo(record, now, atMs, { phase: "failed", step: "restart", finding: INTERRUPTED }), START_PREVIOUS),
  RestoreFailed: (record, now, { atMs, error }) => outcome(quarantine(record, now, atMs, error, INTERRUPTED)),
};

const STOPPING: Rows = {
  ServiceStopped: (record, now, { atMs }) =>
    outcome(moveTo(record, now, atMs, { phase: "activating", step: "starting" }), select(now.targetPath)),
  // A process that outlives the bound may still mutate workloads: the candidate must not be started beside it.
  StopFailed: (record, now, { atMs, error }) => rollBack(record, now, atMs, finding("StopTimedOut", error)),
  JobInconclusive: (record, now, event) => retry(record, now, event),
  RetryDue: (record) => outcome(record, STOP),
};

const STARTING: Rows = {
  BinarySelected: (record) => outcome(record, START_CANDIDATE),
  SelectionFailed: (record, now, { atMs, error }) => rollBack(record, now, atMs, finding("SwitchFailed", error)),
  ServiceStarted: (record, now, { atMs, invocationId }) =>
    outcome(moveTo(record, withInvocation(now, invocationId), atMs, { phase: "committed" })),
  StartFailed: (record, now, event) => rollBack(record, now, event.atMs, event.finding),
  JobInconclusive: (record, now, event) => retry(record, now, event),
  // The whole switch again: a job that was lost leaves unknown which binary the link selects.
  RetryDue: (record, now) => outcome(record, select(now.targetPath)),
};

const ROLLING_BACK: Rows = {
  PreviousRestored: (record) => outcome(record, STOP),
  RestoreFailed: (record, now, { atMs, error }) => outcome(quarantine(record, now, atMs, error)),
  ServiceStopped: (record, now) => outcome(record, select(now.previousPath)),
  // Never two agents: without a finished stop there is no start.
  StopFailed: (record, now, event) => retry(record, now, event),
  BinarySelected: (record) => outcome(record, START_PREVIOUS),
  SelectionFailed: (record, now, { atMs, error }) => outcome(quarantine(record, now, atMs, error)),
  ServiceStarted: (record, now, { atMs, invocationId }) =>
    outcome(moveTo(record, withInvocation(now, invocationId), atMs, { phase: "failed" })),
  StartFailed: (record, now, event) => previousFailed(record, now, event),
  JobInconclusive: (record, now, event) => retry(record, now, event),
  RetryDue: (record) => outcome(record, STOP),
};

/** `failed`, while the previous service has still to be started. */
const RESTARTING: Rows = {
  ServiceStarted: (record, now, { atMs, invocationId }) =>
    outcome(moveTo(record, withInvocation(now, invocationId), atMs, { phase: "failed" })),
  StartFailed: (record, now, event) => previousFailed(record, now, event),
  JobInconclusive: (record, now, event) => retry(record, now, event),
  RetryDue: (record) => outcome(record, STOP),
  ServiceStopped: (record) => outcome(record, START_PREVIOUS),
  StopFailed: (record, now, event) => retry(record, now, event),
};

const AT_REST: Rows = {};

/** Only root's repair moves a quarantined device, and only READY of the chosen binary lifts the quarantine. */
const ROLLBACK_FAILED: Rows = {
  RepairRequested: (record, now, { atMs, path }) =>
    outcome(note({ ...record, transaction: { ...now, previousPath: path } }, atMs), STOP),
  ServiceStopped: (record, now) => outcome(record, select(now.previousPath)),
  StopFailed: (record, _now, { atMs, error }) => outcome(note(record, atMs, error)),
  BinarySelected: (record) => outcome(record, START_PREVIOUS),
  SelectionFailed: (record, _now, { atMs, error }) => outcome(note(record, atMs, error)),
  ServiceStarted: (record, now, { atMs, invocationId }) =>
    outcome(moveTo(record, withInvocation(now, invocationId), atMs, { phase: "failed" })),
  StartFailed: (record, _now, { atMs, finding }) => outcome(note(record, atMs, finding.error)),
  JobInconclusive: (record, _now, { atMs, error }) => outcome(note(record, atMs, error)),
};

function rowsOf({ phase, step }: Transaction): Rows {
  const table: { readonly [P in DurablePhase]: Rows } = {
    "preparing": PREPARING,
    "activating": step === "stopping" ? STOPPING : STARTING,
    "committed": AT_REST,
    "rolling-back": ROLLING_BACK,
    "failed": step === "restart" ? RESTARTING : AT_REST,
    "rollback-failed": ROLLBACK_FAILED,
  };
  return table[phase];
}

/** What an interrupted preparation is recorded as (seed: it is `failed`, and not resumed in place). */
const INTERRUPTED: Finding = {
  reason: "Interrupted",
  failureClass: "environment",
  error: "the updater stopped during the preparation",
};

function finding(reason: string, error: string): Finding {
  return { reason, failureClass: "environment", error };
}

function withInvocation(now: Transaction, invocationId: string | undefined): Transaction {
  return invocationId === undefined ? now : { ...now, invocationId };
}

function rollBack(record: UpdaterRecord, now: Transaction, atMs: number, why: Finding): Outcome {
  return outcome(moveTo(record, now, atMs, { phase: "rolling-back", finding: why }), STOP);
}

function quarantine(
  record: UpdaterRecord,
  now: Transaction,
  atMs: number,
  error: string,
  why?: Finding,
): UpdaterRecord {
  return moveTo(record, now, atMs, {
    phase: "rollback-failed",
    detail: error,
    ...(why === undefined ? {} : { finding: why }),
  });
}

/** An outage is never a bad binary: the phase stays, and stop and start are repeated until it can be known. */
function retry(record: UpdaterRecord, now: Transaction, { error }: { readonly error: string }): Outcome {
  // Written once per message, so that an outage of days does not wear the disk.
  const detail = bounded(error);
  return outcome(now.detail === detail ? record : { ...record, transaction: { ...now, detail } }, WAIT);
}

function previousFailed(record: UpdaterRecord, now: Transaction, event: Of<"StartFailed">): Outcome {
  const { failureClass, error } = event.finding;
  if (failureClass === "environment") return retry(record, now, { error });
  return outcome(quarantine(record, now, event.atMs, error));
}

/**
 * The next record and the effects of an event. Pure and total.
 *
 * @param record The durable record
 * @param event What happened
 */
export function transition(record: UpdaterRecord, event: UpdaterEvent): Outcome {
  const { transaction } = record;
  if (event.kind === "AttemptAccepted") {
    // Admission has refused what must not begin; this is the last guard.
    if (transaction !== null && rowsOf(transaction) !== AT_REST) return outcome(record);
    const next = begin(record, event);
    return event.alreadySelected
      ? outcome(next)
      : outcome(next, { kind: "PrepareCandidate", attempt: event.attempt, targetPath: event.targetPath });
  }
  if (transaction === null) return outcome(record);
  const row = rowsOf(transaction)[event.kind] as
    | ((record: UpdaterRecord, now: Transaction, event: UpdaterEvent) => Outcome)
    | undefined;
  return row === undefined ? outcome(record) : row(record, transaction, event);
}
