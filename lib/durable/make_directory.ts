/**
 * Durable creation of a directory.
 *
 * @module
 */
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
  const parents: string[] = [];
  for (let at = path; at !== "/" && await fs.stat(at) === null; at = splitPath(at).directory) {
    parents.push(splitPath(at).directory);
  }
  await fs.makeDirectory(path, mode);
  // Outermost first, so that a name never becomes durable below one that is not.
  for (const parent of parents.reverse()) await syncDirectory(fs, parent);
}
