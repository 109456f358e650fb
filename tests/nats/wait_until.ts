/**
 * Waiting for a condition, bounded.
 *
 * @module
 */

const POLL_INTERVAL_MS = 10;

/**
 * Polls until a condition gives a value other than `false`, `null` and `undefined`.
 *
 * @param what What is waited for, for the message
 * @param condition Asked again and again; what it throws ends the wait
 * @param timeoutMs How long, at most
 * @param intervalMs How long between two looks: more where a look is dear. Default 10
 * @throws {Error} when the time is over
 */
export async function waitUntil<T>(
  what: string,
  condition: () => T | Promise<T>,
  timeoutMs = 15_000,
  intervalMs = POLL_INTERVAL_MS,
): Promise<Exclude<T, false | null | undefined>> {
  const endMs = performance.now() + timeoutMs;
  while (true) {
    const value = await condition();
    if (value !== false && value !== null && value !== undefined) {
      return value as Exclude<T, false | null | undefined>;
    }
    if (performance.now() > endMs) throw new Error(`Cannot wait for ${what}: not within ${timeoutMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
}
