/**
 * Reads spans as a person writes them: `90m`, `6h`, `2d`, or plain seconds.
 *
 * @module
 */

const UNITS_S: Readonly<Record<string, number>> = { "": 1, s: 1, m: 60, h: 3_600, d: 86_400 };

/**
 * Reads a span.
 *
 * @param text What a person wrote
 * @returns whole seconds, or null when it is no span
 *
 * @example
 * ```ts
 * import { parseSpanSeconds } from "./parse_span.ts";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals([parseSpanSeconds("6h"), parseSpanSeconds("90")], [21_600, 90]);
 * ```
 */
export function parseSpanSeconds(text: string): number | null {
  const [, digits = "", unit = ""] = /^(\d{1,9})([smhd]?)$/.exec(text) ?? [];
  const factor = UNITS_S[unit];
  return digits === "" || factor === undefined ? null : Number(digits) * factor;
}
