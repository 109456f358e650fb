/**
 * Progress of a run of virtual devices, for whoever watches it.
 *
 * @module
 */

/** Prints a line. */
export function sayVm(line: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`vm: ${line}\n`));
}
