/**
 * The table at the bottom of a terminal. Pure.
 *
 * @module
 */
import type { Paint } from "../../operator/cli/render/paint.ts";
import { type Column, renderTable } from "../../operator/cli/render/table.ts";
import type { DeviceRow } from "./device_news.ts";

const COLUMNS: readonly Column<DeviceRow>[] = [
  { title: "DEVICE", cell: ({ device }) => device },
  { title: "AGENT", cell: ({ agent }) => agent },
  { title: "PHASE", cell: ({ phase, tone }) => ({ text: phase, tone }) },
  { title: "WHAT HAPPENS", cuttable: true, cell: ({ happens }) => happens },
];

/** A phase has up to 15 letters; the column is not to move when one changes. */
const PHASE_WIDTH_CHARS = 15;

/** What a frame shows. */
export interface FrameContent {
  readonly rows: readonly DeviceRow[];
  /** What is waited for, and since when; empty when nothing is. */
  readonly activity: string;
}

/**
 * The lines of a frame: an empty one, the table, and what is waited for.
 *
 * @param content What it shows
 * @param width Columns of the terminal
 * @param paint Colours
 */
export function frameLines({ rows, activity }: FrameContent, width: number, paint: Paint): string[] {
  const table = rows.length === 0 ? [] : renderTable(
    COLUMNS,
    rows.map((row) => ({ ...row, phase: row.phase.padEnd(PHASE_WIDTH_CHARS) })),
    { width: width - 2, paint },
  ).trimEnd().split("\n");
  const waiting = activity === "" ? "" : paint(`  ${activity}`.slice(0, width), "faint");
  return ["", ...table.map((line) => `  ${line}`), waiting];
}
