/**
 * The file that the agent writes its output into. It is a file and not a pipe, because a pipe would break when the
 * updater dies, and the agent with it.
 *
 * @module
 */
import { closeSync, openSync, readSync, renameSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { AGENT_OUTPUT_KEPT_BYTES, AGENT_OUTPUT_MAX_BYTES, OUTPUT_TAIL_BYTES } from "../../contracts/limits.ts";

const OUTPUT_MODE = 0o600;

/** The agent's output. No method throws: output is never a reason not to run the agent. */
export class AgentOutput {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Begins an empty file for a new process and keeps the one before as `.previous`.
   *
   * @param use Called with a descriptor that appends, which is closed afterwards; null when there can be none
   */
  begin<T>(use: (descriptor: number | null) => T): T {
    const descriptor = this.#open();
    try {
      return use(descriptor);
    } finally {
      if (descriptor !== null) closeSync(descriptor);
    }
  }

  #open(): number | null {
    try {
      renameSync(this.#path, `${this.#path}.previous`);
    } catch {
      // There is none before the first start; what cannot be renamed is in the way below.
    }
    try {
      // Exclusive, so that nothing that was put here, such as a link, is written through.
      return openSync(this.#path, "ax", OUTPUT_MODE);
    } catch {
      return null;
    }
  }

  /** The end of the output. */
  tail(maxBytes: number = OUTPUT_TAIL_BYTES): Uint8Array {
    let descriptor: number | undefined;
    try {
      descriptor = openSync(this.#path, "r");
      const { size } = statSync(this.#path);
      const bytes = new Uint8Array(Math.min(size, maxBytes));
      return bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, size - bytes.length));
    } catch {
      return new Uint8Array();
    } finally {
      if (descriptor !== undefined) closeSync(descriptor);
    }
  }

  /** Drops the older part of an output that has grown above {@link AGENT_OUTPUT_MAX_BYTES}. */
  trim(): void {
    try {
      if (statSync(this.#path).size <= AGENT_OUTPUT_MAX_BYTES) return;
      const kept = this.tail(AGENT_OUTPUT_KEPT_BYTES);
      // The process appends, so it goes on after whatever is there.
      truncateSync(this.#path, 0);
      writeFileSync(this.#path, kept, { flag: "a" });
    } catch {
      // Removed by hand: the next start makes a new one.
    }
  }
}
