/**
 * Tells which keys have gone while nobody watched: a watch that begins again yields everything that is there and then
 * `current`, and says nothing of what is not there any more.
 *
 * @module
 */

/** Keys of one watch. */
export class ReplayTracker {
  #known = new Set<string>();
  /** Keys that came since the watch began again; undefined when it has not, or all have come. */
  #seen: Set<string> | undefined;

  /** The watch begins again: everything that is there follows. */
  restart(): void {
    this.#seen = new Set();
  }

  /** A value came for a key. */
  put(key: string): void {
    this.#known.add(key);
    this.#seen?.add(key);
  }

  /** A key was deleted. */
  delete(key: string): void {
    this.#known.delete(key);
    this.#seen?.delete(key);
  }

  /**
   * Everything that is there has come.
   *
   * @returns the keys that are known from before and have not come again
   */
  current(): string[] {
    const seen = this.#seen;
    if (seen === undefined) return [];
    const vanished = [...this.#known].filter((key) => !seen.has(key));
    this.#known = seen;
    this.#seen = undefined;
    return vanished;
  }
}
