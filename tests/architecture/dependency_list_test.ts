import { assertEquals } from "@std/assert";

const root = new URL("../../", import.meta.url);

Deno.test("docs/decisions/0006 names every package of deno.json with its version, and no other", async () => {
  const { imports }: { imports: Record<string, string> } = JSON.parse(
    await Deno.readTextFile(new URL("deno.json", root)),
  );
  const mapped = Object.values(imports).flatMap((target) => /^npm:(.+)$/.exec(target)?.[1] ?? []);

  const page = await Deno.readTextFile(new URL("docs/decisions/0006-dependencies.md", root));
  const listed = [...page.matchAll(/^\| (`.+?) \| ([0-9., ]+) \|/gm)].flatMap(([, names = "", versions = ""]) => {
    const version = versions.split(",").map((text) => text.trim());
    return [...names.matchAll(/`([^`]+)`/g)].map(([, name], index) => `${name}@${version[index] ?? version[0]}`);
  });
  assertEquals(listed.filter((entry) => !entry.startsWith("deno@")).sort(), mapped.sort());
});
