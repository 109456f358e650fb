/**
 * Finds the tools that ours is compared with.
 *
 * @module
 */
import { join } from "node:path";

const EXECUTE_BITS = 0o111;

/**
 * The first executable file of a name in the folders of `PATH`, or null.
 *
 * @param name The program's name
 * @param path Folders, separated by colons
 */
export function findProgram(name: string, path: string = Deno.env.get("PATH") ?? ""): string | null {
  for (const folder of path.split(":").filter((folder) => folder !== "")) {
    const candidate = join(folder, name);
    try {
      const { isFile, mode } = Deno.statSync(candidate);
      if (isFile && ((mode ?? 0) & EXECUTE_BITS) !== 0) return candidate;
    } catch {
      // Not in this folder.
    }
  }
  return null;
}

/**
 * Why something cannot be measured: the first program that is missing; null when all are there.
 *
 * @param names The programs' names
 */
export function missingProgram(...names: readonly string[]): string | null {
  const missing = names.find((name) => findProgram(name) === null);
  return missing === undefined ? null : `${missing} is not installed`;
}
