import { assertEquals, assertRejects } from "@std/assert";
import { dirname, join } from "node:path";
import { loadGraph } from "./load_graph.ts";

async function withTree(files: Record<string, string>, fn: (root: string) => Promise<void>): Promise<void> {
  const root = await Deno.realPath(await Deno.makeTempDir());
  try {
    for (const [path, text] of Object.entries(files)) {
      await Deno.mkdir(join(root, dirname(path)), { recursive: true });
      await Deno.writeTextFile(join(root, path), text);
    }
    await fn(root);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

Deno.test("loadGraph() sees plain, type-only, dynamic and mapped imports, and no build products", async () => {
  const files = {
    "deno.json": '{ "imports": { "#lib/": "./lib/" } }',
    "lib/a.ts": "export interface A { a: number }\nexport const a = 1;\n",
    "lib/b.ts": 'import type { A } from "./a.ts";\nimport "node:fs";\nexport type B = A;\nawait import("#lib/a.ts");\n',
    "dist/c.ts": 'import "../lib/a.ts";\n',
    ".tools/d.ts": "",
  };
  await withTree(files, async (root) => {
    const graph = await loadGraph(root);
    assertEquals(graph.map(({ path, imports }) => ({ path, targets: imports.map((edge) => edge.target).sort() })), [
      { path: "lib/a.ts", targets: [] },
      { path: "lib/b.ts", targets: ["lib/a.ts", "lib/a.ts", "node:fs"] },
    ]);
  });
});

Deno.test("loadGraph() fails on a name that is not mapped", async () => {
  await withTree({ "deno.json": "{}", "a.ts": 'import "nowhere";\n' }, async (root) => {
    await assertRejects(() => loadGraph(root), Error, "Cannot read the imports of a.ts");
  });
});
