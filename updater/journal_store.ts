/**
 * The journal of agent upgrades on disk.
 *
 * @module
 */
import { JOURNAL_MAX_BYTES, JOURNAL_RESERVE_SLOTS } from "../contracts/limits.ts";
import type { ManagedPaths } from "../contracts/managed_paths.ts";
import type { FileSystem } from "../lib/durable/file_system.ts";
import { EMPTY_RECORD, RECORD_SCHEMA, recordDecoder, type UpdaterRecord } from "./core/record.ts";
import { type RecordFormat, RecordStore } from "./record_store.ts";

/** The journal of one device. */
export type JournalStore = RecordStore<UpdaterRecord>;

function formatOf(paths: ManagedPaths): RecordFormat<UpdaterRecord> {
  return {
    name: "journal",
    path: paths.journal,
    reserveDirectory: paths.reserveDirectory,
    reserveSlots: JOURNAL_RESERVE_SLOTS,
    maxBytes: JOURNAL_MAX_BYTES,
    schema: RECORD_SCHEMA,
    decoder: recordDecoder(paths),
    empty: EMPTY_RECORD,
  };
}

/** The journal below managed paths; each function is the one of {@link RecordStore} by the same name. */
export const JournalStore = {
  /** Opens the journal. @throws {FleetError} `E_JOURNAL_CORRUPT`; nothing is changed then */
  open(fs: FileSystem, paths: ManagedPaths): Promise<{ store: JournalStore; record: UpdaterRecord }> {
    return RecordStore.open(fs, formatOf(paths));
  },
  /** Reads it and changes nothing. @throws {FleetError} `E_JOURNAL_CORRUPT` */
  read(fs: FileSystem, paths: ManagedPaths): Promise<UpdaterRecord> {
    return RecordStore.read(fs, formatOf(paths));
  },
  /** Replaces one that cannot be trusted. */
  overwrite(fs: FileSystem, paths: ManagedPaths, record: UpdaterRecord): Promise<void> {
    return RecordStore.overwrite(fs, formatOf(paths), record);
  },
};
