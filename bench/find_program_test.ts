import { assertEquals } from "@std/assert";
import { findProgram, missingProgram } from "./find_program.ts";

Deno.test("findProgram() takes the first executable file of the name", async () => {
  const folder = await Deno.makeTempDir();
  try {
    for (const [name, mode] of [["a", 0o644], ["b", 0o755]] as const) {
      await Deno.mkdir(`${folder}/${name}`);
      await Deno.writeTextFile(`${folder}/${name}/tool`, "", { mode });
    }
    await Deno.mkdir(`${folder}/c/tool`, { recursive: true });
    assertEquals(findProgram("tool", `${folder}/none::${folder}/c:${folder}/a:${folder}/b`), `${folder}/b/tool`);
    assertEquals(findProgram("tool", `${folder}/a`), null);
    assertEquals(findProgram("tool", ""), null);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("missingProgram() names the first that is missing", () => {
  assertEquals(missingProgram("sh"), null);
  assertEquals(missingProgram("sh", "no-such-program", "neither"), "no-such-program is not installed");
});
