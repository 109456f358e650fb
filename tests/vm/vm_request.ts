/**
 * What a run of the virtual devices is asked for, on its way from the command line to the scenarios.
 *
 * @module
 */
import { freshSeed } from "../fakes/seeded_random.ts";

/** How often power is cut, and when. */
export interface CutRequest {
  readonly cuts: number;
  /** Repeats the moments. */
  readonly seed: number;
}

/** Cuts of a run that does not say how many. */
export const DEFAULT_CUTS = 100;

/** Variables that carry a {@link CutRequest}. */
export const CUT_VARIABLES = { cuts: "HARMONY_VM_CUTS", seed: "HARMONY_VM_SEED" } as const;

/** The request of this run; where there is none, the usual number of cuts from a fresh seed. */
export function cutRequest(): CutRequest {
  const { cuts, seed } = CUT_VARIABLES;
  return {
    cuts: Number(Deno.env.get(cuts) ?? DEFAULT_CUTS),
    seed: Number(Deno.env.get(seed) ?? freshSeed()),
  };
}

/** Variables for a process that runs scenarios. */
export function cutEnvironment({ cuts, seed }: CutRequest): Record<string, string> {
  return { [CUT_VARIABLES.cuts]: `${cuts}`, [CUT_VARIABLES.seed]: `${seed}` };
}
