/**
 * Observe mode: what would be written is told instead, once for each thing that would be written (DESIGN 7).
 *
 * @module
 */

/** What a write of observe mode did: nothing. */
export const OBSERVED = "observed";

/** Members that say when something was noticed: nothing is stored in observe mode, so it is noticed ever anew. */
const NOTICED_AT: ReadonlySet<string> = new Set(["livenessSince", "lastTransitionTime"]);

/** Tells of writes. */
export class Observer {
  readonly #tell: (line: string) => void;
  readonly #told = new Map<string, string>();

  /** @param tell Takes one line for each write, as JSON */
  constructor(tell: (line: string) => void) {
    this.#tell = tell;
  }

  /**
   * Tells of a write, unless it was told before.
   *
   * @param write What would be done
   * @param name Name of the resource, or key
   * @param what More of it
   */
  tell(write: string, name: string, what: Record<string, unknown>): Promise<typeof OBSERVED> {
    const key = `${write} ${name}`;
    const content = JSON.stringify(what, withoutTimes);
    if (this.#told.get(key) !== content) {
      this.#told.set(key, content);
      this.#tell(JSON.stringify({ write, name, ...what }));
    }
    return Promise.resolve(OBSERVED);
  }
}

function withoutTimes(member: string, value: unknown): unknown {
  return NOTICED_AT.has(member) ? undefined : value;
}
