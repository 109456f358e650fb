/**
 * Aligned tables for a terminal or a pipe.
 *
 * @module
 */
import type { Paint, Tone } from "./paint.ts";
import { printable } from "./printable.ts";

/** One cell. */
export interface Cell {
  readonly text: string;
  readonly tone?: Tone | undefined;
}

/** One column of a table. */
export interface Column<Row> {
  /** Upper case, as in the header line. */
  readonly title: string;
  readonly cell: (row: Row) => Cell | string;
  /** Numbers stand to the right. Default left. */
  readonly align?: "right";
  /** Whether it may be cut so that a line fits the terminal. Default false: names and numbers are never cut. */
  readonly cuttable?: boolean;
}

/** How a text is laid out. */
export interface Layout {
  /** Columns of the terminal; null when the output is none, and then nothing is cut. */
  readonly width: number | null;
  readonly paint: Paint;
}

const GAP = "  ";
/** A cut column keeps enough to recognise what it says. */
const CUT_MIN_CHARS = 12;

/** Widths of the columns of a table, so that later lines can stand under the first ones. */
export type ColumnWidths = readonly number[];

/**
 * Renders a header and the rows, each line ending in a line feed. Controls in a cell are written out.
 *
 * @param columns The columns
 * @param rows The rows
 * @param layout Terminal width and colours
 */
export function renderTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[], layout: Layout): string {
  const widths = columnWidths(columns, rows, layout.width);
  return renderHeader(columns, widths, layout.paint) + renderRows(columns, rows, widths, layout.paint);
}

/**
 * The width of each column: its widest cell, less where the terminal asks for it.
 *
 * @param columns The columns
 * @param rows The rows
 * @param width Columns of the terminal, or null
 */
export function columnWidths<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  width: number | null,
): ColumnWidths {
  const widths = columns.map(({ title }) => title.length);
  for (const row of rows) {
    columns.forEach((column, index) => {
      widths[index] = Math.max(widths[index] ?? 0, charCount(textOf(column.cell(row))));
    });
  }
  if (width === null) return widths;
  let excess = widths.reduce((sum, value) => sum + value + GAP.length, -GAP.length) - width;
  while (excess > 0) {
    const index = widestCuttable(columns, widths);
    if (index === undefined) break;
    widths[index] = (widths[index] ?? 0) - 1;
    excess--;
  }
  return widths;
}

function widestCuttable<Row>(columns: readonly Column<Row>[], widths: readonly number[]): number | undefined {
  let found: number | undefined;
  columns.forEach(({ cuttable, title }, index) => {
    const width = widths[index] ?? 0;
    if (cuttable !== true || width <= Math.max(CUT_MIN_CHARS, title.length)) return;
    if (found === undefined || width > (widths[found] ?? 0)) found = index;
  });
  return found;
}

/**
 * The header line.
 *
 * @param columns The columns
 * @param widths Their widths
 * @param paint Colours
 */
export function renderHeader<Row>(columns: readonly Column<Row>[], widths: ColumnWidths, paint: Paint): string {
  return renderLine(columns, columns.map(({ title }) => ({ text: title, tone: "strong" as const })), widths, paint);
}

/**
 * The lines of rows under widths that are known.
 *
 * @param columns The columns
 * @param rows The rows
 * @param widths Widths of the columns; a cell that is wider than an uncuttable column moves the rest of its line
 * @param paint Colours
 */
export function renderRows<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  widths: ColumnWidths,
  paint: Paint,
): string {
  return rows.map((row) => {
    const cells = columns.map((column) => {
      const cell = column.cell(row);
      return typeof cell === "string" ? { text: cell } : cell;
    });
    return renderLine(columns, cells, widths, paint);
  }).join("");
}

function renderLine<Row>(
  columns: readonly Column<Row>[],
  cells: readonly Cell[],
  widths: ColumnWidths,
  paint: Paint,
): string {
  const last = columns.length - 1;
  const parts = columns.map((column, index) => {
    const width = widths[index] ?? 0;
    const cell = cells[index];
    const whole = printable(cell?.text ?? "");
    const text = column.cuttable === true ? cut(whole, width) : whole;
    const fill = " ".repeat(Math.max(0, width - charCount(text)));
    const painted = paint(text, cell?.tone);
    if (column.align === "right") return fill + painted;
    return index === last ? painted : painted + fill;
  });
  return `${parts.join(GAP).trimEnd()}\n`;
}

function textOf(cell: Cell | string): string {
  return printable(typeof cell === "string" ? cell : cell.text);
}

function charCount(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

function cut(text: string, width: number): string {
  const characters = Array.from(text);
  return characters.length <= width ? text : `${characters.slice(0, Math.max(0, width - 1)).join("")}…`;
}
