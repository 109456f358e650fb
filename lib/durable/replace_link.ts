/**
 * Durable selection by symbolic link (seed, Recovery: "a temporary symlink, atomic rename, and parent-directory sync").
 *
 * After a power cut at any moment the path is the old link or the new one; once the call has returned, the new one.
 *
 * @module
 */
import { isFleetError } from "../../contracts/errors.ts";
import type { FileSystem } from "./file_system.ts";
import { syncDirectory } from "./fsync.ts";
import { discardTemp } from "./replace_file.ts";
import { splitPath, tempPath, type TempSuffix } from "./temp_name.ts";

/** The target of a link, or null when the path is free or has something that is no link, which is replaced. */
async function currentTarget(fs: FileSystem, linkPath: string): Promise<string | null> {
  try {
    return await fs.readLink(linkPath);
  } catch (error) {
    if (isFleetError(error, "E_FS_EINVAL")) return null;
    throw error;
  }
}

/**
 * Points a symbolic link at a target; idempotent.
 *
 * @param fs The file system
 * @param linkPath The link; its directory must exist
 * @param target What it shall point at; need not exist
 * @param suffix Random part of the temporary name. Default 64 random bits
 * @returns whether it pointed elsewhere before
 * @throws {FleetError} `E_FSYNC`, fatal; `E_FS_*` with the old link intact
 */
export async function selectLink(
  fs: FileSystem,
  linkPath: string,
  target: string,
  suffix?: TempSuffix,
): Promise<boolean> {
  const { directory } = splitPath(linkPath);
  const changed = await currentTarget(fs, linkPath) !== target;
  if (changed) {
    const temp = tempPath(linkPath, suffix);
    await fs.symlink(target, temp);
    try {
      await fs.rename(temp, linkPath);
    } catch (error) {
      await discardTemp(fs, temp);
      throw error;
    }
  }
  // Also when it points there already: a crash before the last sync may have left the name in memory only.
  await syncDirectory(fs, directory);
  return changed;
}
