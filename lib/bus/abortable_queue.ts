/**
 * A queue with one taker, that ends with a signal.
 *
 * @module
 */

/** Items in order. Whoever pushes bounds it. */
export class AbortableQueue<T> {
  #items: T[] = [];
  #next = 0;
  #wake: (() => void) | undefined;
  readonly #ended: AbortSignal;

  /** @param ended From when it aborts, nothing is given out any more */
  constructor(ended: AbortSignal) {
    this.#ended = ended;
  }

  push(item: T): void {
    this.#items.push(item);
    this.#wake?.();
  }

  clear(): void {
    this.#items = [];
    this.#next = 0;
  }

  /** The next item, when there is one; null when the queue has ended. One caller at a time. */
  async take(): Promise<T | null> {
    while (!this.#ended.aborted) {
      const item = this.#items[this.#next];
      if (item !== undefined) {
        this.#next++;
        if (this.#next === this.#items.length) this.clear();
        return item;
      }
      await this.#untilPushed();
    }
    return null;
  }

  async #untilPushed(): Promise<void> {
    const pushed = Promise.withResolvers<void>();
    const wake = () => pushed.resolve();
    this.#wake = wake;
    this.#ended.addEventListener("abort", wake, { once: true });
    try {
      await pushed.promise;
    } finally {
      this.#wake = undefined;
      this.#ended.removeEventListener("abort", wake);
    }
  }
}
