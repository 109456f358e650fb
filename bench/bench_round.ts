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

interface Output {
  readonly success: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs one round.
 *
 * @param file A benchmark file, relative to the repository
 * @param options Directory and order
 * @throws {Error} when the process or one of its benchmarks fails, with what it said
 */
export async function runRound(file: string, options: RoundOptions): Promise<Round> {
  const notesPath = join(options.directory, "notes");
  await Deno.writeTextFile(notesPath, "");
  const { success, stdout, stderr } = await runBench(["--json", file], notesPath, options);
  if (stdout.trim() === "") throw new Error(`Cannot run ${file}: ${firstLines(stderr)}`);
  const times = parseBenchReport(stdout);
  if (!success) {
    // A file that does not load fails without a word in JSON, and says why otherwise.
    const again = await runBench([file], notesPath, options);
    throw new Error(`Cannot run ${file}: ${firstLines(again.stdout + again.stderr)}`);
  }
  return { times, notes: parseNotes(await Deno.readTextFile(notesPath)) };
}

async function runBench(
  args: readonly string[],
  notesPath: string,
  { directory, reversed }: RoundOptions,
): Promise<Output> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    // Types are checked by `./dev check`; here it would only take time.
    args: ["bench", "--quiet", "--no-check", "--allow-all", ...args],
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
  return { success, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

function firstLines(text: string): string {
  return text.trim().split("\n").slice(0, SHOWN_LINES).join("\n");
}
