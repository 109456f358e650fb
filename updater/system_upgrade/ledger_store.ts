/**
 * The ledger of system upgrades on disk. It is written as the journal is, with a reserve of its own: the record of an
 * upgrade that filled the disk must not fail for it.
 *
 * @module
 */
import { errorText, FleetError, isFleetError } from "../../contracts/errors.ts";
import { LEDGER_MAX_BYTES, LEDGER_RESERVE_SLOTS } from "../../contracts/limits.ts";
import type { ManagedPaths } from "../../contracts/managed_paths.ts";
import type { FileSystem } from "../../lib/durable/file_system.ts";
import { type RecordFormat, RecordStore } from "../record_store.ts";
import { EMPTY_LEDGER, type Ledger, LEDGER_SCHEMA, ledgerDecoder } from "./core/ledger.ts";

/** The ledger of one device. */
export type LedgerStore = RecordStore<Ledger>;

function formatOf(paths: ManagedPaths): RecordFormat<Ledger> {
  return {
    name: "ledger",
    path: paths.ledger,
    reserveDirectory: paths.ledgerReserveDirectory,
    reserveSlots: LEDGER_RESERVE_SLOTS,
    maxBytes: LEDGER_MAX_BYTES,
    schema: LEDGER_SCHEMA,
    decoder: ledgerDecoder,
    empty: EMPTY_LEDGER,
  };
}

async function trusted<T>(paths: ManagedPaths, reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    if (!isFleetError(error, "E_JOURNAL_CORRUPT")) throw error;
    // The frame is the journal's, and so are its words.
    const problem = errorText(error).replace(/^Cannot trust the (?:journal|ledger)(?: \S+)?: /, "");
    throw new FleetError(`Cannot trust the ledger ${paths.ledger}: ${problem}`, {
      code: "E_LEDGER_CORRUPT",
      failureClass: "internal",
      cause: error,
    });
  }
}

/** The ledger below managed paths; each function is the one of {@link RecordStore} by the same name. */
export const LedgerStore = {
  /** Opens the ledger. @throws {FleetError} `E_LEDGER_CORRUPT`; nothing is changed then */
  open(fs: FileSystem, paths: ManagedPaths): Promise<{ store: LedgerStore; record: Ledger }> {
    return trusted(paths, RecordStore.open(fs, formatOf(paths)));
  },
  /** Reads it and changes nothing. @throws {FleetError} `E_LEDGER_CORRUPT` */
  read(fs: FileSystem, paths: ManagedPaths): Promise<Ledger> {
    return trusted(paths, RecordStore.read(fs, formatOf(paths)));
  },
  /** Replaces one that cannot be trusted. */
  overwrite(fs: FileSystem, paths: ManagedPaths, ledger: Ledger): Promise<void> {
    return RecordStore.overwrite(fs, formatOf(paths), ledger);
  },
};
