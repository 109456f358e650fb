/**
 * From the rounds of all benchmark files to figures: ours, theirs, and the ratio of both.
 *
 * @module
 */
import type { BenchTime } from "./bench_report.ts";
import type { Aim, RoundNote, Unit } from "./round_note.ts";

/** Name of the benchmark that is ours, in every group. */
export const OURS = "ours";

/** What one process measured. */
export interface Round {
  readonly times: readonly BenchTime[];
  readonly notes: readonly RoundNote[];
}

/** One comparison. Less is better. */
export interface Figure {
  /** `group/competitor`, or the group alone where there is nothing to compare with. */
  readonly name: string;
  readonly unit: Unit;
  /** Median over the rounds of what each measured. */
  readonly ours: number;
  readonly theirs: number | null;
  /** Median over the rounds of the ratio within each: what slowed a round slowed both of its sides. */
  readonly ratio: number | null;
  readonly aim: Aim | undefined;
  /** Null without an aim. */
  readonly isMet: boolean | null;
  /** Our rate in MiB/s, where the group tells the size of its work. */
  readonly rateMibPerS: number | undefined;
}

/** A figure that could not be measured here. */
export interface SkippedFigure {
  readonly name: string;
  readonly why: string;
}

/** What a run of the benchmarks says. */
export interface Figures {
  readonly figures: readonly Figure[];
  readonly skipped: readonly SkippedFigure[];
}

interface Pair {
  readonly name: string;
  readonly unit: Unit;
  readonly ours: number;
  readonly theirs: number | null;
}

const BYTES_PER_MIB = 1_024 * 1_024;
const MS_PER_S = 1_000;

/**
 * The middle value; the mean of the two middle ones when there is an even number.
 *
 * @param values At least one
 */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.ceil(sorted.length / 2) - 1];
  if (upper === undefined || lower === undefined) throw new RangeError("Cannot take the median of no values");
  return (lower + upper) / 2;
}

/**
 * The figures of some rounds.
 *
 * @param rounds Rounds of all files, in any order; a figure appears where its first round has it
 */
export function figuresOf(rounds: readonly Round[]): Figures {
  const pairsByName = new Map<string, Pair[]>();
  const aims = new Map<string, Aim>();
  const sizes = new Map<string, number>();
  const skipped = new Map<string, string>();
  for (const { times, notes } of rounds) {
    const pairs = pairsOf(times);
    for (const note of notes) {
      if (note.kind === "aim") aims.set(note.figure, note.aim);
      else if (note.kind === "size") sizes.set(note.group, note.sizeBytes);
      else if (note.kind === "skipped") skipped.set(note.figure, note.why);
      else pairs.push({ name: note.figure, unit: note.unit, ours: note.ours, theirs: note.theirs });
    }
    for (const pair of pairs) pairsByName.set(pair.name, [...pairsByName.get(pair.name) ?? [], pair]);
  }
  return {
    figures: [...pairsByName].map(([name, pairs]) => figureOf(name, pairs, aims.get(name), sizes)),
    skipped: [...skipped].map(([name, why]) => ({ name, why })),
  };
}

function pairsOf(times: readonly BenchTime[]): Pair[] {
  return [...Map.groupBy(times, ({ group }) => group).values()].flatMap(pairsOfGroup);
}

/** Ours against each of the others; in a group without, each that is not the baseline against the baseline. */
function pairsOfGroup(times: readonly BenchTime[]): Pair[] {
  const ours = times.find(({ name }) => name === OURS);
  const reference = ours ?? times.find(({ isBaseline }) => isBaseline);
  if (reference === undefined) return [];
  return times.filter((time) => time !== reference).map((other) => ({
    name: `${other.group}/${other.name}`,
    unit: "ms",
    ours: (ours ?? other).typicalMs,
    theirs: (ours === undefined ? reference : other).typicalMs,
  }));
}

function figureOf(
  name: string,
  pairs: readonly Pair[],
  aim: Aim | undefined,
  sizes: ReadonlyMap<string, number>,
): Figure {
  const ours = median(pairs.map((pair) => pair.ours));
  const theirs = pairs.flatMap((pair) => pair.theirs === null ? [] : [pair.theirs]);
  const ratios = pairs.flatMap((pair) => pair.theirs === null ? [] : [pair.ours / pair.theirs]);
  const ratio = ratios.length === 0 ? null : median(ratios);
  const sizeBytes = sizes.get(name.split("/")[0] ?? "");
  return {
    name,
    unit: pairs[0]?.unit ?? "ms",
    ours,
    theirs: theirs.length === 0 ? null : median(theirs),
    ratio,
    aim,
    isMet: aim === undefined ? null : isMet(aim, ours, ratio),
    rateMibPerS: sizeBytes === undefined ? undefined : sizeBytes / BYTES_PER_MIB / (ours / MS_PER_S),
  };
}

function isMet({ maxRatio, maxOurs }: Aim, ours: number, ratio: number | null): boolean {
  if (maxOurs !== undefined && ours > maxOurs) return false;
  return maxRatio === undefined || (ratio !== null && ratio <= maxRatio);
}
