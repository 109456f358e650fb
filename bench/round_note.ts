/**
 * What a benchmark file tells the runner beside its times: aims, measures that are no times, and what was left out.
 * One JSON document per line, in a file that the runner names.
 *
 * @module
 */

/** What a figure is to be. */
export interface Aim {
  /** Most of ours divided by theirs. */
  readonly maxRatio?: number;
  /** Most of ours, in the figure's unit. */
  readonly maxOurs?: number;
}

/** Unit of a figure. Less is better in each of them. */
export type Unit = "ms" | "MiB";

/** One line. A figure is `group/competitor`. */
export type RoundNote =
  | { readonly kind: "aim"; readonly figure: string; readonly aim: Aim }
  | {
    readonly kind: "measure";
    readonly figure: string;
    readonly unit: Unit;
    readonly ours: number;
    /** Null where there is nothing to compare with. */
    readonly theirs: number | null;
  }
  /** Work of one run in bytes, for a rate beside the time. */
  | { readonly kind: "size"; readonly group: string; readonly sizeBytes: number }
  | { readonly kind: "skipped"; readonly figure: string; readonly why: string };

/** The variable that names the file. */
export const NOTES_VARIABLE = "HARMONY_BENCH_NOTES";

/**
 * Tells the runner something; without a runner, the person.
 *
 * @param note What
 */
export function writeNote(note: RoundNote): void {
  const line = `${JSON.stringify(note)}\n`;
  const path = Deno.env.get(NOTES_VARIABLE);
  if (path === undefined) Deno.stderr.writeSync(new TextEncoder().encode(line));
  else Deno.writeTextFileSync(path, line, { append: true });
}

/**
 * Reads the file. Its writer is a benchmark of this repository, whose types are checked there.
 *
 * @param text Its content
 */
export function parseNotes(text: string): RoundNote[] {
  return text.split("\n").filter((line) => line !== "").map((line): RoundNote => JSON.parse(line));
}
