/**
 * What many cuts have shown, as figures.
 *
 * @module
 */
import type { CutResult } from "./cut_round.ts";

/**
 * Counts states and measures starts: units are in the names.
 *
 * @param results Of every cut
 */
export function cutFigures(results: readonly CutResult[]): Record<string, number> {
  const figures: Record<string, number> = { cuts: results.length };
  const count = (name: string) => figures[name] = (figures[name] ?? 0) + 1;
  for (const { found, end } of results) {
    count(`found_${found.journal.replace("/none", "").replace("/", "_")}`);
    count(`ended_${end}`);
  }
  const times = results.map(({ bootToReadyMs }) => bootToReadyMs).toSorted((a, b) => a - b);
  const middle = times[Math.floor(times.length / 2)];
  const longest = times.at(-1);
  if (middle === undefined || longest === undefined) return figures;
  return {
    ...figures,
    boot_to_ready_median_s: Math.round(middle / 1_000),
    boot_to_ready_max_s: Math.round(longest / 1_000),
  };
}
