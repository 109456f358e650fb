import { assertEquals, assertRejects } from "@std/assert";
import { join } from "node:path";
import { replaceFolder } from "./replace_folder.ts";

async function inTempDir(fn: (dir: string) => Promise<void>): Promise<void> {
  const dir = await Deno.makeTempDir();
  try {
    await fn(dir);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

const namesIn = (dir: string) => [...Deno.readDirSync(dir)].map(({ name }) => name).sort();

function fill(folder: string, content: string, then?: () => void): Promise<void> {
  return replaceFolder(folder, { mark: "mark" }, async (building) => {
    await Deno.writeTextFile(join(building, "mark"), content);
    then?.();
  });
}

Deno.test("replaceFolder() makes a folder and replaces it whole", () =>
  inTempDir(async (dir) => {
    const folder = join(dir, "parent", "out");
    await fill(folder, "one");
    await Deno.writeTextFile(join(folder, "extra"), "");
    await fill(folder, "two");
    assertEquals(namesIn(folder), ["mark"]);
    assertEquals(await Deno.readTextFile(join(folder, "mark")), "two");
    assertEquals(namesIn(join(dir, "parent")), ["out"]);
  }));

Deno.test("replaceFolder() leaves everything as it was when the work fails", () =>
  inTempDir(async (dir) => {
    const folder = join(dir, "out");
    await fill(folder, "one");
    const fails = () =>
      fill(folder, "two", () => {
        throw new Error("broken");
      });
    await assertRejects(fails, Error, "broken");
    assertEquals(await Deno.readTextFile(join(folder, "mark")), "one");
    assertEquals(namesIn(dir), ["out"]);
  }));

Deno.test("replaceFolder() replaces an empty folder and refuses a foreign one", () =>
  inTempDir(async (dir) => {
    const folder = join(dir, "out");
    await Deno.mkdir(folder);
    await fill(folder, "one");
    await Deno.rename(join(folder, "mark"), join(folder, "thesis"));
    await assertRejects(() => fill(folder, "two"), Error, "holds files and no mark");
    assertEquals(namesIn(folder), ["thesis"]);
  }));

Deno.test("replaceFolder() clears what a killed run left, and nothing of a living one", () =>
  inTempDir(async (dir) => {
    const gone = 2 ** 22 + 1;
    for (const name of [`out.building-${gone}`, `out.old-${gone}`, "out.building-1", "out.notes"]) {
      await Deno.mkdir(join(dir, name));
    }
    await fill(join(dir, "out"), "one");
    assertEquals(namesIn(dir), ["out", "out.building-1", "out.notes"]);
  }));
