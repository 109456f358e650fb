/**
 * What a test says beside its result: how much it covered, and the seed that repeats it.
 *
 * @module
 */

/**
 * Prints a line.
 *
 * @param line The line, without its end
 */
export function report(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}
