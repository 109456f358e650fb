import { assertEquals, assertStringIncludes } from "@std/assert";
import * as imports from "./import_rules.ts";
import type { ArchitectureRule, SourceFile } from "./source_graph.ts";
import * as texts from "./text_rules.ts";

function file(path: string, targets: string[] = [], text = ""): SourceFile {
  return { path, text, imports: targets.map((target) => ({ specifier: target, target })) };
}

interface Case {
  readonly rule: ArchitectureRule;
  /** Each one, alone, must break the rule. */
  readonly bad: readonly (SourceFile | SourceFile[])[];
  /** All of them together must keep it. */
  readonly good: readonly SourceFile[];
}

const CASES: readonly Case[] = [
  {
    rule: imports.contractsStandAlone,
    bad: [
      file("contracts/a.ts", ["lib/log.ts"]),
      file("contracts/a.ts", ["node:crypto"]),
      file("contracts/a.ts", ["npm:yaml"]),
      file("contracts/digest.ts", ["node:fs"]),
    ],
    good: [
      file("contracts/a.ts", ["contracts/b.ts"]),
      file("contracts/digest.ts", ["node:crypto"]),
      file("contracts/a_test.ts", ["tests/assert/mod.ts", "node:fs"]),
    ],
  },
  {
    rule: imports.libraryLayer,
    bad: [
      file("lib/log.ts", ["updater/main.ts"]),
      file("lib/log.ts", ["npm:yaml"]),
      file("lib/log.ts", ["lib/bus/kv.ts"]),
      file("lib/bus/kv.ts", ["operator/main.ts"]),
      file("lib/bus/kv.ts", ["tests/fakes/memory_bus.ts"]),
    ],
    good: [
      file("lib/log.ts", ["contracts/limits.ts", "lib/deadline.ts", "node:fs"]),
      file("lib/bus/kv.ts", ["npm:@nats-io/kv", "lib/bus/port.ts", "lib/log.ts"]),
    ],
  },
  {
    rule: imports.programsStandApart,
    bad: [
      file("agent/main.ts", ["updater/paths.ts"]),
      file("updater/main.ts", ["agent/config.ts"]),
      file("operator/main.ts", ["agent/config.ts"]),
      file("agent/main_test.ts", ["operator/main.ts"]),
    ],
    good: [file("agent/main.ts", ["agent/config.ts", "lib/log.ts"]), file("tests/crash/a.ts", ["updater/main.ts"])],
  },
  {
    rule: imports.packagesInTheirPlace,
    bad: [
      file("agent/main.ts", ["npm:@nats-io/kv"]),
      file("demo/main.ts", ["npm:@nats-io/kv"]),
      file("agent/main.ts", ["npm:commander"]),
      file("lib/bus/kv.ts", ["npm:yaml"]),
      file("operator/main.ts", ["npm:yaml-other"]),
      file("mod.ts", ["npm:yaml"]),
    ],
    good: [
      file("lib/bus/kv.ts", ["npm:@nats-io/kv"]),
      file("operator/cli/main.ts", ["npm:commander", "npm:yaml"]),
      file("tests/conformance/bus.ts", ["npm:@nats-io/kv", "npm:@peculiar/x509"]),
      file("bench/snapshot_readers.ts", ["npm:@nats-io/kv"]),
      file("demo/main.ts", ["npm:@peculiar/x509"]),
    ],
  },
  {
    rule: imports.packagesByName,
    bad: [
      { ...file("a.ts"), imports: [{ specifier: "npm:yaml@2", target: "npm:yaml" }] },
      { ...file("a.ts"), imports: [{ specifier: "https://host/a.ts", target: "https://host/a.ts" }] },
      { ...file("a.ts"), imports: [{ specifier: "jsr:@std/fs", target: "jsr:@std/fs" }] },
    ],
    good: [{ ...file("a.ts"), imports: [{ specifier: "yaml", target: "npm:yaml" }] }],
  },
  {
    rule: imports.publicModuleWithoutPackages,
    bad: [
      file("mod.ts", ["npm:yaml"]),
      [file("mod.ts", ["lib/a.ts"]), file("lib/a.ts", ["lib/b.ts"]), file("lib/b.ts", ["npm:@nats-io/kv"])],
      [file("mod.ts", ["lib/a.ts"]), file("lib/a.ts", ["agent/main.ts"])],
    ],
    good: [
      file("mod.ts", ["lib/a.ts"]),
      file("lib/a.ts", ["contracts/b.ts", "node:fs"]),
      file("lib/bus/kv.ts", ["npm:@nats-io/kv"]),
    ],
  },
  {
    rule: imports.productKnowsNoOuterFolder,
    bad: [
      file("lib/a.ts", ["tests/assert/mod.ts"]),
      file("agent/a.ts", ["demo/main.ts"]),
      file("updater/a.ts", ["bench/main.ts"]),
      file("operator/a.ts", ["build/programs.ts"]),
      file("mod.ts", ["lib/a_test.ts"]),
    ],
    good: [file("lib/a_test.ts", ["tests/assert/mod.ts"]), file("demo/main.ts", ["build/programs.ts"])],
  },
  {
    rule: imports.noImportCycles,
    bad: [
      file("a.ts", ["a.ts"]),
      [file("a.ts", ["b.ts"]), file("b.ts", ["c.ts"]), file("c.ts", ["a.ts"])],
      [file("x.ts", ["a.ts"]), file("a.ts", ["b.ts"]), file("b.ts", ["a.ts"])],
    ],
    good: [file("a.ts", ["b.ts", "c.ts"]), file("b.ts", ["d.ts"]), file("c.ts", ["d.ts"]), file("d.ts")],
  },
  {
    rule: texts.shortFiles,
    bad: [file("a.ts", [], "x\n".repeat(401))],
    good: [file("a.ts", [], "x\n".repeat(400)), file("b.ts", [], "x\n".repeat(399))],
  },
  {
    rule: texts.tellingNames,
    bad: [
      file("lib/utils/a.ts"),
      file("lib/util.ts"),
      file("tests/helpers.ts"),
      file("helper_test.ts"),
      file("lib/common/a.ts"),
    ],
    good: [file("lib/utilisation.ts"), file("lib/help.ts"), file("agent/shared_memory.ts")],
  },
  {
    rule: texts.noConsole,
    bad: [file("agent/a.ts", [], "console.log(1)"), file("lib/a.ts", [], 'x;\n console["error"](1)')],
    good: [
      file("lib/log.ts", [], "console.log(1)"),
      file("demo/main.ts", [], "console.log(1)"),
      file("agent/a.ts", [], '// console.log(1)\nconst a = "console.log(1)"; my_console.log(1);'),
    ],
  },
  {
    rule: texts.pureContracts,
    bad: [
      file("contracts/a.ts", [], "Deno.cwd()"),
      file("contracts/a.ts", [], "Date.now()"),
      file("contracts/a.ts", [], "new Date()"),
      file("contracts/a.ts", [], "Math.random()"),
      file("contracts/a.ts", [], "crypto.randomUUID()"),
      file("contracts/a.ts", [], "setTimeout(() => {}, 1)"),
      file("contracts/a.ts", [], "`${Date.now()}`"),
    ],
    good: [
      file("contracts/a.ts", [], '/** Deno.cwd() */ const a = "Math.random()"; new Date(0); Date.parse(a);'),
      file("lib/a.ts", [], "Date.now()"),
      file("contracts/a_test.ts", [], "Math.random()"),
    ],
  },
];

for (const { rule, bad, good } of CASES) {
  Deno.test(`the rule fires on each breach and on nothing else: ${rule.name}`, () => {
    for (const files of bad) {
      const found = rule.check(Array.isArray(files) ? files : [files]);
      assertEquals(found.length, 1, `${rule.name}: ${JSON.stringify(files)}`);
    }
    assertEquals(rule.check([...good]), []);
  });
}

Deno.test("every rule is shown to fire", () => {
  const shown = CASES.map(({ rule }) => rule.name).sort();
  assertEquals([...imports.IMPORT_RULES, ...texts.TEXT_RULES].map((rule) => rule.name).sort(), shown);
});

Deno.test("noImportCycles names the whole cycle", () => {
  const graph = [file("x.ts", ["a.ts"]), file("a.ts", ["b.ts"]), file("b.ts", ["a.ts"])];
  assertStringIncludes(imports.noImportCycles.check(graph)[0]?.message ?? "", "a.ts -> b.ts -> a.ts");
});
