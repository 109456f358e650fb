/**
 * `last-drain.json`: how long the previous agent drained, kept for its successor, which adds it to the status of the
 * same attempt (DESIGN 6, Drain).
 *
 * @module
 */
import type { AgentUpgradeStatus } from "../../contracts/agent_upgrade.ts";
import { type Decoded, integer, object } from "../../contracts/codec.ts";
import { instant, uuid } from "../../contracts/formats.ts";

/** Schema version of the file. */
export const LAST_DRAIN_SCHEMA = 1;

/** Decodes the file. */
export const lastDrain = object({
  schema: integer(1, LAST_DRAIN_SCHEMA),
  /** The attempt whose switch stopped the agent. */
  attemptId: uuid,
  /** From SIGTERM until the mutation had ended and `stopping` had been tried, in ms. */
  drainMs: integer(0),
  at: instant,
});
/** The file. */
export type LastDrain = Decoded<typeof lastDrain>;

/**
 * Adds the drain time to the status of its attempt.
 *
 * @param status The updater's status
 * @param drain What the predecessor left, or null
 */
export function withDrainTime(status: AgentUpgradeStatus, drain: LastDrain | null): AgentUpgradeStatus {
  if (drain === null || drain.attemptId !== status.attemptId || status.drainMs !== undefined) return status;
  return { ...status, drainMs: drain.drainMs };
}
