/**
 * When the power of a device is cut: moments drawn from a seed, as fractions of what is measured on the way, so that a
 * seed repeats them on a machine of another speed.
 *
 * @module
 */
import { seededRandom } from "../fakes/seeded_random.ts";

/** Phases in which a cut can be placed; `complete` is the moment after the end. */
export const CUT_PHASES = ["preparing", "stopping", "starting", "rolling-back", "complete"] as const;
/** One of {@link CUT_PHASES}. */
export type CutPhase = (typeof CUT_PHASES)[number];

/** One cut. */
export interface Cut {
  /** Whether the release that is under way is a good one. */
  readonly release: "good" | "bad";
  /** The phase from whose beginning time is counted; null: from the moment at which the intent is written. */
  readonly phase: CutPhase | null;
  /** Part of the phase's length, or of the whole transaction's, after which the power goes, in [0, 1). */
  readonly fraction: number;
}

/** How long something takes on this device now, in ms. */
export interface Lengths {
  /** From the intent to the end that is published, by release. */
  readonly whole: Readonly<Record<Cut["release"], number>>;
  readonly phases: Readonly<Record<CutPhase, number>>;
}

/** Part of the cuts that fall anywhere in a transaction, whatever the phase. */
const ANYWHERE = 0.35;
/** How often a cut is placed in a phase: the short ones would hardly be hit by chance. */
const WEIGHTS: Readonly<Record<CutPhase, number>> = {
  preparing: 2,
  stopping: 3,
  starting: 3,
  "rolling-back": 3,
  complete: 1,
};
const BAD_RELEASES = 0.3;

/**
 * Draws cuts.
 *
 * @param seed 32 bits
 * @param count How many; a greater number begins with the same ones
 */
export function drawCuts(seed: number, count: number): Cut[] {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => {
    // Always the same number of draws, so that every cut has its own.
    const [where, which, how, fraction] = [random(), random(), random(), random()] as const;
    const phase = where < ANYWHERE ? null : drawPhase(which);
    const mayBeBad = phase !== "complete" && how < BAD_RELEASES;
    return { release: phase === "rolling-back" || mayBeBad ? "bad" : "good", phase, fraction };
  });
}

function drawPhase(point: number): CutPhase {
  const total = CUT_PHASES.reduce((sum, phase) => sum + WEIGHTS[phase], 0);
  let left = point * total;
  for (const phase of CUT_PHASES) {
    left -= WEIGHTS[phase];
    if (left < 0) return phase;
  }
  return "complete";
}

/**
 * How long after its beginning, of the phase or of the transaction, the power goes, in ms.
 *
 * @param cut The cut
 * @param lengths What is measured
 */
export function delayMs({ release, phase, fraction }: Cut, lengths: Lengths): number {
  return Math.round(fraction * (phase === null ? lengths.whole[release] : lengths.phases[phase]));
}

/** A cut in words. */
export function describeCut({ release, phase, fraction }: Cut): string {
  const where = phase === null ? "the transaction" : phase;
  return `${Math.round(fraction * 100)}% of ${where}, ${release} release`;
}
