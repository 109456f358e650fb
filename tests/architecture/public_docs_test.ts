import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(fileURLToPath(import.meta.url), "..", "..", "..");

/**
 * Decoders have their type inferred from the shape of their document: writing it out would state every document twice,
 * and the two would drift apart.
 */
const ACCEPTED = "missing-explicit-type";

Deno.test("everything that mod.ts exports is documented, and refers to nothing that it does not export", async () => {
  const { stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["doc", "--lint", "mod.ts"],
    cwd: root,
    env: { NO_COLOR: "1" },
    stdout: "null",
    stderr: "piped",
  }).output();
  const lines = new TextDecoder().decode(stderr).split("\n");
  const problems = lines.flatMap((line, index) => {
    const code = /^error\[([a-z-]+)\]/.exec(line)?.[1];
    if (code === undefined || code === ACCEPTED) return [];
    return [`${line} ${lines[index + 1]?.replace(`${root}/`, "").trim() ?? ""}`];
  });
  assertEquals(problems, []);
});
