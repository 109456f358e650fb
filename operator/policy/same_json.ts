/**
 * Whether two documents say the same. It is asked at every look at a device, so it makes no text of either.
 *
 * @module
 */

/**
 * Compares two JSON values, whatever the order of their members; a member that is `undefined` is not there.
 *
 * @param a A JSON value
 * @param b Another
 */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => sameJson(item, b[index]));
  }
  const left = a as Record<string, unknown>;
  const right = b as Record<string, unknown>;
  for (const name of Object.keys(left)) {
    if (!sameJson(left[name], Object.hasOwn(right, name) ? right[name] : undefined)) return false;
  }
  return Object.keys(right).every((name) => Object.hasOwn(left, name) || right[name] === undefined);
}
