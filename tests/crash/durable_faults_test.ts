import { assert, assertEquals, assertGreater } from "@std/assert";
import { isFleetError } from "../../contracts/errors.ts";
import type { FileSystem } from "../../lib/durable/file_system.ts";
import { osFileSystem } from "../../lib/durable/os_file_system.ts";
import { replaceFile } from "../../lib/durable/replace_file.ts";
import { removeStaleTemps } from "../../lib/durable/temp_name.ts";
import { type ErrnoFault, FaultyFileSystem, type FileFault } from "../fakes/faulty_file_system.ts";
import { MemoryFileSystem } from "../fakes/memory_file_system.ts";
import { CHANGES, DIRECTORY, diskBefore, type DurableChange } from "./durable_world.ts";

const ERRNOS = ["ENOSPC", "EIO"] as const;
const TIMES = ["once", "always"] as const;

/** Runs a change with its n-th operation failing. @returns whether nothing failed any more */
async function failAt(change: DurableChange, fault: ErrnoFault): Promise<boolean> {
  const disk = await diskBefore(change);
  const faulty = new FaultyFileSystem(disk, fault);
  let error: unknown;
  try {
    await change.run(faulty);
  } catch (caught) {
    error = caught;
  }
  const failed = faulty.operations.find(({ index }) => index === fault.at);
  const at = `${fault.errno} ${fault.times} at ${fault.at}, ${failed?.name}`;
  const seen = await change.look(disk);
  if (faulty.injected === 0) {
    assertEquals([error, seen], [undefined, change.after], at);
    return true;
  }
  assert(isFleetError(error), at);
  if (failed?.name === "sync" || failed?.name === "syncDirectory") {
    assertEquals([error.code, error.retry], ["E_FSYNC", "fatal"], at);
  } else assertEquals(error.code, `E_FS_${fault.errno}`, at);
  // Only the last step, the sync of the directory, comes after the change has become visible.
  assertEquals(seen, failed?.name === "syncDirectory" ? change.after : change.before, at);
  const present = seen === null ? 0 : 1;
  if (fault.times === "once") assertEquals((await disk.list(DIRECTORY)).length, present, `a file is left after ${at}`);
  await removeStaleTemps(disk, DIRECTORY);
  assertEquals((await disk.list(DIRECTORY)).length, present, at);
  return false;
}

for (const change of CHANGES) {
  for (const errno of ERRNOS) {
    for (const times of TIMES) {
      Deno.test(`${change.name}: ${errno} ${times} at each operation leaves the old state, or the new one unsynced`, async () => {
        let at = 1;
        while (!await failAt(change, { at, errno, times })) at++;
        assertGreater(at, 3);
      });
    }
  }
}

Deno.test("a full disk leaves the old file, whatever fits of the new one", async () => {
  for (let freeBlocks = 0; freeBlocks < 4; freeBlocks++) {
    const fs = new MemoryFileSystem();
    await fs.makeDirectory("/d", 0o755);
    await replaceFile(fs, "/d/f", new Uint8Array([1]), { mode: 0o600 });
    fs.setFreeBlocks(freeBlocks);
    const result = await replaceFile(fs, "/d/f", new Uint8Array(10_000), { mode: 0o600 }).catch((error) => error);
    assertEquals(isFleetError(result, "E_FS_ENOSPC"), freeBlocks < 3);
    assertEquals((await fs.stat("/d/f"))?.sizeBytes, freeBlocks < 3 ? 1 : 10_000);
    assertEquals(await fs.list("/d"), ["f"]);
  }
});

Deno.test("a program that stops at any operation leaves at most one temporary file, on a real disk too", async () => {
  for (const crash of ["before", "after"] as const) {
    let at = 1;
    for (let crashed = true; crashed; at++) {
      const directory = await Deno.makeTempDir({ prefix: "replace-" });
      crashed = await stopAt(osFileSystem, directory, { at, crash });
      await Deno.remove(directory, { recursive: true });
    }
    assertGreater(at, 5);
  }
});

async function stopAt(fs: FileSystem, directory: string, fault: FileFault): Promise<boolean> {
  const path = `${directory}/f`;
  const text = (content: Uint8Array | null) => content === null ? null : new TextDecoder().decode(content);
  await replaceFile(fs, path, new TextEncoder().encode("old"), { mode: 0o600 });
  const faulty = new FaultyFileSystem(fs, fault);
  await replaceFile(faulty, path, new TextEncoder().encode("new"), { mode: 0o600 }).catch(() => {});
  const seen = text(await fs.readFile(path, 10));
  assert(seen === "new" || faulty.crashed && seen === "old");
  const left = (await fs.list(directory)).length - 1;
  assert(left === 0 || left === 1);
  assertEquals(await removeStaleTemps(fs, directory, "f"), left);
  return faulty.crashed;
}
