/**
 * Bounds that tests and demos scale down.
 *
 * @module
 */

/**
 * A bound of the configuration: it can be lowered below its limit, never raised.
 *
 * @param limit The limit, from `contracts/limits.ts`
 * @param wanted The configured bound, in the same unit. Default the limit
 */
export function loweredBound(limit: number, wanted: number | undefined): number {
  return wanted === undefined ? limit : Math.min(limit, wanted);
}
