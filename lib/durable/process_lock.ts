/**
 * A lock that at most one process holds, and that ends with its holder however that ends (`flock(2)`).
 *
 * @module
 */
import { LOCK_TRIES_MAX } from "../../contracts/limits.ts";
import { errnoError, fileSystemError } from "./file_system_error.ts";

/** A held lock. */
export interface ProcessLock {
  /** The lock file. */
  readonly path: string;
  /** Gives the lock up; idempotent. The file stays: removing it would let two processes lock two files of one name. */
  release(): void;
}

/** Whether an open file is still the one that its path names. */
function isAt(file: Deno.FsFile, path: string): boolean {
  const opened = file.statSync();
  try {
    const named = Deno.statSync(path);
    return named.ino === opened.ino && named.dev === opened.dev;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/**
 * Takes a lock without waiting.
 *
 * @param path The lock file, created with mode 0600 when missing; its directory must exist
 * @returns the lock, or null when another holder has it
 * @throws {FleetError} `E_FS_*` when the file cannot be opened or locked
 */
export async function acquireLock(path: string): Promise<ProcessLock | null> {
  try {
    for (let tries = 0; tries < LOCK_TRIES_MAX; tries++) {
      const file = await Deno.open(path, { read: true, write: true, create: true, mode: 0o600 });
      let held = false;
      try {
        if (!await file.tryLock(true)) return null;
        held = isAt(file, path);
      } finally {
        if (!held) file.close();
      }
      if (held) return heldLock(file, path);
    }
  } catch (error) {
    throw fileSystemError(error, `lock ${path}`);
  }
  throw errnoError("EBUSY", `lock ${path}`);
}

function heldLock(file: Deno.FsFile, path: string): ProcessLock {
  let open = true;
  return {
    path,
    release(): void {
      if (open) file.close();
      open = false;
    },
  };
}
