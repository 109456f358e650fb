/**
 * Counts of a resource's targets as `describe` shows them.
 *
 * @module
 */
import type { Paint, Tone } from "./paint.ts";

/** A count with its name on the command line. */
export type NamedCount = readonly [name: string, count: number, tone?: Tone];

/**
 * Renders counts below a heading.
 *
 * @param counts The counts
 * @param command The command that lists the devices behind one, up to its phase
 * @param paint Colours
 */
export function renderTargetCounts(counts: readonly NamedCount[], command: string, paint: Paint): string {
  const lines = counts.map(([name, count, tone]) =>
    `  ${name.padEnd(12)}${paint(String(count).padStart(7), count === 0 ? undefined : tone)}\n`
  );
  return `\n${paint("Devices:", "strong")}   the list behind a count: ${command} --phase COUNT\n${lines.join("")}`;
}
