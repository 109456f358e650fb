/**
 * Durable replacement of a whole file (seed, Recovery: "temporary files, file sync, atomic rename, and parent-directory
 * sync").
 *
 * After a power cut at any moment the path has either its old bytes (or is missing, if there were none) or all of the
 * new ones; once the call has returned, the new ones.
 *
 * @module
 */
import { isFleetError } from "../../contracts/errors.ts";
import { TEMP_NAME_TRIES_MAX } from "../../contracts/limits.ts";
import type { FileSystem, WritableFile } from "./file_system.ts";
import { syncDirectory, syncFile } from "./fsync.ts";
import { SyncBehindFile } from "./sync_behind_file.ts";
import { splitPath, tempPath, type TempSuffix } from "./temp_name.ts";

/** How a file is replaced. */
export interface ReplaceFileOptions {
  /** Permission bits of the new file, from its creation on. */
  readonly mode: number;
  /** Source of the temporary name. Default 64 random bits. */
  readonly suffix?: TempSuffix;
}

async function createTemp(
  fs: FileSystem,
  path: string,
  options: ReplaceFileOptions,
): Promise<{ temp: string; file: WritableFile }> {
  for (let tries = 1;; tries++) {
    const temp = tempPath(path, options.suffix);
    try {
      return { temp, file: await fs.create(temp, options.mode) };
    } catch (error) {
      if (tries >= TEMP_NAME_TRIES_MAX || !isFleetError(error, "E_FS_EEXIST")) throw error;
    }
  }
}

/**
 * Removes what a failed call leaves behind. The first failure is the one that the caller must see, so a second one here
 * is dropped; the leftover is then found by `removeStaleTemps`.
 */
export async function discardTemp(fs: FileSystem, temp: string, file?: WritableFile): Promise<void> {
  await file?.close().catch(() => {});
  await fs.remove(temp).catch(() => {});
}

/**
 * Renames a file whose data is durable already over another path, and makes that durable too.
 *
 * @param fs The file system
 * @param from A synced file
 * @param to Where it goes; what stood there is replaced
 * @throws {FleetError} `E_FSYNC`, fatal, when a directory cannot be synced; `E_FS_*` when nothing was renamed
 */
export async function renameDurably(fs: FileSystem, from: string, to: string): Promise<void> {
  await fs.rename(from, to);
  const source = splitPath(from).directory;
  const destination = splitPath(to).directory;
  // The new name first: the loss of the old one must not become durable before it.
  await syncDirectory(fs, destination);
  if (source !== destination) await syncDirectory(fs, source);
}

/**
 * Replaces a file by what a writer puts into it, for content that does not fit into memory. When the writer throws, the
 * old file is untouched and the temporary one gone.
 *
 * @param fs The file system
 * @param path What is replaced; its directory must exist
 * @param options Mode and temporary name
 * @param writeContent Writes the content; must neither sync nor close. It is told the temporary path, from which it may
 * rename the file away before it throws
 * @returns what the writer returned
 * @throws {FleetError} `E_FSYNC`, fatal; `E_FS_*` with the old file intact
 */
export async function replaceFileWith<T>(
  fs: FileSystem,
  path: string,
  options: ReplaceFileOptions,
  writeContent: (file: WritableFile, temp: string) => Promise<T>,
): Promise<T> {
  const { temp, file: plainFile } = await createTemp(fs, path, options);
  const file = new SyncBehindFile(plainFile, temp);
  let result: T;
  try {
    result = await writeContent(file, temp);
    // Data before name: a rename may reach the disk first, and would then name an empty or torn file.
    await syncFile(file, temp);
    await file.close();
    await fs.rename(temp, path);
  } catch (error) {
    await discardTemp(fs, temp, file);
    throw error;
  }
  await syncDirectory(fs, splitPath(path).directory);
  return result;
}

/**
 * Replaces a file by the given bytes.
 *
 * @param fs The file system
 * @param path What is replaced; its directory must exist
 * @param bytes The whole new content
 * @param options Mode and temporary name
 * @throws {FleetError} `E_FSYNC`, fatal; `E_FS_*` with the old file intact
 */
export function replaceFile(
  fs: FileSystem,
  path: string,
  bytes: Uint8Array,
  options: ReplaceFileOptions,
): Promise<void> {
  return replaceFileWith(fs, path, options, (file) => file.write(bytes));
}
