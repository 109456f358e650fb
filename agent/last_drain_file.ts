/**
 * `last-drain.json` on the disk. It is written by a drain of an upgrade and by nothing else, so that an idle agent wears
 * no disk.
 *
 * @module
 */
import { canonicalJson } from "../contracts/canonical_json.ts";
import { decodeBytes } from "../contracts/codec.ts";
import { errorText, isFleetError } from "../contracts/errors.ts";
import { LAST_DRAIN_MAX_BYTES } from "../contracts/limits.ts";
import type { FileSystem } from "../lib/durable/file_system.ts";
import { replaceFile } from "../lib/durable/replace_file.ts";
import type { Logger } from "../lib/log.ts";
import { type LastDrain, lastDrain } from "./core/last_drain.ts";

/**
 * What the predecessor left; null when there is nothing that can be read, which costs one number in a status.
 *
 * @param fs The file system
 * @param path The file
 * @param log Where an unreadable file is told
 */
export async function readLastDrain(fs: FileSystem, path: string, log: Logger): Promise<LastDrain | null> {
  try {
    const bytes = await fs.readFile(path, LAST_DRAIN_MAX_BYTES);
    return bytes === null ? null : decodeBytes(lastDrain, bytes, LAST_DRAIN_MAX_BYTES);
  } catch (error) {
    if (!isFleetError(error)) throw error;
    log.warn("the last drain cannot be read", { path, error: errorText(error) });
    return null;
  }
}

/**
 * Leaves a drain for the successor, durably.
 *
 * @param fs The file system
 * @param path The file
 * @param drain The drain
 * @throws {FleetError} `E_FS_*`
 */
export async function writeLastDrain(fs: FileSystem, path: string, drain: LastDrain): Promise<void> {
  await replaceFile(fs, path, new TextEncoder().encode(`${canonicalJson(drain)}\n`), { mode: 0o640 });
}
