/**
 * The state machine of a system upgrade: a pure and total function from a ledger and an event to the next ledger and the
 * effects to run. The runner makes the ledger durable, then runs the effects (DESIGN 5, System upgrades).
 *
 * The table is rendered, with {@link recoverRun}, to `tests/golden/system_upgrade_transitions.txt`. An event that does not
 * fit the ledger changes nothing.
 *
 * @module
 */
import type { SystemUpgradePhase } from "../../../contracts/system_upgrade.ts";
import { isUpgrading, type Ledger, type LedgerRun } from "./ledger.ts";
import { beginRun, moveRun } from "./rewrite_ledger.ts";
import type { UpgradeEffect } from "./upgrade_effect.ts";
import type { UpgradeEvent, UpgradeEventKind } from "./upgrade_event.ts";

/** The next ledger, and what to do once it is durable. */
export interface UpgradeOutcome {
  readonly ledger: Ledger;
  readonly effects: readonly UpgradeEffect[];
}

type Of<K extends UpgradeEventKind> = Extract<UpgradeEvent, { kind: K }>;
/** One row per event that a phase answers; a missing row means that the event is ignored. */
type Rows = {
  readonly [K in UpgradeEventKind]?: (ledger: Ledger, now: LedgerRun, event: Of<K>) => UpgradeOutcome;
};

function outcome(ledger: Ledger, ...effects: UpgradeEffect[]): UpgradeOutcome {
  return { ledger, effects };
}

/** The effect with which a phase is worked on; repeating it is how a restarted updater goes on. */
export function effectOf({ attempt: { attemptId }, phase, step, mayRemove }: LedgerRun): UpgradeEffect | undefined {
  switch (phase) {
    case "accepted":
      return { kind: "CheckHost" };
    case "checking":
      return step === "configuring" ? { kind: "ConfigurePending", attemptId } : { kind: "CheckHost" };
    case "refreshing":
      return { kind: "RefreshIndex" };
    case "simulating":
      return { kind: "SimulateUpgrade" };
    case "downloading":
      return { kind: "DownloadPackages" };
    case "upgrading":
      return step === "auditing" ? { kind: "AuditPackages" } : { kind: "UpgradePackages", attemptId, mayRemove };
    case "rebooting":
      return { kind: "Reboot" };
    case "succeeded":
    case "failed":
      return undefined;
  }
}

/** Moves on and works on what comes next. */
function goOn(ledger: Ledger): UpgradeOutcome {
  const effect = ledger.run === null ? undefined : effectOf(ledger.run);
  return effect === undefined ? outcome(ledger) : outcome(ledger, effect);
}

const fail: Rows["StepFailed"] = (ledger, now, { atMs, finding }) =>
  outcome(moveRun(ledger, now, atMs, { phase: "failed", finding }));

const CHECKING: Rows = {
  HostChecked: (ledger, now, { atMs, pending }) =>
    goOn(
      pending
        // A package counts as touched from the moment on at which its scripts may run.
        ? moveRun(ledger, { ...now, touched: true }, atMs, { phase: "checking", step: "configuring" })
        : moveRun(ledger, now, atMs, { phase: "refreshing" }),
    ),
  StepFailed: fail,
};

const CONFIGURING: Rows = {
  PendingConfigured: (ledger, now, { atMs }) => goOn(moveRun(ledger, now, atMs, { phase: "refreshing" })),
  StepFailed: fail,
};

const REFRESHING: Rows = {
  IndexRefreshed: (ledger, now, { atMs }) => goOn(moveRun(ledger, now, atMs, { phase: "simulating" })),
  StepFailed: fail,
};

const SIMULATING: Rows = {
  UpgradeSimulated: (ledger, now, { atMs, upgraded, installed, removed, kept, downloadBytes, rebootDue }) => {
    const changes = upgraded.count + installed.count + removed.count > 0;
    const mayRemove = removed.count > 0;
    const summary = { ...now.summary, upgraded, installed, removed, kept, downloadedBytes: downloadBytes };
    const planned: LedgerRun = { ...now, mayRemove, summary };
    if (changes) return goOn(moveRun(ledger, planned, atMs, { phase: "downloading" }));
    // A reboot that is due: what this run configured, what an earlier one changed, or what the system itself asks for.
    const due = rebootDue || now.touched || ledger.rebootOwedBootId === now.bootId;
    return goOn(
      moveRun(ledger, planned, atMs, due ? { phase: "rebooting" } : { phase: "succeeded", reason: "NothingToDo" }),
    );
  },
  StepFailed: fail,
};

const DOWNLOADING: Rows = {
  PackagesDownloaded: (ledger, now, { atMs }) =>
    goOn(moveRun(ledger, { ...now, touched: true }, atMs, { phase: "upgrading" })),
  StepFailed: fail,
};

const UPGRADING: Rows = {
  PackagesUpgraded: (ledger, now, { atMs }) =>
    goOn(moveRun(ledger, now, atMs, { phase: "upgrading", step: "auditing" })),
  StepFailed: fail,
};

const AUDITING: Rows = {
  // This is the record without which no boot counts as a success.
  PackagesAudited: (ledger, now, { atMs }) => goOn(moveRun(ledger, now, atMs, { phase: "rebooting" })),
  StepFailed: fail,
};

const REBOOTING: Rows = { StepFailed: fail };

const AT_REST: Rows = {};

function rowsOf({ phase, step }: LedgerRun): Rows {
  const table: { readonly [P in SystemUpgradePhase]: Rows } = {
    accepted: CHECKING,
    checking: step === "configuring" ? CONFIGURING : CHECKING,
    refreshing: REFRESHING,
    simulating: SIMULATING,
    downloading: DOWNLOADING,
    upgrading: step === "auditing" ? AUDITING : UPGRADING,
    rebooting: REBOOTING,
    succeeded: AT_REST,
    failed: AT_REST,
  };
  return table[phase];
}

/**
 * The next ledger and the effects of an event. Pure and total.
 *
 * @param ledger The durable ledger
 * @param event What happened
 */
export function upgradeTransition(ledger: Ledger, event: UpgradeEvent): UpgradeOutcome {
  if (event.kind === "AttemptAccepted") {
    // Admission has refused what must not begin; this is the last guard.
    if (isUpgrading(ledger)) return outcome(ledger);
    const { attemptId } = event.attempt;
    if (ledger.run?.attempt.attemptId === attemptId) return outcome(ledger);
    if (ledger.entries.some((entry) => entry.attemptId === attemptId)) return outcome(ledger);
    return goOn(beginRun(ledger, event));
  }
  const { run } = ledger;
  if (run === null) return outcome(ledger);
  const row = rowsOf(run)[event.kind] as
    | ((ledger: Ledger, now: LedgerRun, event: UpgradeEvent) => UpgradeOutcome)
    | undefined;
  return row === undefined ? outcome(ledger) : row(ledger, run, event);
}
