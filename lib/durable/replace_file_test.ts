import { assert, assertEquals, assertRejects } from "@std/assert";
import { isFleetError } from "../../contracts/errors.ts";
import { TEMP_NAME_TRIES_MAX } from "../../contracts/limits.ts";
import { MemoryFileSystem } from "../../tests/fakes/memory_file_system.ts";
import { replaceFile, replaceFileWith } from "./replace_file.ts";

const CONTENT = new TextEncoder().encode("new");

/** Names that are taken already, then a free one. */
async function diskWithTaken(taken: number): Promise<{ fs: MemoryFileSystem; suffix: () => string }> {
  const fs = new MemoryFileSystem();
  const suffixes = Array.from({ length: taken + 1 }, (_, index) => index.toString(16).padStart(16, "0"));
  for (const suffix of suffixes.slice(0, taken)) await (await fs.create(`/.f.${suffix}.tmp`, 0o600)).close();
  let next = 0;
  return { fs, suffix: () => suffixes[next++] ?? "" };
}

for (const taken of [TEMP_NAME_TRIES_MAX - 2, TEMP_NAME_TRIES_MAX - 1, TEMP_NAME_TRIES_MAX]) {
  const free = taken < TEMP_NAME_TRIES_MAX;
  Deno.test(`replaceFile() ${free ? "finds a free name after" : "gives up after"} ${taken} taken ones`, async () => {
    const { fs, suffix } = await diskWithTaken(taken);
    const replacing = replaceFile(fs, "/f", CONTENT, { mode: 0o600, suffix });
    if (free) {
      await replacing;
      assertEquals(await fs.readFile("/f", 10), CONTENT);
    } else assert(isFleetError(await assertRejects(() => replacing), "E_FS_EEXIST"));
    assertEquals((await fs.list("/")).filter((name) => name.endsWith(".tmp")).length, taken);
  });
}

Deno.test("replaceFile() gives the new file its mode, whatever the old one had", async () => {
  const fs = new MemoryFileSystem();
  await replaceFile(fs, "/f", CONTENT, { mode: 0o644 });
  await replaceFile(fs, "/f", CONTENT, { mode: 0o640 });
  assertEquals((await fs.stat("/f"))?.mode, 0o640);
});

Deno.test("replaceFileWith() returns what the writer returns, and leaves the old file when it throws", async () => {
  const fs = new MemoryFileSystem();
  const size = await replaceFileWith(fs, "/f", { mode: 0o600 }, async (file) => {
    await file.write(CONTENT);
    await file.write(CONTENT);
    return 6;
  });
  assertEquals([size, (await fs.stat("/f"))?.sizeBytes], [6, 6]);
  const failure = new Error("wrong digest");
  const caught = await assertRejects(() =>
    replaceFileWith(fs, "/f", { mode: 0o600 }, async (file) => {
      await file.write(CONTENT);
      throw failure;
    })
  );
  assert(caught === failure);
  assertEquals([(await fs.stat("/f"))?.sizeBytes, await fs.list("/")], [6, ["f"]]);
});
