/**
 * `fleet-updater status`: the transaction for a person, or as JSON for a machine.
 *
 * @module
 */
import type { ManagedPaths } from "../../contracts/managed_paths.ts";
import { EXIT_CODES } from "../../lib/program.ts";
import { askState } from "./ask.ts";
import { renderState } from "./render_state.ts";

/** How an answer is printed. */
export type OutputFormat = "text" | "json";

/** Exit code of `status` and `repair` when the device refuses every attempt until root repairs it. */
export const EXIT_QUARANTINED = 3;

/**
 * Prints the updater's state.
 *
 * @param paths The managed paths
 * @param output How
 * @param print Takes the text
 * @param signal Ends the question
 * @returns the exit code
 */
export async function statusCommand(
  paths: ManagedPaths,
  output: OutputFormat,
  print: (text: string) => void,
  signal: AbortSignal,
): Promise<number> {
  const state = await askState(paths.updaterSocket, signal);
  print(output === "json" ? JSON.stringify(state) : renderState(state));
  return state.quarantined || state.ledgerProblem !== undefined ? EXIT_QUARANTINED : EXIT_CODES.ok;
}
