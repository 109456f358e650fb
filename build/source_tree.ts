/**
 * The files of the repository that are ours.
 *
 * @module
 */

import { join } from "node:path";

const SKIPPED_FOLDERS = new Set(["node_modules", "dist", "coverage"]);

/** Paths of every file below `root`, relative to it, sorted; hidden folders and build products are left out. */
export async function sourcePaths(root: string): Promise<string[]> {
  const found: string[] = [];
  const walk = async (folder: string): Promise<void> => {
    for await (const entry of Deno.readDir(join(root, folder))) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isFile) found.push(path);
      if (entry.isDirectory && !entry.name.startsWith(".") && !SKIPPED_FOLDERS.has(entry.name)) await walk(path);
    }
  };
  await walk("");
  return found.sort();
}
