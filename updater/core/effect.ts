/**
 * What the interpreter is told to do, as data. Every effect is idempotent: after a crash it may be done again.
 *
 * @module
 */
import type { AgentUpgradeAttempt } from "../../contracts/agent_upgrade.ts";

/** Which binary a start is to bring up; the verdict on a failure differs (DESIGN 5, Verdicts). */
export type StartRole = "candidate" | "previous";

/** What the interpreter is told to do. */
export type Effect =
  /** Fetch, verify and durably install the candidate, or verify the one that is there. */
  | { readonly kind: "PrepareCandidate"; readonly attempt: AgentUpgradeAttempt; readonly targetPath: string }
  | { readonly kind: "ProbeCandidate"; readonly targetPath: string; readonly targetVersion: string }
  | { readonly kind: "StopService" }
  /** Atomically and durably point the link at a binary. */
  | { readonly kind: "SelectBinary"; readonly path: string }
  /** The same during recovery, before the updater is READY. */
  | { readonly kind: "RestorePrevious"; readonly path: string }
  | { readonly kind: "StartService"; readonly role: StartRole }
  /** Pause with backoff before a repetition. */
  | { readonly kind: "Wait" };

/** Kinds of effects. */
export type EffectKind = Effect["kind"];

/** Effects that act on the service; in recovery they come after the updater's READY (seed, Recovery). */
export const SERVICE_EFFECTS: ReadonlySet<EffectKind> = new Set(["StopService", "StartService", "Wait"]);
