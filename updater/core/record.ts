/**
 * What the journal holds: one transaction, and the outcomes of earlier ones. The record is the whole state of the
 * updater; nothing is inferred from the file system (`Fleet agent upgrades`, Recovery).
 *
 * @module
 */
import {
  type AgentUpgradeAttempt,
  agentUpgradeAttempt,
  type PhaseTransition,
  phaseTransition,
  type PostMortem,
  postMortem,
  type UpgradePhase,
} from "../../contracts/agent_upgrade.ts";
import {
  type Decoded,
  decodeError,
  type Decoder,
  list,
  nullable,
  object,
  oneOf,
  optional,
} from "../../contracts/codec.ts";
import { FAILURE_CLASSES, type FailureClass } from "../../contracts/errors.ts";
import { absolutePath, detail, instant, reason, sha256Hex, shortText } from "../../contracts/formats.ts";
import { JOURNAL_HISTORY_MAX, TRANSITIONS_MAX } from "../../contracts/limits.ts";
import { binaryPath, type ManagedPaths, versionOfBinary } from "../../contracts/managed_paths.ts";
import {
  type AttemptOutcome,
  attemptOutcome,
  DURABLE_PHASES,
  type DurablePhase,
} from "../../contracts/updater_protocol.ts";

/** Version of the journal's body. A reader refuses a newer one. */
export const RECORD_SCHEMA = 1;

/**
 * Where a phase stands. `stopping` and `starting` belong to `activating`; `restart` belongs to `failed`, while the
 * previous service has still to be started after an interrupted preparation.
 */
export const STEPS = ["none", "stopping", "starting", "restart"] as const;
/** One of {@link STEPS}. */
export type Step = (typeof STEPS)[number];

/** Why a transaction stands where it stands; kept once, not per transition. */
export interface Finding {
  readonly reason: string;
  readonly failureClass: FailureClass;
  readonly error: string;
  readonly postMortem?: PostMortem;
}

/** The upgrade that is under way, or the last one. */
export interface Transaction {
  readonly attempt: AgentUpgradeAttempt;
  /** SHA-256 over the canonical JSON of the attempt as it came. */
  readonly digest: string;
  readonly phase: DurablePhase;
  readonly step: Step;
  /** Exact path that a rollback restores. */
  readonly previousPath: string;
  readonly targetPath: string;
  readonly startedAt: string;
  readonly updatedAt: string;
  readonly transitions: readonly PhaseTransition[];
  /** Why the attempt failed: the first cause, which a later failure of the rollback does not hide. */
  readonly finding?: Finding;
  /** What the transaction waits for, or why its rollback failed. */
  readonly detail?: string;
  readonly bootId?: string;
  readonly invocationId?: string;
}

/** What the journal holds. */
export interface UpdaterRecord {
  readonly transaction: Transaction | null;
  /** Oldest first. */
  readonly history: readonly AttemptOutcome[];
}

/** The record of a device that has never upgraded: what a missing journal means. */
export const EMPTY_RECORD: UpdaterRecord = { transaction: null, history: [] };

const findingDecoder = object({
  reason,
  failureClass: oneOf(FAILURE_CLASSES),
  error: detail,
  postMortem: optional(postMortem),
});

const transactionShape = object({
  attempt: agentUpgradeAttempt,
  digest: sha256Hex,
  phase: oneOf(DURABLE_PHASES),
  step: oneOf(STEPS),
  previousPath: absolutePath,
  targetPath: absolutePath,
  startedAt: instant,
  updatedAt: instant,
  transitions: list(phaseTransition, TRANSITIONS_MAX),
  finding: optional(findingDecoder),
  detail: optional(detail),
  bootId: optional(shortText),
  invocationId: optional(shortText),
});

const recordShape = object({
  transaction: nullable(transactionShape),
  history: list(attemptOutcome, JOURNAL_HISTORY_MAX),
});

function stepFits(phase: DurablePhase, step: Step): boolean {
  if (phase === "activating") return step === "stopping" || step === "starting";
  if (phase === "failed") return step === "none" || step === "restart";
  return step === "none";
}

/**
 * Decodes a record and checks what ties its fields together: a path outside of the managed ones is never followed.
 *
 * @param paths The managed paths of this device
 */
export function recordDecoder(paths: ManagedPaths): Decoder<UpdaterRecord> {
  return (value, path) => {
    const record: Decoded<typeof recordShape> = recordShape(value, path);
    const { transaction } = record;
    if (transaction === null) return record;
    versionOfBinary(paths, transaction.previousPath);
    if (transaction.targetPath !== binaryPath(paths, transaction.attempt.targetVersion)) {
      throw decodeError("transaction.targetPath", "is not the managed path of the target version");
    }
    if (!stepFits(transaction.phase, transaction.step)) {
      throw decodeError("transaction.step", `is ${transaction.step}, which ${transaction.phase} does not have`);
    }
    return record;
  };
}

/**
 * The public phase of a transaction (`Fleet agent upgrades`, Status). While the previous service has still to be
 * started the rollback is not over, whatever the durable phase says.
 *
 * @param transaction Phase and step
 */
export function publicPhase({ phase, step }: Pick<Transaction, "phase" | "step">): UpgradePhase {
  switch (phase) {
    case "preparing":
      return "preparing";
    case "activating":
      return step === "stopping" ? "stopping" : "starting";
    case "committed":
      return "complete";
    case "rolling-back":
      return "rolling-back";
    case "failed":
      return step === "restart" ? "rolling-back" : "failed";
    case "rollback-failed":
      return "rollback-failed";
  }
}

/** Members that only tell how a transaction stands; nothing is decided by them. */
const TELLING: ReadonlySet<string> = new Set(["detail", "updatedAt"]);

/**
 * Whether a restart would go on from both records in the same way: they differ at most in what is told.
 *
 * @param before A record
 * @param after The record that was made from it
 */
export function leadsToTheSame(before: UpdaterRecord, after: UpdaterRecord): boolean {
  const [was, is] = [before.transaction, after.transaction];
  if (was === null || is === null || before.history !== after.history) return false;
  const names = new Set([...Object.keys(was), ...Object.keys(is)]) as Set<keyof Transaction>;
  return [...names].every((name) => TELLING.has(name) || was[name] === is[name]);
}

/**
 * Whether a transaction still has work to do, so that another attempt must wait.
 *
 * @param record The record
 */
export function isActive(record: UpdaterRecord): boolean {
  const { transaction } = record;
  if (transaction === null) return false;
  const phase = publicPhase(transaction);
  return phase !== "complete" && phase !== "failed" && phase !== "rollback-failed";
}
