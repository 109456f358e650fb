/**
 * Where benchmarks put their files: inside of the repository, because `/tmp` is in memory on many machines, where a
 * sync costs nothing.
 *
 * @module
 */
import { join } from "node:path";
import { REPOSITORY_ROOT } from "../build/bundle.ts";
import { waitUntil } from "../tests/nats/wait_until.ts";

/** The variable that names the directory of a run. */
export const DIRECTORY_VARIABLE = "HARMONY_BENCH_DIRECTORY";

const PARENT = join(REPOSITORY_ROOT, ".tools", "bench");
/** Servers that write into the directory end a moment after the benchmark that has started them. */
const REMOVE_TIMEOUT_MS = 20_000;

/**
 * Makes a new directory, named for this process, and removes those of processes that are gone.
 *
 * @param parent Where
 */
export async function makeBenchDirectory(parent: string = PARENT): Promise<string> {
  await Deno.mkdir(parent, { recursive: true });
  for await (const { name } of Deno.readDir(parent)) {
    const pid = /^(\d+)-/.exec(name)?.[1];
    if (pid !== undefined && !await isThere(`/proc/${pid}`)) await Deno.remove(join(parent, name), { recursive: true });
  }
  return await Deno.makeTempDir({ dir: parent, prefix: `${Deno.pid}-` });
}

/**
 * Removes a directory into which a process that is ending may still write.
 *
 * @param directory The directory
 * @throws {Error} when that process does not end
 */
export async function removeBenchDirectory(directory: string): Promise<void> {
  await waitUntil(`the end of whoever writes into ${directory}`, async () => {
    await Deno.remove(directory, { recursive: true }).catch(() => {});
    return !await isThere(directory);
  }, REMOVE_TIMEOUT_MS);
}

/** The runner's directory; for a benchmark file that runs alone a new one, which the next run removes. */
export async function benchDirectory(): Promise<string> {
  return Deno.env.get(DIRECTORY_VARIABLE) ?? await makeBenchDirectory();
}

async function isThere(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}
