/**
 * Golden files: what a test renders is compared with what people have reviewed. `UPDATE_GOLDEN=1` writes them anew.
 *
 * @module
 */
import { assertEquals } from "@std/assert";

/**
 * Compares a text with a golden file.
 *
 * @param name File name below `tests/golden/`
 * @param rendered The text
 */
export async function assertGolden(name: string, rendered: string): Promise<void> {
  const path = new URL(name, import.meta.url);
  if (Deno.env.get("UPDATE_GOLDEN") === "1") await Deno.writeTextFile(path, rendered);
  assertEquals(
    rendered,
    await Deno.readTextFile(path),
    `${name} differs: run again with UPDATE_GOLDEN=1 and review it`,
  );
}
