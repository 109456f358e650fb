/**
 * What keeps the agent from its work, for heartbeats and device info: one line per cause, until the cause is gone.
 *
 * @module
 */
import { bounded } from "../contracts/formats.ts";

/** What keeps the agent from its work. */
export class Blockers {
  readonly #causes = new Map<string, string>();
  readonly #onChange: () => void;

  /** @param onChange Called when the text changes */
  constructor(onChange: () => void = () => {}) {
    this.#onChange = onChange;
  }

  /**
   * Says or takes back what a cause does.
   *
   * @param cause What blocks: "updater", "desired-state"
   * @param text What it does, one line; null when it is gone
   */
  set(cause: string, text: string | null): void {
    const before = this.text();
    if (text === null) this.#causes.delete(cause);
    else this.#causes.set(cause, text);
    if (this.text() !== before) this.#onChange();
  }

  /** All causes in one bounded line, or undefined when there is none. */
  text(): string | undefined {
    if (this.#causes.size === 0) return undefined;
    return bounded([...this.#causes].map(([cause, text]) => `${cause}: ${text}`).join("; "));
  }
}
