/**
 * Keys of buckets, and filters over them.
 *
 * @module
 */
import { BUCKET_KEY_MAX_CHARS } from "../../contracts/limits.ts";
import { busError } from "./bus_error.ts";

const KEY_REGEXP = /^[A-Za-z0-9_=/-]+(?:\.[A-Za-z0-9_=/-]+)*$/;
const FILTER_REGEXP = /^(?:(?:\*|[A-Za-z0-9_=/-]+)\.)*(?:>|\*|[A-Za-z0-9_=/-]+)$/;

/**
 * Checks a key: tokens of letters, digits and `-_=/`, joined by dots.
 *
 * @param key The key
 * @throws {FleetError} `E_BUS_KEY` for any other
 */
export function checkKey(key: string): void {
  if (key.length > BUCKET_KEY_MAX_CHARS || !KEY_REGEXP.test(key)) {
    throw busError(
      "E_BUS_KEY",
      `Cannot use key ${
        JSON.stringify(key.slice(0, 64))
      }: want up to ${BUCKET_KEY_MAX_CHARS} characters A-Z a-z 0-9 - _ = / and inner dots`,
    );
  }
}

/**
 * Checks a filter: a key in which a token may be `*`, and the last one `>`.
 *
 * @param filter The filter
 * @throws {FleetError} `E_BUS_KEY` for any other
 */
export function checkFilter(filter: string): void {
  if (filter.length > BUCKET_KEY_MAX_CHARS || !FILTER_REGEXP.test(filter)) {
    throw busError(
      "E_BUS_KEY",
      `Cannot use key filter ${
        JSON.stringify(filter.slice(0, 64))
      }: want a key in which a token may be * and the last one >`,
    );
  }
}

/**
 * Whether a key matches a filter, by the rules of NATS subjects.
 *
 * @param filter The filter
 * @param key The key
 */
export function matchesFilter(filter: string, key: string): boolean {
  const have = key.split(".");
  const want = filter.split(".");
  for (const [index, token] of want.entries()) {
    if (token === ">") return have.length > index;
    if (have[index] === undefined || (token !== "*" && token !== have[index])) return false;
  }
  return want.length === have.length;
}
