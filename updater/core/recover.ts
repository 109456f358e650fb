/**
 * What a starting updater does with the transaction that it finds: the seed's recovery table as a function of the same
 * kind as {@link transition}. Restoring the link comes first and is finished before the updater is READY; stop and
 * start follow behind it, so that the agent can ask for the transaction while it starts.
 *
 * @module
 */
import type { UpdaterRecord } from "./record.ts";
import { moveTo } from "./rewrite.ts";
import type { Outcome } from "./transition.ts";

/**
 * The record and the effects with which a started updater goes on.
 *
 * @param record The record as the journal held it
 * @param atMs The time, in ms since the epoch
 */
export function recover(record: UpdaterRecord, atMs: number): Outcome {
  const now = record.transaction;
  if (now === null) return { record, effects: [] };
  const restore = { kind: "RestorePrevious", path: now.previousPath } as const;
  switch (now.phase) {
    case "preparing":
      // `failed` is recorded once the link is back: see the row of `PreviousRestored`.
      return { record, effects: [restore] };
    case "activating":
      return {
        record: moveTo(record, now, atMs, {
          phase: "rolling-back",
          finding: {
            reason: "Interrupted",
            failureClass: "environment",
            error: "the updater stopped during the activation",
          },
        }),
        effects: [restore],
      };
    case "rolling-back":
      return { record, effects: [restore] };
    case "failed":
      return { record, effects: now.step === "restart" ? [{ kind: "StartService", role: "previous" }] : [] };
    case "committed":
    case "rollback-failed":
      return { record, effects: [] };
  }
}
