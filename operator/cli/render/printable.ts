/**
 * Makes foreign text safe to print: what a device reports may hold escape sequences that a terminal would obey.
 *
 * @module
 */

// C0 and C1 controls, and the marks that reorder or hide text.
// deno-lint-ignore no-control-regex -- control characters are what it replaces
const UNPRINTABLE_REGEXP = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|\p{Cs}/gu;

function escaped(character: string): string {
  if (character === "\n") return "\\n";
  if (character === "\t") return "\\t";
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/**
 * The text on one line, with control characters written out.
 *
 * @param text Any text
 *
 * @example
 * ```ts
 * import { printable } from "./printable.ts";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(printable("a\u001b[31mb\n"), "a\\u001b[31mb\\n");
 * ```
 */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE_REGEXP, escaped);
}

/**
 * JSON text for people and programs: indented, ending in a line feed, and safe to print.
 *
 * @param value A JSON value
 */
export function printableJson(value: unknown): string {
  return `${unprintableEscaped(JSON.stringify(value, null, 2))}\n`;
}

/**
 * JSON text on one line, ending in a line feed, and safe to print.
 *
 * @param value A JSON value
 */
export function printableJsonLine(value: unknown): string {
  return `${unprintableEscaped(JSON.stringify(value))}\n`;
}

/** Only texts can hold such characters once `stringify` has escaped C0, and there an escape means the same. */
function unprintableEscaped(json: string): string {
  return json.replace(UNPRINTABLE_REGEXP, (character) => character === "\n" ? character : escaped(character));
}
