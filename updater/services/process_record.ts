/**
 * What the process adapter remembers of the agent's process, so that an updater that was killed does not cost the agent
 * a restart: the next one adopts a process that is ready, and stops any other.
 *
 * The record counts only within the boot in which it was written, so it need not survive a power cut: what a failed
 * sync loses is void after the cut anyway. Without a usable record the process is found by its environment, and stopped.
 *
 * @module
 */
import { decodeBytes, flag, integer, object } from "../../contracts/codec.ts";
import type { Decoded } from "../../contracts/codec.ts";
import { errorText, isFleetError } from "../../contracts/errors.ts";
import { shortText } from "../../contracts/formats.ts";
import { PROCESS_RECORD_MAX_BYTES } from "../../contracts/limits.ts";
import type { FileSystem } from "../../lib/durable/file_system.ts";
import { replaceFile } from "../../lib/durable/replace_file.ts";
import type { Logger } from "../../lib/log.ts";

const RECORD_MODE = 0o600;

const processRecord = object({
  schema: integer(1, 1),
  /** The boot that pid and start belong to. */
  bootId: shortText,
  pid: integer(2),
  /** Start of the process in clock ticks since boot: a later process with the same pid has another. */
  startTicks: integer(0),
  invocationId: shortText,
  /** Whether it had sent READY. */
  ready: flag,
});
/** What is remembered of the agent's process. */
export type ProcessRecord = Decoded<typeof processRecord>;

/** Where the record is kept. All calls are made in order; none throws. */
export class ProcessRecordFile {
  readonly #fs: FileSystem;
  readonly #path: string;
  readonly #log: Logger;
  #last: Promise<void> = Promise.resolve();

  constructor(fs: FileSystem, path: string, log: Logger) {
    this.#fs = fs;
    this.#path = path;
    this.#log = log;
  }

  /** The record, or null when there is none that can be used. */
  async load(): Promise<ProcessRecord | null> {
    try {
      const bytes = await this.#fs.readFile(this.#path, PROCESS_RECORD_MAX_BYTES);
      return bytes === null ? null : decodeBytes(processRecord, bytes, PROCESS_RECORD_MAX_BYTES);
    } catch (error) {
      this.#log.warn("process record not usable", { path: this.#path, error: errorText(error) });
      return null;
    }
  }

  /** Writes a record. A disk that is full must not keep the agent from running. */
  save(record: ProcessRecord): void {
    const bytes = new TextEncoder().encode(`${JSON.stringify(record)}\n`);
    this.#then("written", () => replaceFile(this.#fs, this.#path, bytes, { mode: RECORD_MODE }));
  }

  /** Removes the record. */
  clear(): void {
    this.#then("removed", async () => {
      await this.#fs.remove(this.#path);
    });
  }

  /** Resolves when everything asked for so far is done. */
  settled(): Promise<void> {
    return this.#last;
  }

  #then(what: string, work: () => Promise<void>): void {
    this.#last = this.#last.then(work).catch((error) => {
      // The text names a new temporary file each time, which would make each failure another state.
      const code = isFleetError(error) ? error.code : errorText(error);
      this.#log.state("process record", `process record not ${what}`, { code }, "warn");
    });
  }
}
