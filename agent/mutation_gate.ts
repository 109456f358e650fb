/**
 * Admits mutations of workloads while the agent is READY and not draining (`Fleet agent upgrades`, Stop, switch, start).
 *
 * @module
 */

/** What became of a mutation. */
export type Mutation<T> = { readonly admitted: true; readonly value: T } | { readonly admitted: false };

/** Admits mutations of workloads. Closed at first. */
export class MutationGate {
  #open = false;
  #running = 0;
  #idle = Promise.withResolvers<void>();

  constructor() {
    this.#idle.resolve();
  }

  /** Whether mutations are admitted. */
  get isOpen(): boolean {
    return this.#open;
  }

  /** Admits mutations from now on. */
  open(): void {
    this.#open = true;
  }

  /** Admits none from now on; those that run go on. */
  close(): void {
    this.#open = false;
  }

  /** Resolves when no mutation runs. */
  idle(): Promise<void> {
    return this.#idle.promise;
  }

  /**
   * Runs a mutation if the gate is open.
   *
   * @param mutation What changes workloads; once begun it is never interrupted
   */
  async run<T>(mutation: () => Promise<T>): Promise<Mutation<T>> {
    if (!this.#open) return { admitted: false };
    if (this.#running++ === 0) this.#idle = Promise.withResolvers<void>();
    try {
      return { admitted: true, value: await mutation() };
    } finally {
      if (--this.#running === 0) this.#idle.resolve();
    }
  }
}
