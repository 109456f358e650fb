/**
 * What the updater shows of its record: the public status of a transaction, and the state that the socket answers with.
 *
 * @module
 */
import { AGENT_UPGRADE_SCHEMA, type AgentUpgradeStatus } from "../../contracts/agent_upgrade.ts";
import type { SystemUpgradeStatus } from "../../contracts/system_upgrade.ts";
import type { TransactionView, UpdaterState } from "../../contracts/updater_protocol.ts";
import { isActive, publicPhase, type Transaction, type UpdaterRecord } from "./record.ts";

/** What the record does not hold. */
export interface ProjectionFacts {
  readonly updaterVersion: string;
  readonly capabilities: readonly string[];
  /** The agent's unit in journald, where it has one. */
  readonly journalUnit?: string;
  /** Whether an attempt is being admitted right now. */
  readonly admitting: boolean;
  /** Whether a system upgrade is under way. Default no */
  readonly systemUpgradeActive?: boolean;
  /** The system upgrade that runs, or else the last one. */
  readonly systemUpgrade?: SystemUpgradeStatus;
  /** Why this device cannot upgrade its system until root repairs it. */
  readonly ledgerProblem?: string;
}

function present<K extends string, V>(key: K, value: V | undefined): { readonly [P in K]?: V } {
  return (value === undefined ? {} : { [key]: value }) as { readonly [P in K]?: V };
}

/**
 * The public status of a transaction.
 *
 * @param now The transaction
 * @param journalUnit The agent's unit in journald, where it has one
 */
export function statusOf(now: Transaction, journalUnit?: string): AgentUpgradeStatus {
  const { attempt, finding } = now;
  return {
    schema: AGENT_UPGRADE_SCHEMA,
    attemptId: attempt.attemptId,
    deviceId: attempt.deviceId,
    attemptDigest: now.digest,
    targetVersion: attempt.targetVersion,
    artifactSha256: attempt.artifact.sha256,
    phase: publicPhase(now),
    startedAt: now.startedAt,
    updatedAt: now.updatedAt,
    transitions: [...now.transitions],
    ...present("journalUnit", journalUnit),
    ...present("releaseIdentity", attempt.releaseIdentity),
    ...present("reason", finding?.reason),
    ...present("failureClass", finding?.failureClass),
    ...present("error", finding?.error),
    ...present("postMortem", finding?.postMortem),
    ...present("detail", now.detail),
    ...present("bootId", now.bootId),
    ...present("invocationId", now.invocationId),
  };
}

function viewOf(now: Transaction, journalUnit: string | undefined): TransactionView {
  return {
    phase: now.phase,
    attemptId: now.attempt.attemptId,
    attemptDigest: now.digest,
    targetVersion: now.attempt.targetVersion,
    targetPath: now.targetPath,
    previousPath: now.previousPath,
    status: statusOf(now, journalUnit),
  };
}

/**
 * The state that the socket answers with.
 *
 * @param record The record
 * @param facts What the record does not hold
 */
export function updaterStateOf(record: UpdaterRecord, facts: ProjectionFacts): UpdaterState {
  const { transaction } = record;
  return {
    updaterVersion: facts.updaterVersion,
    capabilities: [...facts.capabilities],
    busy: facts.admitting || isActive(record) || facts.systemUpgradeActive === true,
    quarantined: transaction?.phase === "rollback-failed",
    transaction: transaction === null ? null : viewOf(transaction, facts.journalUnit),
    ...present("systemUpgrade", facts.systemUpgrade),
    ...present("ledgerProblem", facts.ledgerProblem),
  };
}
