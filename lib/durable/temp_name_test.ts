import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { MemoryFileSystem } from "../../tests/fakes/memory_file_system.ts";
import { joinPath, randomSuffix, removeStaleTemps, splitPath, tempPath } from "./temp_name.ts";

Deno.test("a temporary name stands beside its target and is never the same", () => {
  assertMatch(tempPath("/var/lib/x.json"), /^\/var\/lib\/\.x\.json\.[0-9a-f]{16}\.tmp$/);
  assertMatch(tempPath("/x"), /^\/\.x\.[0-9a-f]{16}\.tmp$/);
  assertNotEquals(randomSuffix(), randomSuffix());
  assertEquals(tempPath("/a/b", () => "0123456789abcdef"), "/a/.b.0123456789abcdef.tmp");
});

for (const [path, directory, name] of [["/a/b/c", "/a/b", "c"], ["/a", "/", "a"]] as const) {
  Deno.test(`${path} is ${name} in ${directory}`, () => {
    assertEquals(splitPath(path), { directory, name });
    assertEquals(joinPath(directory, name), path);
  });
}

const SUFFIX = "0123456789abcdef";

async function directoryWith(names: readonly string[]): Promise<MemoryFileSystem> {
  const fs = new MemoryFileSystem();
  await fs.makeDirectory("/d", 0o755);
  for (const name of names) await (await fs.create(`/d/${name}`, 0o600)).close();
  return fs;
}

Deno.test("removeStaleTemps() removes exactly the temporary files of a name", async () => {
  const kept = ["f", `.g.${SUFFIX}.tmp`, `.f.${SUFFIX}.tmp2`, `.f.${SUFFIX.slice(1)}.tmp`, ".f.tmp", `f.${SUFFIX}.tmp`];
  const fs = await directoryWith([...kept, `.f.${SUFFIX}.tmp`, ".f.ffffffffffffffff.tmp"]);
  await fs.symlink("target", "/d/.f.aaaaaaaaaaaaaaaa.tmp");
  assertEquals(await removeStaleTemps(fs, "/d", "f"), 3);
  assertEquals((await fs.list("/d")).sort(), [...kept].sort());
});

Deno.test("removeStaleTemps() without a name removes those of every target", async () => {
  const fs = await directoryWith(["f", `.f.${SUFFIX}.tmp`, `.g.h.${SUFFIX}.tmp`, `..${SUFFIX}.tmp`]);
  assertEquals(await removeStaleTemps(fs, "/d"), 2);
  assertEquals((await fs.list("/d")).sort(), [`..${SUFFIX}.tmp`, "f"]);
  assertEquals(await removeStaleTemps(fs, "/missing"), 0);
});
