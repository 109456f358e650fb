/**
 * Figures as a table for a person, and as one line of JSON for a program.
 *
 * @module
 */
import type { Figure, Figures } from "./figures.ts";
import type { Unit } from "./round_note.ts";

const HEADINGS = ["figure", "ours", "theirs", "ratio", "aim", "met"] as const;
const US_PER_MS = 1_000;

/** A value with three digits that tell something, in the unit that a person would use. */
export function renderValue(value: number, unit: Unit): string {
  if (unit === "ms" && value < 1) return `${threeDigits(value * US_PER_MS)} µs`;
  return `${threeDigits(value)} ${unit}`;
}

function threeDigits(value: number): string {
  const integerDigits = Math.max(1, Math.floor(Math.log10(Math.max(value, 1))) + 1);
  return value.toFixed(Math.max(0, 3 - integerDigits));
}

function renderAim({ aim, unit }: Figure): string {
  if (aim === undefined) return "";
  const parts: string[] = [];
  if (aim.maxRatio !== undefined) parts.push(`<= ${aim.maxRatio.toFixed(2)}`);
  if (aim.maxOurs !== undefined) parts.push(`ours <= ${aim.maxOurs} ${unit}`);
  return parts.join(", ");
}

function renderRow(figure: Figure): string[] {
  const { name, unit, ours, theirs, ratio, isMet, rateMibPerS } = figure;
  const rate = rateMibPerS === undefined ? "" : ` (${rateMibPerS.toFixed(0)} MiB/s)`;
  return [
    name,
    renderValue(ours, unit) + rate,
    theirs === null ? "" : renderValue(theirs, unit),
    ratio === null ? "" : ratio.toFixed(2),
    renderAim(figure),
    isMet === null ? "" : isMet ? "yes" : "NO",
  ];
}

/**
 * The table, with what was skipped below it. Ends with a line feed.
 *
 * @param figures What was measured
 */
export function renderTable({ figures, skipped }: Figures): string {
  const rows = [[...HEADINGS], ...figures.map(renderRow)];
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ").trimEnd());
  const left = skipped.map(({ name, why }) => `skipped: ${name}: ${why}`);
  return [...lines, ...left].map((line) => `${line}\n`).join("");
}

/**
 * Names of the figures to their ratios, to three decimals; a figure without a ratio is left out.
 *
 * @param figures What was measured
 */
export function renderJson({ figures }: Figures): string {
  const ratios = figures.flatMap(({ name, ratio }) => ratio === null ? [] : [[name, Number(ratio.toFixed(3))]]);
  return JSON.stringify(Object.fromEntries(ratios));
}
