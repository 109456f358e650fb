import { assert, assertEquals } from "@std/assert";
import { makeBenchDirectory, removeBenchDirectory } from "./bench_directory.ts";

/** Above what Linux gives (`/proc/sys/kernel/pid_max` is at most 2^22). */
const NO_PROCESS = 5_000_000;

Deno.test("makeBenchDirectory() removes what processes that are gone have left, and nothing else", async () => {
  const parent = await Deno.makeTempDir();
  try {
    const [abandoned, foreign] = [`${parent}/${NO_PROCESS}-x/deep`, `${parent}/foreign`];
    for (const path of [abandoned, foreign]) await Deno.mkdir(path, { recursive: true });
    const [first, second] = [await makeBenchDirectory(parent), await makeBenchDirectory(parent)];
    const names = [...Deno.readDirSync(parent)].map(({ name }) => `${parent}/${name}`).sort();
    assertEquals(names, [first, foreign, second].sort());
    assert(first.startsWith(`${parent}/${Deno.pid}-`) && first !== second);
    await removeBenchDirectory(first);
    await removeBenchDirectory(first);
    assertEquals([...Deno.readDirSync(parent)].length, 2);
  } finally {
    await Deno.remove(parent, { recursive: true });
  }
});
