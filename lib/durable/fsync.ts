/**
 * Syncs whose failure is fatal. After a failed fsync the kernel may have dropped the dirty pages and marked them clean:
 * a second fsync would succeed and mean nothing, so the process must end and recover from what the disk says
 * (DESIGN 5, Journal: "A failed fsync is fatal").
 *
 * @module
 */
import { errorText, FleetError, isFleetError } from "../../contracts/errors.ts";
import type { FileSystem, WritableFile } from "./file_system.ts";

function fsyncError(what: string, cause: unknown): FleetError {
  return new FleetError(`Cannot know what is on the disk: ${what}: ${errorText(cause)}`, {
    code: "E_FSYNC",
    retry: "fatal",
    failureClass: "environment",
    cause,
  });
}

/**
 * Makes a file's data and size durable.
 *
 * @param file The open file
 * @param path Its path, for the message
 * @throws {FleetError} `E_FSYNC`, fatal
 */
export async function syncFile(file: WritableFile, path: string): Promise<void> {
  try {
    await file.sync();
  } catch (error) {
    if (isFleetError(error, "E_FSYNC")) throw error;
    throw fsyncError(`the sync of ${path} failed`, error);
  }
}

/**
 * Makes a directory's names durable.
 *
 * @param fs The file system
 * @param directory The directory
 * @throws {FleetError} `E_FSYNC`, fatal
 */
export async function syncDirectory(fs: FileSystem, directory: string): Promise<void> {
  try {
    await fs.syncDirectory(directory);
  } catch (error) {
    throw fsyncError(`the sync of directory ${directory} failed`, error);
  }
}
