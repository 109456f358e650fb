/**
 * The journal on disk: one checksummed document, replaced whole (DESIGN 5, Journal; docs/decisions/0004).
 *
 * A full disk must not stop a transaction that has begun, since a rollback has to be recorded. The store therefore
 * keeps preallocated slots beside the journal: a slot is overwritten in place and renamed over the journal, which needs
 * no new block. One large file that is deleted on demand would not do, because whoever fills the disk takes the freed
 * blocks first.
 *
 * @module
 */
import { FleetError, isFleetError } from "../contracts/errors.ts";
import { JOURNAL_MAX_BYTES, JOURNAL_RESERVE_SLOTS } from "../contracts/limits.ts";
import type { ManagedPaths } from "../contracts/managed_paths.ts";
import type { FileSystem } from "../lib/durable/file_system.ts";
import { syncDirectory, syncFile } from "../lib/durable/fsync.ts";
import { makeDirectoryDurably } from "../lib/durable/make_directory.ts";
import { renameDurably, replaceFile } from "../lib/durable/replace_file.ts";
import { removeStaleTemps } from "../lib/durable/temp_name.ts";
import { decodeJournal, encodeJournal } from "../lib/journal/journal_codec.ts";
import { EMPTY_RECORD, RECORD_SCHEMA, recordDecoder, type UpdaterRecord } from "./core/record.ts";

const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;

function isOutOfSpace(error: unknown): boolean {
  return isFleetError(error, "E_FS_ENOSPC") || isFleetError(error, "E_FS_EDQUOT");
}

/** The journal of one device. One process holds it at a time, under the updater's lock. */
export class JournalStore {
  readonly #fs: FileSystem;
  readonly #paths: ManagedPaths;
  #sequence: number;
  #slots: string[] = [];

  private constructor(fs: FileSystem, paths: ManagedPaths, sequence: number) {
    this.#fs = fs;
    this.#paths = paths;
    this.#sequence = sequence;
  }

  /**
   * Reads the journal, removes what a crash left beside it, and counts the reserve. A missing journal means that there
   * has been no transaction.
   *
   * @param fs The file system
   * @param paths The managed paths
   * @throws {FleetError} `E_JOURNAL_CORRUPT` when there is a journal that cannot be trusted; nothing is changed then
   */
  static async open(fs: FileSystem, paths: ManagedPaths): Promise<{ store: JournalStore; record: UpdaterRecord }> {
    await makeDirectoryDurably(fs, paths.stateDirectory, DIRECTORY_MODE);
    await makeDirectoryDurably(fs, paths.reserveDirectory, DIRECTORY_MODE);
    const bytes = await readJournal(fs, paths.journal);
    const found = decodeRecord(bytes, paths);
    // An updater that was killed right after a rename left a name in memory only: what is acted upon must be durable.
    if (bytes !== null) await syncDirectory(fs, paths.stateDirectory);
    const store = new JournalStore(fs, paths, found.seq);
    await removeStaleTemps(fs, paths.stateDirectory);
    await removeStaleTemps(fs, paths.reserveDirectory);
    await store.#countSlots();
    return { store, record: found.body };
  }

  /**
   * Reads the journal and changes nothing: for looking at it while no updater runs.
   *
   * @param fs The file system
   * @param paths The managed paths
   * @throws {FleetError} `E_JOURNAL_CORRUPT`
   */
  static async read(fs: FileSystem, paths: ManagedPaths): Promise<UpdaterRecord> {
    return decodeRecord(await readJournal(fs, paths.journal), paths).body;
  }

  /**
   * Puts a record where a journal stands that cannot be trusted: for repairs by root only.
   *
   * @param fs The file system
   * @param paths The managed paths
   * @param record The record
   */
  static async overwrite(fs: FileSystem, paths: ManagedPaths, record: UpdaterRecord): Promise<void> {
    await new JournalStore(fs, paths, 0).store(record);
  }

  /**
   * Makes a record durable. When it returns, a crash at any later moment finds this record or a later one.
   *
   * @param record The record
   * @param options `spare`: a full disk keeps the record before, instead of using the reserve. Default false
   * @throws {FleetError} `E_FSYNC` (fatal) when it cannot be known what is on the disk; any other error leaves the
   * previous record in place
   */
  async store(record: UpdaterRecord, { spare = false }: { readonly spare?: boolean } = {}): Promise<void> {
    const bytes = encodeJournal({ schema: RECORD_SCHEMA, seq: this.#sequence + 1, body: record }, JOURNAL_MAX_BYTES);
    try {
      await replaceFile(this.#fs, this.#paths.journal, bytes, { mode: FILE_MODE });
    } catch (error) {
      if (!isOutOfSpace(error)) throw error;
      if (spare) return;
      await this.#storeFromReserve(bytes, error);
    }
    this.#sequence++;
  }

  /** Whether every slot is there: without them no new attempt is admitted. */
  get reserveComplete(): boolean {
    return this.#slots.length === JOURNAL_RESERVE_SLOTS;
  }

  /** Makes missing slots. @returns whether the reserve is complete; a full disk is no error here */
  async refillReserve(): Promise<boolean> {
    const present = new Set(this.#slots);
    try {
      for (const slot of this.#allSlots()) {
        if (present.has(slot)) continue;
        // Written, not truncated to size: only written blocks are allocated.
        await replaceFile(this.#fs, slot, new Uint8Array(JOURNAL_MAX_BYTES), { mode: FILE_MODE });
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
      await renameDurably(this.#fs, slot, this.#paths.journal);
      return;
    }
    throw new FleetError("Cannot write the journal: the disk is full and its reserve is used up", {
      code: "E_JOURNAL_NO_SPACE",
      retry: "transient",
      failureClass: "environment",
      cause,
    });
  }

  #allSlots(): string[] {
    return Array.from(
      { length: JOURNAL_RESERVE_SLOTS },
      (_, index) => `${this.#paths.reserveDirectory}/slot-${String(index).padStart(2, "0")}`,
    );
  }

  async #countSlots(): Promise<void> {
    this.#slots = [];
    for (const slot of this.#allSlots()) {
      const info = await this.#fs.stat(slot);
      // A slot of another size was being used when the power went: it is made anew.
      if (info?.kind === "file" && info.sizeBytes === JOURNAL_MAX_BYTES) this.#slots.push(slot);
    }
  }
}

function decodeRecord(bytes: Uint8Array | null, paths: ManagedPaths): { seq: number; body: UpdaterRecord } {
  if (bytes === null) return { seq: 0, body: EMPTY_RECORD };
  return decodeJournal(bytes, { schema: RECORD_SCHEMA, body: recordDecoder(paths), maxBytes: JOURNAL_MAX_BYTES });
}

async function readJournal(fs: FileSystem, path: string): Promise<Uint8Array | null> {
  try {
    return await fs.readFile(path, JOURNAL_MAX_BYTES);
  } catch (error) {
    if (!isFleetError(error, "E_FS_TOO_LARGE")) throw error;
    throw new FleetError(`Cannot trust the journal ${path}: it has more than ${JOURNAL_MAX_BYTES} bytes`, {
      code: "E_JOURNAL_CORRUPT",
      cause: error,
    });
  }
}
