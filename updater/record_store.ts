/**
 * A record on disk: one checksummed document, replaced whole (DESIGN 5, Journal; docs/decisions/0004).
 *
 * A full disk must not stop what has begun, since its end has to be recorded. The store therefore keeps preallocated
 * slots beside the file: a slot is overwritten in place and renamed over the file, which needs no new block. One large
 * file that is deleted on demand would not do, because whoever fills the disk takes the freed blocks first.
 *
 * @module
 */
import type { Decoder } from "../contracts/codec.ts";
import { FleetError, isFleetError } from "../contracts/errors.ts";
import type { FileSystem } from "../lib/durable/file_system.ts";
import { syncDirectory, syncFile } from "../lib/durable/fsync.ts";
import { makeDirectoryDurably } from "../lib/durable/make_directory.ts";
import { renameDurably, replaceFile } from "../lib/durable/replace_file.ts";
import { removeStaleTemps, splitPath } from "../lib/durable/temp_name.ts";
import { decodeJournal, encodeJournal } from "../lib/journal/journal_codec.ts";

const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;

/** What a record is, and where it stands. */
export interface RecordFormat<T> {
  /** What a person calls it. */
  readonly name: string;
  readonly path: string;
  readonly reserveDirectory: string;
  readonly reserveSlots: number;
  readonly maxBytes: number;
  /** Version of the body. */
  readonly schema: number;
  readonly decoder: Decoder<T>;
  /** What a missing file means. */
  readonly empty: T;
}

function isOutOfSpace(error: unknown): boolean {
  return isFleetError(error, "E_FS_ENOSPC") || isFleetError(error, "E_FS_EDQUOT");
}

/** A record of one device. One process holds it at a time, under the updater's lock. */
export class RecordStore<T> {
  readonly #fs: FileSystem;
  readonly #format: RecordFormat<T>;
  #sequence: number;
  #slots: string[] = [];

  private constructor(fs: FileSystem, format: RecordFormat<T>, sequence: number) {
    this.#fs = fs;
    this.#format = format;
    this.#sequence = sequence;
  }

  /**
   * Reads the record, removes what a crash left beside it, and counts the reserve.
   *
   * @param fs The file system
   * @param format What the record is
   * @throws {FleetError} `E_JOURNAL_CORRUPT` when there is a file that cannot be trusted; nothing is changed then
   */
  static async open<T>(fs: FileSystem, format: RecordFormat<T>): Promise<{ store: RecordStore<T>; record: T }> {
    const { directory } = splitPath(format.path);
    await makeDirectoryDurably(fs, directory, DIRECTORY_MODE);
    await makeDirectoryDurably(fs, format.reserveDirectory, DIRECTORY_MODE);
    const bytes = await readRecord(fs, format);
    const found = decodeRecord(bytes, format);
    // An updater that was killed right after a rename left a name in memory only: what is acted upon must be durable.
    if (bytes !== null) await syncDirectory(fs, directory);
    const store = new RecordStore(fs, format, found.seq);
    await removeStaleTemps(fs, directory);
    await removeStaleTemps(fs, format.reserveDirectory);
    await store.#countSlots();
    return { store, record: found.body };
  }

  /**
   * Reads the record and changes nothing: for looking at it while no updater runs.
   *
   * @param fs The file system
   * @param format What the record is
   * @throws {FleetError} `E_JOURNAL_CORRUPT`
   */
  static async read<T>(fs: FileSystem, format: RecordFormat<T>): Promise<T> {
    return decodeRecord(await readRecord(fs, format), format).body;
  }

  /**
   * Puts a record where a file stands that cannot be trusted: for repairs by root only.
   *
   * @param fs The file system
   * @param format What the record is
   * @param record The record
   */
  static async overwrite<T>(fs: FileSystem, format: RecordFormat<T>, record: T): Promise<void> {
    await new RecordStore(fs, format, 0).store(record);
  }

  /**
   * Makes a record durable. When it returns, a crash at any later moment finds this record or a later one.
   *
   * @param record The record
   * @param options `spare`: a full disk keeps the record before, instead of using the reserve. Default false
   * @throws {FleetError} `E_FSYNC` (fatal) when it cannot be known what is on the disk; any other error leaves the
   * previous record in place
   */
  async store(record: T, { spare = false }: { readonly spare?: boolean } = {}): Promise<void> {
    const { path, schema, maxBytes } = this.#format;
    const bytes = encodeJournal({ schema, seq: this.#sequence + 1, body: record }, maxBytes);
    try {
      await replaceFile(this.#fs, path, bytes, { mode: FILE_MODE });
    } catch (error) {
      if (!isOutOfSpace(error)) throw error;
      if (spare) return;
      await this.#storeFromReserve(bytes, error);
    }
    this.#sequence++;
  }

  /** Whether every slot is there: without them no new attempt is admitted. */
  get reserveComplete(): boolean {
    return this.#slots.length === this.#format.reserveSlots;
  }

  /** Makes missing slots. @returns whether the reserve is complete; a full disk is no error here */
  async refillReserve(): Promise<boolean> {
    const present = new Set(this.#slots);
    try {
      for (const slot of this.#allSlots()) {
        if (present.has(slot)) continue;
        // Written, not truncated to size: only written blocks are allocated.
        await replaceFile(this.#fs, slot, new Uint8Array(this.#format.maxBytes), { mode: FILE_MODE });
        this.#slots.push(slot);
      }
    } catch (error) {
      if (!isOutOfSpace(error)) throw error;
    }
    return this.reserveComplete;
  }

  async #storeFromReserve(bytes: Uint8Array, cause: unknown): Promise<void> {
    for (let slot = this.#slots.pop(); slot !== undefined; slot = this.#slots.pop()) {
      const file = await this.#fs.openExisting(slot);
      if (file === null) continue;
      try {
        await file.write(bytes);
        await file.truncate(bytes.byteLength);
        await syncFile(file, slot);
      } finally {
        await file.close();
      }
      await renameDurably(this.#fs, slot, this.#format.path);
      return;
    }
    throw new FleetError(`Cannot write the ${this.#format.name}: the disk is full and its reserve is used up`, {
      code: "E_JOURNAL_NO_SPACE",
      retry: "transient",
      failureClass: "environment",
      cause,
    });
  }

  #allSlots(): string[] {
    const { reserveDirectory, reserveSlots } = this.#format;
    return Array.from(
      { length: reserveSlots },
      (_, index) => `${reserveDirectory}/slot-${String(index).padStart(2, "0")}`,
    );
  }

  async #countSlots(): Promise<void> {
    this.#slots = [];
    for (const slot of this.#allSlots()) {
      const info = await this.#fs.stat(slot);
      // A slot of another size was being used when the power went: it is made anew.
      if (info?.kind === "file" && info.sizeBytes === this.#format.maxBytes) this.#slots.push(slot);
    }
  }
}

function decodeRecord<T>(bytes: Uint8Array | null, format: RecordFormat<T>): { seq: number; body: T } {
  if (bytes === null) return { seq: 0, body: format.empty };
  return decodeJournal(bytes, { schema: format.schema, body: format.decoder, maxBytes: format.maxBytes });
}

async function readRecord<T>(fs: FileSystem, { name, path, maxBytes }: RecordFormat<T>): Promise<Uint8Array | null> {
  try {
    return await fs.readFile(path, maxBytes);
  } catch (error) {
    if (!isFleetError(error, "E_FS_TOO_LARGE")) throw error;
    throw new FleetError(`Cannot trust the ${name} ${path}: it has more than ${maxBytes} bytes`, {
      code: "E_JOURNAL_CORRUPT",
      cause: error,
    });
  }
}
