/**
 * Runs the benchmarks, prints a table, and ends with one line of JSON: `./dev bench`.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { REPOSITORY_ROOT } from "../build/bundle.ts";
import { sourcePaths } from "../build/source_tree.ts";
import { makeBenchDirectory, removeBenchDirectory } from "./bench_directory.ts";
import { runRound } from "./bench_round.ts";
import { figuresOf, type Round } from "./figures.ts";
import { describeMachine, loadPerProcessor } from "./machine.ts";
import { renderJson, renderTable } from "./render_figures.ts";

const USAGE = `usage: ./dev bench [NAME...] [OPTIONS]

  NAME         benchmarks to run, as --list names them; default: all of them
  --rounds N   processes that run each of them, an odd number; default: 3
  --list       name the benchmarks and run none

Ends with one line of JSON: names of figures to ours divided by theirs.
`;

const ROUNDS_DEFAULT = 3;
const ROUNDS_MAX = 99;
/** A machine that has been busier than this before the first round spoils the figures. */
const BUSY_LOAD_PER_PROCESSOR = 0.5;
const BENCH_FILE_REGEXP = /^bench\/(.+)_bench\.ts$/;

/** What the command line asks for. */
export interface BenchRequest {
  readonly names: readonly string[];
  readonly rounds: number;
  readonly listOnly: boolean;
}

/**
 * Reads the command line; a text is what is wrong with it.
 *
 * @param args The arguments
 * @param known Names of the benchmarks
 */
export function parseBenchArgs(args: readonly string[], known: readonly string[]): BenchRequest | string {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { rounds: { type: "string", default: `${ROUNDS_DEFAULT}` }, list: { type: "boolean", default: false } },
    });
    const rounds = Number(values.rounds);
    if (!Number.isInteger(rounds) || rounds < 1 || rounds > ROUNDS_MAX || rounds % 2 === 0) {
      return `--rounds is "${values.rounds}", want an odd number from 1 to ${ROUNDS_MAX}`;
    }
    const unknown = positionals.find((name) => !known.includes(name));
    if (unknown !== undefined) return `no benchmark "${unknown}"; there are: ${known.join(", ")}`;
    return { names: positionals.length > 0 ? positionals : known, rounds, listOnly: values.list };
  } catch (error) {
    if (error instanceof TypeError) return error.message;
    throw error;
  }
}

/**
 * Names of the benchmarks among the paths of a tree.
 *
 * @param paths Relative to the root of the repository
 */
export function benchNames(paths: readonly string[]): string[] {
  return paths.flatMap((path) => BENCH_FILE_REGEXP.exec(path)?.[1] ?? []);
}

/** Runs every round; round by round and not file by file, so that a busy minute does not hit all rounds of one file. */
async function runAll(
  { names, rounds }: BenchRequest,
  directory: string,
): Promise<{ done: Round[]; failed: string[] }> {
  const done: Round[] = [];
  const failed = new Map<string, string>();
  for (let round = 0; round < rounds; round++) {
    for (const name of names.filter((name) => !failed.has(name))) {
      complain(`round ${round + 1} of ${rounds}: ${name}`);
      try {
        done.push(await runRound(`bench/${name}_bench.ts`, { directory, reversed: round % 2 === 1 }));
      } catch (error) {
        failed.set(name, error instanceof Error ? error.message : String(error));
      }
    }
  }
  return { done, failed: [...failed.values()] };
}

async function bench(request: BenchRequest): Promise<number> {
  const directory = await makeBenchDirectory();
  try {
    const load = loadPerProcessor();
    write(`machine: ${await describeMachine(directory)}\n`);
    const { done, failed } = await runAll(request, directory);
    const figures = figuresOf(done);
    write(`rounds: ${request.rounds}, medians over them; less is better\n\n${renderTable(figures)}`);
    for (const problem of failed) write(`failed: ${problem}\n`);
    if (load > BUSY_LOAD_PER_PROCESSOR) {
      write(`The machine was busy (load ${load.toFixed(2)} per processor): repeat this on a quiet one\n`);
    }
    write(`\n${renderJson(figures)}\n`);
    return failed.length === 0 ? 0 : 1;
  } finally {
    await removeBenchDirectory(directory);
  }
}

function write(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(text));
}

function complain(text: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`bench: ${text}\n`));
}

async function main(args: readonly string[]): Promise<number> {
  if (args.includes("--help")) return write(USAGE), 0;
  const request = parseBenchArgs(args, benchNames(await sourcePaths(REPOSITORY_ROOT)));
  if (typeof request === "string") return complain(`${request}\n${USAGE.trimEnd()}`), 64;
  if (request.listOnly) return write(request.names.map((name) => `${name}\n`).join("")), 0;
  return await bench(request);
}

if (import.meta.main) Deno.exit(await main(Deno.args));
