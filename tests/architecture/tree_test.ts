import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { IMPORT_RULES } from "./import_rules.ts";
import { loadGraph } from "./load_graph.ts";
import { TEXT_RULES } from "./text_rules.ts";

const graph = await loadGraph(join(fileURLToPath(import.meta.url), "..", "..", ".."));

Deno.test("the graph has this file and what it imports", () => {
  const self = graph.find((file) => file.path === "tests/architecture/tree_test.ts");
  const targets = self?.imports.map((edge) => edge.target) ?? [];
  for (const target of ["tests/assert/mod.ts", "node:path", "tests/architecture/text_rules.ts"]) {
    assert(targets.includes(target), target);
  }
  const assertModule = graph.find((file) => file.path === "tests/assert/mod.ts");
  assertEquals(assertModule?.imports, [{ specifier: "node:assert", target: "node:assert" }]);
});

for (const rule of [...IMPORT_RULES, ...TEXT_RULES]) {
  Deno.test(`the source tree keeps the rule: ${rule.name}`, () => {
    assertEquals(rule.check(graph).map(({ path, message }) => `${path}: ${message}`), []);
  });
}
