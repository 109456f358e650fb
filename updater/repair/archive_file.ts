/**
 * Keeps a file that cannot be trusted beside the one that takes its place, for whoever wants to know what happened.
 *
 * @module
 */
import type { FileSystem } from "../../lib/durable/file_system.ts";
import { replaceFileWith } from "../../lib/durable/replace_file.ts";

const ARCHIVE_MODE = 0o600;

/**
 * Copies a file. A copy and not a rename: at no moment is there no file, which would mean that nothing ever happened.
 *
 * @param fs The file system
 * @param path The file
 * @param nowMs The time, in ms since the epoch, for its name
 * @returns the path of the archive; null when there is no file
 */
export async function archiveFile(fs: FileSystem, path: string, nowMs: number): Promise<string | null> {
  const chunks = await fs.readChunks(path);
  if (chunks === null) return null;
  const archive = `${path}.corrupt-${new Date(nowMs).toISOString().replaceAll(/[:.]/g, "-")}`;
  await replaceFileWith(fs, archive, { mode: ARCHIVE_MODE }, async (file) => {
    for await (const chunk of chunks) await file.write(chunk);
  });
  return archive;
}
