/**
 * What a person sees while a build runs: one line per step, and a sign of life while one takes long.
 *
 * @module
 */

/** Time without a line after which a step shows that it goes on, in ms. */
const SIGN_OF_LIFE_MS = 2_000;

/** Takes whole lines. */
export type WriteLine = (line: string) => void;

/**
 * Runs one step, with a line every two seconds for as long as it takes.
 *
 * @param what The step, such as `compiling fleetctl for aarch64`
 * @param write Takes the lines
 * @param step The work
 */
export async function withProgress<T>(what: string, write: WriteLine, step: () => Promise<T>): Promise<T> {
  const startMs = performance.now();
  const timer = setInterval(
    () => write(`... ${what}, ${Math.round((performance.now() - startMs) / 1_000)} s`),
    SIGN_OF_LIFE_MS,
  );
  try {
    return await step();
  } finally {
    clearInterval(timer);
  }
}
