/**
 * Bounds that a configuration may lower, for tests and small fleets, and never raise.
 *
 * @module
 */
import { integer, optional } from "../../contracts/codec.ts";

/**
 * Decodes an optional bound.
 *
 * @param limit The compiled limit, from `contracts/limits.ts`
 */
export function lowered(limit: number): ReturnType<typeof optional<number>> {
  return optional(integer(1, limit));
}
