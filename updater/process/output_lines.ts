/**
 * The lines of a program's output, for people.
 *
 * @module
 */
import { bounded } from "../../contracts/formats.ts";
import { POST_MORTEM_LINE_MAX_CHARS, POST_MORTEM_LINES_MAX } from "../../contracts/limits.ts";

/** Colours and cursor movements (ECMA-48), which mean nothing in a status. */
// deno-lint-ignore no-control-regex -- the escape character is what it looks for
const ESCAPE_SEQUENCES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g;

/**
 * The lines of an output, oldest first, each cut to its bound. Empty lines are left out.
 *
 * @param output The output, or its end
 * @param linesMax Most lines; the last ones are kept. Default all
 */
export function outputLines(output: Uint8Array, linesMax = Number.MAX_SAFE_INTEGER): string[] {
  const text = new TextDecoder().decode(output).replaceAll(ESCAPE_SEQUENCES, "");
  return text.split(/[\r\n]+/).map((line) => line.replaceAll(/\p{Cc}/gu, " ").trimEnd()).filter((line) => line !== "")
    .slice(-linesMax).map((line) => bounded(line, POST_MORTEM_LINE_MAX_CHARS));
}

/**
 * The last lines of an output, as they are kept of what failed.
 *
 * @param output The end of the output
 */
export function lastLines(output: Uint8Array): string[] {
  return outputLines(output, POST_MORTEM_LINES_MAX);
}
