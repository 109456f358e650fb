/**
 * What may happen to a transaction, in the past tense. Every event carries the time at which it was seen, since the
 * core reads no clock.
 *
 * @module
 */
import type { AgentUpgradeAttempt } from "../../contracts/agent_upgrade.ts";
import type { Finding } from "./record.ts";

/** What may happen, without its time. */
export type EventBody =
  /** An admitted attempt begins. `alreadySelected`: the link selects its path and the bytes match. */
  | {
    readonly kind: "AttemptAccepted";
    readonly attempt: AgentUpgradeAttempt;
    readonly digest: string;
    readonly previousPath: string;
    readonly targetPath: string;
    readonly alreadySelected: boolean;
    readonly bootId?: string;
  }
  /** The candidate's bytes are verified and durable at the target path. */
  | { readonly kind: "CandidatePrepared" }
  | { readonly kind: "PreparationFailed"; readonly finding: Finding }
  | { readonly kind: "ProbePassed" }
  | { readonly kind: "ProbeFailed"; readonly finding: Finding }
  /** No process of the agent is left. */
  | { readonly kind: "ServiceStopped" }
  | { readonly kind: "StopFailed"; readonly error: string }
  /** The link durably selects the path that the effect named. */
  | { readonly kind: "BinarySelected" }
  | { readonly kind: "SelectionFailed"; readonly error: string }
  /** Recovery has put the link back to the previous binary. */
  | { readonly kind: "PreviousRestored" }
  | { readonly kind: "RestoreFailed"; readonly error: string }
  /** The started agent sent READY. */
  | { readonly kind: "ServiceStarted"; readonly invocationId?: string }
  /** The start failed because of the process. `environment` in the finding: not because of the binary. */
  | { readonly kind: "StartFailed"; readonly finding: Finding }
  /** A job that was canceled, refused or lost: it says nothing about the binary. */
  | { readonly kind: "JobInconclusive"; readonly error: string }
  /** The pause before a repetition is over. */
  | { readonly kind: "RetryDue" }
  /** Root chose a binary to get out of `rollback-failed`. */
  | { readonly kind: "RepairRequested"; readonly path: string };

/** What happened, and when, in ms since the epoch. */
export type UpdaterEvent = EventBody & { readonly atMs: number };

/** Kinds of events. */
export type EventKind = EventBody["kind"];
