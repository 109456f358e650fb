/**
 * Keeps long work from keeping the event loop: a program that reads a hundred thousand entries in one breath answers no
 * ping meanwhile, and the broker takes it for dead.
 *
 * @module
 */

/** Lets messages and timers have their turn. */
function letMessagesIn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

/** Time that work may keep the event loop. */
export class EventLoopSlice {
  readonly #sliceMs: number;
  #startMs = performance.now();

  /** @param sliceMs How long, in ms */
  constructor(sliceMs: number) {
    this.#sliceMs = sliceMs;
  }

  /** Whether messages must have their turn now. */
  get isOver(): boolean {
    return performance.now() - this.#startMs >= this.#sliceMs;
  }

  /** Lets messages have their turn, and begins anew. */
  async renew(): Promise<void> {
    await letMessagesIn();
    this.#startMs = performance.now();
  }
}
