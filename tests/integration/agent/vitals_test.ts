import { assert, assertEquals } from "@std/assert";
import { BINARIES_LISTED_MAX } from "../../../contracts/limits.ts";
import { managedPaths } from "../../../contracts/managed_paths.ts";
import { binariesBytes, freeBytes, gatherVitals } from "../../../agent/vitals.ts";

async function withDirectory(use: (directory: string) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "fleet-vitals-" });
  try {
    await use(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

Deno.test("binariesBytes() adds up files only, up to its limit", () =>
  withDirectory(async (directory) => {
    await Deno.mkdir(`${directory}/d`);
    // The directory itself is one of the names that are looked at.
    for (let index = 1; index < BINARIES_LISTED_MAX - 1; index++) Deno.writeTextFileSync(`${directory}/${index}`, "x");
    assertEquals(await binariesBytes(directory), BINARIES_LISTED_MAX - 2);
    Deno.writeTextFileSync(`${directory}/at-limit`, "x");
    assertEquals(await binariesBytes(directory), BINARIES_LISTED_MAX - 1);
    await Deno.remove(`${directory}/d`);
    Deno.writeTextFileSync(`${directory}/instead`, "x");
    Deno.writeTextFileSync(`${directory}/one-more`, "x");
    assertEquals(await binariesBytes(directory), BINARIES_LISTED_MAX);
    assertEquals(await binariesBytes(`${directory}/none`), null);
  }));

Deno.test("gatherVitals() leaves out what cannot be read", () =>
  withDirectory(async (root) => {
    await Deno.mkdir(`${root}/usr`);
    const unknown = { clockSkewMs: null, restarts: undefined, credentialsExpireAt: undefined };
    const { freeBytes: free, rssBytes, ...rest } = await gatherVitals({ root, paths: managedPaths(root), ...unknown });
    assertEquals(Object.keys(free), ["/usr"]);
    assert((free["/usr"] ?? 0) > 0 && (rssBytes ?? 0) > 0);
    assertEquals(rest, {});
    assertEquals(await freeBytes(`${root}/none`), null);
  }));
