/**
 * `fleet-updater repair --renew-ledger`: root's way out of a ledger that cannot be trusted, or whose clock was carried into
 * the future. The ledger is archived, and an empty one takes its place that refuses every attempt made until now: whether
 * one of them ran before is not known any more (DESIGN 5, System upgrades).
 *
 * @module
 */
import { FleetError } from "../../contracts/errors.ts";
import { CLOCK_EARLIEST_MS } from "../../contracts/limits.ts";
import type { ManagedPaths } from "../../contracts/managed_paths.ts";
import type { Clock } from "../../lib/deadline.ts";
import type { FileSystem } from "../../lib/durable/file_system.ts";
import { makeDirectoryDurably } from "../../lib/durable/make_directory.ts";
import { acquireLock } from "../../lib/durable/process_lock.ts";
import { EXIT_CODES } from "../../lib/program.ts";
import { archiveFile } from "../repair/archive_file.ts";
import { EMPTY_LEDGER } from "../system_upgrade/core/ledger.ts";
import { LedgerStore } from "../system_upgrade/ledger_store.ts";

/** What a renewal works with. */
export interface RenewLedgerCommand {
  readonly paths: ManagedPaths;
  readonly fs: FileSystem;
  readonly clock: Pick<Clock, "nowMs">;
  /** Takes what happens meanwhile. */
  readonly progress: (text: string) => void;
}

function refused(message: string, code: string): FleetError {
  return new FleetError(`Cannot renew the ledger: ${message}`, { code, failureClass: "environment" });
}

/**
 * Archives the ledger and begins a new one.
 *
 * @param command Paths, files, clock
 * @returns the exit code
 * @throws {FleetError} `E_REPAIR_BUSY` while an updater runs; `E_CLOCK_INSANE` when the clock was never set, since what it
 * says decides about attempts from then on; nothing is changed then
 */
export async function renewLedgerCommand({ paths, fs, clock, progress }: RenewLedgerCommand): Promise<number> {
  const nowMs = clock.nowMs();
  if (nowMs < CLOCK_EARLIEST_MS) throw refused("the clock was never set; set it first", "E_CLOCK_INSANE");
  await makeDirectoryDurably(fs, paths.stateDirectory, 0o700);
  const lock = await acquireLock(paths.updaterLock);
  if (lock === null) throw refused("an updater runs; stop it first: systemctl stop fleet-updater", "E_REPAIR_BUSY");
  try {
    const archive = await archiveFile(fs, paths.ledger, nowMs);
    await LedgerStore.overwrite(fs, paths, { ...EMPTY_LEDGER, clockMs: nowMs, lostUntilMs: nowMs });
    progress(archive === null ? "There was no ledger" : `The old ledger is kept as ${archive}`);
    progress("Start the updater now: systemctl start fleet-updater; runs made until now are refused as LedgerLost");
    return EXIT_CODES.ok;
  } finally {
    lock.release();
  }
}
