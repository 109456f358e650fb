/**
 * What `dpkg --audit` says: nothing, or packages that an interrupted run has left behind, with a reason in between.
 *
 * @module
 */
import { packageName } from "./parse_simulation.ts";

/** A line about one package: an indented name and its short description. */
const PACKAGE = /^ {1,2}([a-z0-9][a-z0-9+.-]*(?::[a-z0-9-]+)?)(?: |$)/;

/**
 * Names of the packages that are not in a final state.
 *
 * @param output What `dpkg --audit` printed
 */
export function parseAudit(output: string): string[] {
  const names = output.split("\n").map((line) => PACKAGE.exec(line)?.[1]).filter((name) => name !== undefined);
  return [...new Set(names.map(packageName))];
}

/**
 * Whether an audit found nothing. dpkg prints nothing at all then, so that whatever it prints counts.
 *
 * @param output What `dpkg --audit` printed
 */
export function isCleanAudit(output: string): boolean {
  return output.trim() === "";
}
