/**
 * What every command works with.
 *
 * @module
 */
import type { FleetAccess } from "../fleet_access.ts";
import type { Terminal } from "../terminal.ts";

/** A fleet and a terminal. */
export interface CommandContext {
  readonly fleet: FleetAccess;
  readonly terminal: Terminal;
}

/**
 * Says something that is neither a result nor an error.
 *
 * @param terminal The terminal
 * @param text One line
 */
export async function note(terminal: Terminal, text: string): Promise<void> {
  await terminal.err(`fleetctl: ${text}\n`);
}
