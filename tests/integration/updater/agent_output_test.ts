import { assertEquals, assertNotEquals } from "@std/assert";
import { AGENT_OUTPUT_KEPT_BYTES, AGENT_OUTPUT_MAX_BYTES } from "../../../contracts/limits.ts";
import { AgentOutput } from "../../../updater/services/agent_output.ts";

Deno.test("output is kept for one start more, and bounded", async () => {
  const directory = await Deno.makeTempDir({ prefix: "fleet-output-" });
  const path = `${directory}/output.log`;
  const output = new AgentOutput(path);
  try {
    assertNotEquals(output.begin((descriptor) => descriptor), null);
    await Deno.writeTextFile(path, "first\n", { append: true });
    output.begin(() => {});
    assertEquals(await Deno.readTextFile(`${path}.previous`), "first\n");
    assertEquals(output.tail().length, 0);
    for (
      const [size, kept] of [
        [AGENT_OUTPUT_MAX_BYTES - 1, AGENT_OUTPUT_MAX_BYTES - 1],
        [AGENT_OUTPUT_MAX_BYTES, AGENT_OUTPUT_MAX_BYTES],
        [AGENT_OUTPUT_MAX_BYTES + 1, AGENT_OUTPUT_KEPT_BYTES],
      ] as const
    ) {
      await Deno.writeFile(path, new Uint8Array(size).fill(0x61));
      output.trim();
      assertEquals((await Deno.stat(path)).size, kept);
    }
    assertEquals((await Deno.stat(path)).mode === null ? 0 : ((await Deno.stat(path)).mode ?? 0) & 0o077, 0);
    await Deno.remove(path);
    output.trim();
    assertEquals(output.tail().length, 0);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
