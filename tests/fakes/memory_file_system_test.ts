import { assert, assertEquals, assertRejects } from "@std/assert";
import { isFleetError } from "../../contracts/errors.ts";
import type { FileSystem } from "../../lib/durable/file_system.ts";
import { BLOCK_BYTES } from "./memory_disk.ts";
import { MemoryFileSystem } from "./memory_file_system.ts";
import { tornContents } from "./torn_content.ts";

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

async function write(fs: FileSystem, path: string, text: string, sync: boolean): Promise<void> {
  const file = await fs.openExisting(path) ?? await fs.create(path, 0o600);
  await file.write(bytes(text));
  if (sync) await file.sync();
  await file.close();
}

async function get(fs: FileSystem, path: string): Promise<string | null> {
  const content = await fs.readFile(path, 1_000_000);
  return content === null ? null : new TextDecoder().decode(content);
}

/** A disk with a durable file `/f` that says "old". */
async function diskWithOld(): Promise<MemoryFileSystem> {
  const fs = new MemoryFileSystem();
  await write(fs, "/f", "old", true);
  await fs.syncDirectory("/");
  return fs;
}

/** The distinct things that a crash now may leave, as a reader sees them. */
async function seen<T>(fs: MemoryFileSystem, look: (disk: MemoryFileSystem) => Promise<T>): Promise<Set<string>> {
  const states = fs.crashStates();
  assert(states.exhaustive);
  const found = new Set<string>();
  let count = 0;
  for (const disk of states) {
    found.add(JSON.stringify(await look(disk)));
    count++;
  }
  assertEquals(count, states.count);
  return found;
}

Deno.test("what is synced survives, and there is one state only", async () => {
  const fs = await diskWithOld();
  const states = fs.crashStates();
  assertEquals([states.count, states.exhaustive], [1, true]);
  for (const disk of states) assertEquals(await get(disk, "/f"), "old");
});

Deno.test("a new file without the sync of its directory may be missing, also when it is synced itself", async () => {
  const fs = new MemoryFileSystem();
  await write(fs, "/f", "new", true);
  assertEquals(await seen(fs, (disk) => get(disk, "/f")), new Set(["null", '"new"']));
});

Deno.test("a named file without its own sync may be empty, cut, zeroed or mixed", async () => {
  const fs = new MemoryFileSystem();
  await write(fs, "/f", "abcd", false);
  await fs.syncDirectory("/");
  const expected = ["", "ab", "abc", "ab\0\0", "\0\0cd", "\0\0\0\0", "abcd"].map((text) => JSON.stringify(text));
  assertEquals(await seen(fs, (disk) => get(disk, "/f")), new Set(expected));
});

Deno.test("a file that was written over in place may be a mixture of old and new", async () => {
  const fs = await diskWithOld();
  const file = await fs.openExisting("/f");
  await file?.write(bytes("NEW"));
  assertEquals(await seen(fs, (disk) => get(disk, "/f")), new Set(["old", "NEW", "Nld", "oEW"].map((t) => `"${t}"`)));
  await file?.sync();
  assertEquals(await seen(fs, (disk) => get(disk, "/f")), new Set(['"NEW"']));
  await file?.close();
});

Deno.test("a renamed file without its sync may be torn under its new name", async () => {
  const fs = await diskWithOld();
  await write(fs, "/t", "new", false);
  await fs.rename("/t", "/f");
  await fs.syncDirectory("/");
  const found = await seen(fs, (disk) => get(disk, "/f"));
  assert(found.has('""') && found.has(JSON.stringify("\0\0\0")) && !found.has('"old"'), [...found].join());
});

Deno.test("a renamed file without the sync of its directory may keep its old name, both, or none", async () => {
  const fs = await diskWithOld();
  await write(fs, "/t", "new", true);
  await fs.syncDirectory("/");
  await fs.rename("/t", "/f");
  const found = await seen(fs, async (disk) => [await get(disk, "/t"), await get(disk, "/f")]);
  assertEquals(found, new Set(['["new","old"]', '["new","new"]', '[null,"old"]', '[null,"new"]']));
  await fs.syncDirectory("/");
  assertEquals(
    await seen(fs, async (disk) => [await get(disk, "/t"), await get(disk, "/f")]),
    new Set(['[null,"new"]']),
  );
});

Deno.test("two names of one file that a crash left are one file, and renaming one over the other does nothing", async () => {
  const fs = new MemoryFileSystem();
  await write(fs, "/a", "one", true);
  await fs.syncDirectory("/");
  await fs.rename("/a", "/b");
  let checked = 0;
  for (const disk of fs.crashStates()) {
    if (await get(disk, "/a") === null || await get(disk, "/b") === null) continue;
    checked++;
    await write(disk, "/a", "two", true);
    assertEquals(await get(disk, "/b"), "two");
    await disk.rename("/a", "/b");
    assertEquals((await disk.list("/")).sort(), ["a", "b"]);
  }
  assertEquals(checked, 1);
});

Deno.test("each change of a name may be there without the others", async () => {
  const fs = await diskWithOld();
  await fs.remove("/f");
  await fs.symlink("one", "/l");
  await fs.remove("/l");
  await fs.symlink("two", "/l");
  const found = await seen(fs, async (disk) => [await get(disk, "/f"), await disk.readLink("/l")]);
  const expected = [null, "old"].flatMap((file) => [null, "one", "two"].map((link) => JSON.stringify([file, link])));
  assertEquals(found, new Set(expected));
});

Deno.test("a directory whose name is not durable may be gone with all that was synced below it", async () => {
  const fs = new MemoryFileSystem();
  await fs.makeDirectory("/a/b", 0o755);
  await write(fs, "/a/b/f", "x", true);
  await fs.syncDirectory("/a/b");
  await fs.syncDirectory("/a");
  assertEquals(await seen(fs, (disk) => get(disk, "/a/b/f")), new Set(["null", '"x"']));
  await fs.syncDirectory("/");
  assertEquals(await seen(fs, (disk) => get(disk, "/a/b/f")), new Set(['"x"']));
});

Deno.test("crash states do not change with the disk they come from, nor it with them", async () => {
  const fs = await diskWithOld();
  const states = fs.crashStates();
  await write(fs, "/f", "later", true);
  for (const disk of states) {
    assertEquals(await get(disk, "/f"), "old");
    await write(disk, "/f", "other", true);
  }
  assertEquals(await get(fs, "/f"), "later");
});

Deno.test("a clone keeps what is not durable as not durable", async () => {
  const fs = await diskWithOld();
  await write(fs, "/g", "x", false);
  const copy = fs.clone();
  await fs.remove("/f");
  assertEquals([await get(copy, "/f"), await get(copy, "/g")], ["old", "x"]);
  assertEquals((await seen(copy, (disk) => get(disk, "/g"))).has("null"), true);
  copy.syncAll();
  assertEquals(copy.crashStates().count, 1);
});

Deno.test("where there are too many states a sample is taken, which its seed repeats", async () => {
  const fs = new MemoryFileSystem();
  for (let index = 0; index < 12; index++) await write(fs, `/f${index}`, "x", true);
  const all = fs.crashStates({ limit: 4_096 });
  assertEquals([all.count, all.exhaustive, [...all].length], [4_096, true, 4_096]);
  const sample = fs.crashStates({ limit: 4_095, seed: 7 });
  assertEquals([sample.count, sample.exhaustive], [4_095, false]);
  const names = async (seed: number) => {
    const lists: string[][] = [];
    for (const disk of fs.crashStates({ limit: 50, seed })) lists.push((await disk.list("/")).sort());
    return lists;
  };
  const first = await names(7);
  assertEquals([first.length, first[0]?.length, first[1]?.length], [50, 0, 12]);
  assertEquals(await names(7), first);
  assert(JSON.stringify(await names(8)) !== JSON.stringify(first));
});

Deno.test("a full disk writes what fits; allocated blocks need no space; truncating and removing free it", async () => {
  const fs = new MemoryFileSystem({ capacityBlocks: 4 });
  const slot = await fs.create("/slot", 0o600);
  await slot.write(new Uint8Array(2 * BLOCK_BYTES));
  const other = await fs.create("/other", 0o600);
  const error = await assertRejects(() => other.write(new Uint8Array(2 * BLOCK_BYTES + 1)));
  assert(isFleetError(error, "E_FS_ENOSPC") && error.failureClass === "environment");
  assertEquals([(await fs.stat("/other"))?.sizeBytes, await fs.freeBytes("/")], [2 * BLOCK_BYTES, 0]);
  const again = await fs.openExisting("/slot");
  await again?.write(new Uint8Array(2 * BLOCK_BYTES).fill(1));
  await assertRejects(() => again?.write(new Uint8Array(1)) ?? Promise.resolve());
  await again?.truncate(1);
  assertEquals(await fs.freeBytes("/"), BLOCK_BYTES);
  await fs.remove("/other");
  assertEquals(await fs.freeBytes("/"), BLOCK_BYTES);
  await other.close();
  assertEquals(await fs.freeBytes("/"), 3 * BLOCK_BYTES);
  fs.setFreeBlocks(0);
  assertEquals(await fs.freeBytes("/"), 0);
  fs.setFreeBlocks(undefined);
  assert(await fs.freeBytes("/") > 2 ** 40);
});

Deno.test("each operation that changes something is announced and counted", async () => {
  const fs = new MemoryFileSystem();
  const seenOperations: string[] = [];
  const stop = fs.onOperation((operation, when) => {
    seenOperations.push(`${operation.index} ${when} ${operation.name} ${operation.path}`);
    if (operation.name === "remove") throw new Error("refused");
  });
  await write(fs, "/f", "x", true);
  await get(fs, "/f");
  await assertRejects(() => fs.remove("/f"), Error, "refused");
  stop();
  assertEquals(await fs.remove("/f"), true);
  assertEquals(fs.operations, 5);
  assertEquals(seenOperations, [
    "1 before create /f",
    "1 after create /f",
    "2 before write /f",
    "2 after write /f",
    "3 before sync /f",
    "3 after sync /f",
    "4 before remove /f",
  ]);
});

Deno.test("tornContents() goes from the durable content to the newest", () => {
  const texts = (durable: string, newest: string) =>
    tornContents(bytes(durable), bytes(newest)).map((content) => new TextDecoder().decode(content));
  assertEquals(texts("same", "same"), ["same"]);
  assertEquals(texts("", "x"), ["", "\0", "x"]);
  const shorter = texts("abcdef", "XY");
  assertEquals([shorter[0], shorter.at(-1)], ["abcdef", "XY"]);
  for (const expected of ["ab", "XYcdef", "aY", "Xb"]) assert(shorter.includes(expected), shorter.join());
});
