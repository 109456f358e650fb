/**
 * How a candidate's self-test is run: as a child of the updater, or in a unit of the service manager.
 *
 * @module
 */
import type { RunOutcome } from "../process/run_bounded.ts";

/** Bounds of one run. */
export interface CandidateRunBounds {
  readonly timeoutMs: number;
  /** Ends the run. */
  readonly signal: AbortSignal;
}

/**
 * Runs a candidate to its end, with its output bounded; nothing of it is left afterwards.
 *
 * @throws what the runtime throws when a child cannot be started, or a {@link FleetError} of the class `environment`
 * when the machine is at fault, and with the code `E_NOT_EXECUTABLE` when the candidate is
 */
export type CandidateRunner = (
  path: string,
  args: readonly string[],
  bounds: CandidateRunBounds,
) => Promise<RunOutcome>;
