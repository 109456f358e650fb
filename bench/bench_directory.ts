/**
 * Where benchmarks put their files: inside of the repository, because `/tmp` is in memory on many machines, where a
 * sync costs nothing.
 *
 * @module
 */
import { join } from "node:path";
import { REPOSITORY_ROOT } from "../build/bundle.ts";

/** The variable that names the directory of a run. */
export const DIRECTORY_VARIABLE = "HARMONY_BENCH_DIRECTORY";

/** Makes a new directory; whoever calls this removes it. */
export async function makeBenchDirectory(): Promise<string> {
  const parent = join(REPOSITORY_ROOT, ".tools", "bench");
  await Deno.mkdir(parent, { recursive: true });
  return await Deno.makeTempDir({ dir: parent });
}

/** The runner's directory; for a benchmark file that runs alone a new one, which is removed when it ends. */
export async function benchDirectory(): Promise<string> {
  const given = Deno.env.get(DIRECTORY_VARIABLE);
  if (given !== undefined) return given;
  const own = await makeBenchDirectory();
  globalThis.addEventListener("unload", () => Deno.removeSync(own, { recursive: true }));
  return own;
}
