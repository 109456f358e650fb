import { assertEquals, assertRejects } from "@std/assert";
import { elfArchitecture } from "./elf_architecture.ts";
import { elfHead } from "./fixtures/elf_head.ts";

async function withFile(bytes: number[], fn: (path: string) => Promise<void>): Promise<void> {
  const path = await Deno.makeTempFile();
  try {
    await Deno.writeFile(path, new Uint8Array(bytes));
    await fn(path);
  } finally {
    await Deno.remove(path);
  }
}

Deno.test("elfArchitecture() reads the machine of a 64-bit program", async () => {
  assertEquals(await elfArchitecture(Deno.execPath()), Deno.build.arch);
  await withFile(elfHead(62), async (path) => assertEquals(await elfArchitecture(path), "x86_64"));
  await withFile(elfHead(183), async (path) => assertEquals(await elfArchitecture(path), "aarch64"));
});

Deno.test("elfArchitecture() refuses everything else", async () => {
  const others = [
    [],
    elfHead(62).slice(0, 19),
    elfHead(40),
    elfHead(62, 1),
    elfHead(62, 2, 2),
    [...elfHead(62)].fill(1, 0, 4),
  ];
  for (const bytes of others) {
    await withFile(bytes, async (path) => {
      await assertRejects(() => elfArchitecture(path), Error, "not a program for x86_64 or aarch64");
    });
  }
});
