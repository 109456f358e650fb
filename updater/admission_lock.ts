/**
 * The updater's one mutating slot: while one attempt is being admitted, of whichever kind, no other is decided about
 * (`Fleet agent upgrades`, Limits; DESIGN 5, System upgrades: they exclude one another).
 *
 * @module
 */

/**
 * Held while an attempt is being admitted, until its record is durable. Whoever wants it looks, waits, and looks again:
 *
 * ```ts ignore
 * while (lock.admitting !== null) await lock.admitting;
 * // Decide and call hold() without waiting in between.
 * ```
 */
export class AdmissionLock {
  #admitting: Promise<void> | null = null;

  /** Resolves when the admission that is under way has ended; null when there is none. Never rejects. */
  get admitting(): Promise<void> | null {
    return this.#admitting;
  }

  /**
   * Holds the lock for an admission.
   *
   * @param admission Makes the attempt's record durable, or refuses it
   * @returns what it returned
   */
  hold<T>(admission: () => Promise<T>): Promise<T> {
    const held = admission().finally(() => this.#admitting = null);
    this.#admitting = held.then(() => {}, () => {});
    return held;
  }
}
