/**
 * Registers one comparison with `deno bench`: ours and what a user would otherwise use, in one group.
 *
 * `deno bench` runs one benchmark to its end before the next, so whoever comes later meets a warmer machine: the runner
 * turns the order round from one round to the next.
 *
 * @module
 */
import { OURS } from "./figures.ts";
import { type Aim, writeNote } from "./round_note.ts";

/** The variable that turns the order of the benchmarks round when it is `1`. */
export const REVERSED_VARIABLE = "HARMONY_BENCH_REVERSED";

/** One way to do the work. */
export type Way =
  | {
    /** Done before each run, outside of the measured time. */
    readonly prepare?: () => Promise<void>;
    readonly run: () => Promise<void>;
  }
  /** Work that waits for nothing: measured without the cost of a promise. */
  | { readonly runSync: () => void };

/** A competitor that is not here. */
export interface Absent {
  readonly whyAbsent: string;
}

/** What is compared. */
export interface Comparison {
  /** First part of the figures' names; without a slash. */
  readonly group: string;
  readonly ours: Way;
  /** By name; the first is the baseline that `deno bench` itself shows. */
  readonly theirs: Readonly<Record<string, Way | Absent>>;
  /** By name of the competitor. */
  readonly aims?: Readonly<Record<string, Aim>>;
  /** Least number of measured runs of each in one round. Default: as many as fit half a second, at least ten. */
  readonly runs?: number;
  /** Work of one run in bytes, for a rate. */
  readonly sizeBytes?: number;
}

function isAbsent(way: Way | Absent): way is Absent {
  return "whyAbsent" in way;
}

function register(group: string, name: string, way: Way, baseline: boolean, runs: number | undefined): void {
  // One run warms up; the runtime's default of twenty would take most of the time where a run takes long.
  const options = { group, name, baseline, ...(runs === undefined ? {} : { n: runs, warmup: 1 }) };
  if ("runSync" in way) {
    Deno.bench({ ...options, fn: way.runSync });
    return;
  }
  const { prepare, run } = way;
  Deno.bench({
    ...options,
    fn: prepare === undefined ? async () => await run() : async (bench) => {
      await prepare();
      bench.start();
      await run();
      bench.end();
    },
  });
}

/**
 * Registers a comparison.
 *
 * @param comparison What is compared
 */
export function compare({ group, ours, theirs, aims = {}, runs, sizeBytes }: Comparison): void {
  const present: (readonly [name: string, way: Way])[] = [];
  for (const [name, way] of Object.entries(theirs)) {
    const figure = `${group}/${name}`;
    if (isAbsent(way)) {
      writeNote({ kind: "skipped", figure, why: way.whyAbsent });
      continue;
    }
    present.push([name, way]);
    const aim = aims[name];
    if (aim !== undefined) writeNote({ kind: "aim", figure, aim });
  }
  if (sizeBytes !== undefined) writeNote({ kind: "size", group, sizeBytes });
  if (present.length === 0) return;
  const baseline = present[0]?.[0];
  const ways = [[OURS, ours] as const, ...present];
  if (Deno.env.get(REVERSED_VARIABLE) === "1") ways.reverse();
  for (const [name, way] of ways) register(group, name, way, name === baseline, runs);
}
