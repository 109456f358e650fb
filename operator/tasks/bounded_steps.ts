/**
 * Work on many devices in steps of a bounded size.
 *
 * @module
 */

/** The first items, at most so many. */
export function firstOf<T>(items: Iterable<T>, count: number): T[] {
  const first: T[] = [];
  for (const item of items) {
    if (first.length === count) break;
    first.push(item);
  }
  return first;
}

/** The soonest of some pauses, in ms; null is never. */
export function soonest(...pausesMs: readonly (number | null)[]): number | null {
  const known = pausesMs.filter((pauseMs) => pauseMs !== null);
  return known.length === 0 ? null : Math.min(...known);
}
