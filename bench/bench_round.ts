/**
 * One round: one benchmark file in a fresh process.
 *
 * @module
 */
import { join } from "node:path";
import { REPOSITORY_ROOT } from "../build/bundle.ts";
import { DIRECTORY_VARIABLE } from "./bench_directory.ts";
import { parseBenchReport } from "./bench_report.ts";
import { REVERSED_VARIABLE } from "./comparison.ts";
import type { Round } from "./figures.ts";
import { NOTES_VARIABLE, parseNotes } from "./round_note.ts";

/** A round that takes longer hangs, and is stopped. */
const ROUND_TIMEOUT_MS = 5 * 60_000;
/** Lines of a failed process that are shown. */
const SHOWN_LINES = 12;

/** How a round is run. */
export interface RoundOptions {
  /** Where its files go. */
  readonly directory: string;
  /** Whether its benchmarks run in the other order. */
  readonly reversed: boolean;
}

/**
 * Runs one round.
 *
 * @param file A benchmark file, relative to the repository
 * @param options Directory and order
 * @throws {Error} when the process or one of its benchmarks fails, with what it said
 */
export async function runRound(file: string, { directory, reversed }: RoundOptions): Promise<Round> {
  const notesPath = join(directory, "notes");
  await Deno.writeTextFile(notesPath, "");
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    // Types are checked by `./dev check`; here it would only take time.
    args: ["bench", "--json", "--quiet", "--no-check", "--allow-all", file],
    cwd: REPOSITORY_ROOT,
    env: {
      [DIRECTORY_VARIABLE]: directory,
      [NOTES_VARIABLE]: notesPath,
      [REVERSED_VARIABLE]: reversed ? "1" : "0",
      NO_COLOR: "1",
    },
    stdin: "null",
    signal: AbortSignal.timeout(ROUND_TIMEOUT_MS),
  }).output();
  const decoder = new TextDecoder();
  const complaint = decoder.decode(stderr).trim().split("\n").slice(-SHOWN_LINES).join("\n");
  if (stdout.length === 0) throw new Error(`Cannot run ${file}: ${complaint}`);
  const times = parseBenchReport(decoder.decode(stdout));
  if (!success) throw new Error(`Cannot run ${file}: ${complaint}`);
  return { times, notes: parseNotes(await Deno.readTextFile(notesPath)) };
}
