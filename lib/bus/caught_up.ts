/**
 * Tells when a reader has had everything that was there.
 *
 * @module
 */

/**
 * Decides that a reader of newest values is complete.
 *
 * The server's count of pending messages is a hint only: while keys are written again during the read, it reaches zero
 * too early or never does (measured with nats-server 2.10.27 and 2.15.1). What is certain is order: the server sends
 * the newest values that were there, by revision, and then what came after, by revision. So when the count says zero, or
 * the server says that it is idle, the newest revision under the filter is asked for; once that one or a later one has
 * come, so has every key that was there.
 */
export class CaughtUp {
  readonly #askNewest: () => Promise<number>;
  readonly #onCaughtUp: () => void;
  #lastRevision = 0;
  #target = Number.POSITIVE_INFINITY;
  #asking = false;
  #ended = false;

  /**
   * @param askNewest The newest revision under the filter, 0 for none
   * @param onCaughtUp Called once
   */
  constructor(askNewest: () => Promise<number>, onCaughtUp: () => void) {
    this.#askNewest = askNewest;
    this.#onCaughtUp = onCaughtUp;
  }

  /** An entry has been handed over. */
  entry(revision: number, pending: number): void {
    this.#lastRevision = revision;
    if (this.#ended) return;
    if (revision >= this.#target) this.#finish();
    else if (pending === 0) void this.#ask();
  }

  /** The server has nothing to send. */
  idle(): void {
    if (!this.#ended) void this.#ask();
  }

  /** The reader is over: nothing is called any more. */
  stop(): void {
    this.#ended = true;
  }

  async #ask(): Promise<void> {
    if (this.#asking) return;
    this.#asking = true;
    try {
      const newest = await this.#askNewest();
      // The first answer stands: under steady writes a later one would move away for ever.
      this.#target = Math.min(this.#target, newest);
      if (!this.#ended && this.#lastRevision >= this.#target) this.#finish();
    } catch {
      // The server's next sign of idleness asks again.
    } finally {
      this.#asking = false;
    }
  }

  #finish(): void {
    this.#ended = true;
    this.#onCaughtUp();
  }
}
