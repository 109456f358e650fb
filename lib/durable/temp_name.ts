/**
 * Names of the temporary files that a durable replace writes beside its target, and their removal after a crash.
 *
 * A name is `.<name>.<16 hexadecimal digits>.tmp`: hidden, in the target's directory (a rename must not cross file
 * systems), and recognisable, so that what a crash left can be removed without guessing.
 *
 * @module
 */
import type { FileSystem } from "./file_system.ts";

/** Yields a fresh random part of a temporary name: 16 hexadecimal digits. */
export type TempSuffix = () => string;

const TEMP_NAME_REGEXP = /^\.(.+)\.[0-9a-f]{16}\.tmp$/;

/** The default {@link TempSuffix}: 64 random bits. */
export function randomSuffix(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Splits a path into directory and name.
 *
 * @param path An absolute path that names an entry
 */
export function splitPath(path: string): { directory: string; name: string } {
  const slash = path.lastIndexOf("/");
  return { directory: slash <= 0 ? "/" : path.slice(0, slash), name: path.slice(slash + 1) };
}

/**
 * Joins a directory and a name.
 *
 * @param directory The directory
 * @param name The entry in it
 */
export function joinPath(directory: string, name: string): string {
  return directory === "/" ? `/${name}` : `${directory}/${name}`;
}

/**
 * A temporary path beside a target.
 *
 * @param path The target
 * @param suffix Random part. Default 64 random bits
 */
export function tempPath(path: string, suffix: TempSuffix = randomSuffix): string {
  const { directory, name } = splitPath(path);
  return joinPath(directory, `.${name}.${suffix()}.tmp`);
}

/**
 * Removes temporary files that a crash left. The caller must hold the lock of the directory's one writer: a living
 * writer's temporary file looks the same.
 *
 * @param fs The file system
 * @param directory Where to look; missing is empty
 * @param name Name of the target whose leftovers go. Default those of every target
 * @returns how many were removed
 */
export async function removeStaleTemps(fs: FileSystem, directory: string, name?: string): Promise<number> {
  let removed = 0;
  for (const entry of await fs.list(directory)) {
    const target = TEMP_NAME_REGEXP.exec(entry)?.[1];
    if (target === undefined || (name !== undefined && target !== name)) continue;
    if (await fs.remove(joinPath(directory, entry))) removed++;
  }
  return removed;
}
