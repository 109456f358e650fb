/**
 * Named values below one another, as `describe` shows them.
 *
 * @module
 */
import type { Advice } from "../advice.ts";
import type { Paint } from "./paint.ts";
import { printable } from "./printable.ts";
import type { Cell } from "./table.ts";

/** A name and its value; a value that is undefined leaves the line out. */
export type Field = readonly [name: string, value: Cell | string | undefined];

/** Names are padded to this many characters, so that all sections of a description align. */
const NAME_WIDTH_CHARS = 14;

/**
 * Renders fields, a line each.
 *
 * @param fields The fields
 * @param paint Colours
 * @param indent Put before each line. Default nothing
 */
export function renderFields(fields: readonly Field[], paint: Paint, indent = ""): string {
  return fields.map(([name, value]) => {
    if (value === undefined) return "";
    const { text, tone } = typeof value === "string" ? { text: value } : value;
    const label = `${indent}${name}:`;
    return `${label.padEnd(NAME_WIDTH_CHARS)} ${paint(printable(text), tone)}`.trimEnd() + "\n";
  }).join("");
}

/**
 * Renders what to do next; nothing when all is well.
 *
 * @param advice What is not well
 * @param paint Colours
 */
export function renderAdvice(advice: readonly Advice[], paint: Paint): string {
  if (advice.length === 0) return "";
  const items = advice.map(({ code, problem, steps }) => {
    const lines = steps.map((step) => `    ${printable(step)}\n`);
    return `  ${paint(code, "bad")}: ${printable(problem)}\n${lines.join("")}`;
  });
  return `\n${paint("What to do next:", "strong")}\n${items.join("")}`;
}
