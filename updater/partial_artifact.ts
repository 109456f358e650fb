/**
 * What a transfer that broke for good leaves: at most one partial file, named by the SHA-256 of the whole, which a later
 * attempt for the same bytes takes up (DESIGN 5, Fetch).
 *
 * It stands beside the binaries, so that keeping it is one rename and costs a device no second copy. Nothing of it is
 * trusted: what was kept is hashed again, and the digest of the whole decides. It is therefore never synced.
 *
 * @module
 */
import { isFleetError } from "../contracts/errors.ts";
import type { FileSystem } from "../lib/durable/file_system.ts";
import { joinPath } from "../lib/durable/temp_name.ts";

const PARTIAL_NAME_REGEXP = /^\.partial-[0-9a-f]{64}$/;

/**
 * Where the partial file of an artifact stands.
 *
 * @param directory Directory of the binaries
 * @param sha256 SHA-256 of the whole artifact
 */
export function partialPath(directory: string, sha256: string): string {
  return joinPath(directory, `.partial-${sha256}`);
}

/**
 * Whether what came before an error may be the beginning of the artifact: the way to it broke, and nothing else.
 *
 * @param error What ended the transfer
 */
export function isWorthKeeping(error: unknown): boolean {
  return isFleetError(error) && error.failureClass === "environment" && error.code.startsWith("E_FETCH_") &&
    error.code !== "E_FETCH_RANGE";
}

/** What a transfer fails with when its parts do not belong together. */
const MIXED_CODES: ReadonlySet<string> = new Set(["E_DIGEST_MISMATCH", "E_FETCH_RANGE", "E_BYTE_LIMIT"]);

/**
 * Whether the artifact is to be begun from its start: it changed while it was fetched, or it was put together from parts
 * that nothing proved to belong together. A wrong digest of what came in one piece is none of that.
 *
 * @param error What ended the transfer
 * @param unproven Whether a kept file, or a response without a validator, was a part of it
 */
export function isToStartOver(error: unknown, unproven: boolean): boolean {
  return isFleetError(error) && (error.code === "E_FETCH_RANGE" || unproven && MIXED_CODES.has(error.code));
}

/**
 * Keeps a temporary file as the partial one. That is a convenience: when it fails, the caller removes the file.
 *
 * @param fs The file system
 * @param temp The temporary file
 * @param path {@link partialPath}
 */
export async function keepPartial(fs: FileSystem, temp: string, path: string): Promise<void> {
  try {
    await fs.rename(temp, path);
  } catch (error) {
    if (!isFleetError(error)) throw error;
  }
}

/**
 * Removes partial files.
 *
 * @param fs The file system
 * @param directory Directory of the binaries
 * @param except Path of one that stays. Default none
 */
export async function removePartials(fs: FileSystem, directory: string, except?: string): Promise<void> {
  for (const name of await fs.list(directory)) {
    const path = joinPath(directory, name);
    if (PARTIAL_NAME_REGEXP.test(name) && path !== except) await fs.remove(path);
  }
}
