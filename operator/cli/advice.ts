/**
 * What a person does next about something that is not well.
 *
 * @module
 */

/** One thing that is not well, and the way out of it. */
export interface Advice {
  /** Stable PascalCase code, for programs. */
  readonly code: string;
  /** What is wrong, in a sentence for the person on call. */
  readonly problem: string;
  /** What to do, in order; commands stand by themselves. */
  readonly steps: readonly string[];
}
