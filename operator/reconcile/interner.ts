/**
 * Makes equal texts one text in memory: a fleet says the same few versions and names a hundred thousand times.
 *
 * @module
 */
import { INTERNED_TEXTS_MAX } from "../../contracts/limits.ts";

/** Remembers texts. */
export class Interner {
  readonly #texts = new Map<string, unknown>();

  /** The one copy of a text. */
  text(value: string): string {
    return this.shared(value, value);
  }

  /**
   * The one copy of a value that never changes.
   *
   * @param key A text that is equal if and only if the values are
   * @param value The value, used when it is the first of its key
   */
  shared<T>(key: string, value: T): T {
    return this.sharedBy(key, () => value);
  }

  /** As {@link shared}, for a value that is worth making only once. */
  sharedBy<T>(key: string, make: () => T): T {
    const known = this.#texts.get(key);
    if (known !== undefined) return known as T;
    const value = make();
    // Full means that somebody sends ever new texts: what is known stays shared, the rest is kept as it came.
    if (this.#texts.size < INTERNED_TEXTS_MAX) this.#texts.set(key, value);
    return value;
  }
}
