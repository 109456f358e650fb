/**
 * Durable creation of a directory.
 *
 * @module
 */
import { isFleetError } from "../../contracts/errors.ts";
import type { FileSystem } from "./file_system.ts";
import { syncDirectory } from "./fsync.ts";
import { splitPath } from "./temp_name.ts";

/**
 * Creates a directory with its missing parents and makes their names durable; a directory that is there is kept as it
 * is. Without this, a journal whose own directory entry is only in memory is gone after a power cut.
 *
 * @param fs The file system
 * @param path The directory
 * @param mode Permission bits of what is created, narrowed by the umask
 * @throws {FleetError} `E_FSYNC`, fatal; `E_FS_*`
 */
export async function makeDirectoryDurably(fs: FileSystem, path: string, mode: number): Promise<void> {
  const missing: string[] = [];
  let existing = path;
  while (existing !== "/" && await fs.stat(existing) === null) {
    missing.push(existing);
    existing = splitPath(existing).directory;
  }
  // A program that was killed right after making this one has left its name in memory only.
  if (existing !== "/") await syncWherePossible(fs, splitPath(existing).directory);
  // One by one, outermost first, so that at most one name is ever not durable.
  for (const directory of missing.reverse()) {
    await fs.makeDirectory(directory, mode);
    await syncDirectory(fs, splitPath(directory).directory);
  }
}

/** A read-only file system, which may refuse to sync, has no name that is not durable. */
async function syncWherePossible(fs: FileSystem, directory: string): Promise<void> {
  try {
    await syncDirectory(fs, directory);
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    if (!isFleetError(cause, "E_FS_EINVAL") && !isFleetError(cause, "E_FS_EROFS")) throw error;
  }
}
