/**
 * Guesses which known name a person meant.
 *
 * @module
 */

/**
 * The known name that is nearest to a mistyped one, or undefined when none is near.
 *
 * @param name What was written
 * @param known What could have been meant
 *
 * @example
 * ```ts
 * import { nearestName } from "./nearest_name.ts";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(nearestName("maxbyte", ["url", "maxBytes"]), "maxBytes");
 * ```
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const wanted = plain(name);
  let nearest: string | undefined;
  // A third of the letters may be wrong: more would turn one word into another.
  let best = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of known) {
    const distance = editDistance(wanted, plain(candidate));
    if (distance < best) [nearest, best] = [candidate, distance];
  }
  return nearest;
}

/** Upper case, hyphens and underscores are how the same name is spelt elsewhere. */
function plain(name: string): string {
  return name.slice(0, 64).toLowerCase().replaceAll(/[-_]/g, "");
}

/** Optimal string alignment: insertions, deletions, replacements and swapped neighbours cost one each. */
function editDistance(left: string, right: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1];
      let cost = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (same ? 0 : 1),
      );
      if (row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]) {
        cost = Math.min(cost, (before[column - 2] ?? 0) + 1);
      }
      current.push(cost);
    }
    [before, previous] = [previous, current];
  }
  return previous[right.length] ?? left.length;
}
