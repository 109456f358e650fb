import { assertEquals, assertStringIncludes } from "@std/assert";
import { selectSuites } from "./run_tests.ts";
import { testSuites } from "./test_suites.ts";

const TREE = [
  "mod.ts",
  "contracts/ids.ts",
  "contracts/ids_test.ts",
  "lib/log.ts",
  "tests/fakes/clock_test.ts",
  "tests/crash/matrix_test.ts",
  "tests/crash/matrix.ts",
  "tests/architecture/rules_test.ts",
  "tests/golden/wire.json",
  "docs/wire.md",
];
const EXAMPLES = ["mod.ts", "contracts/ids_test.ts", "lib/log.ts", "tests/crash/matrix.ts"];

Deno.test("testSuites() finds the unit tests, the documented files and one suite per folder of tests", () => {
  assertEquals(testSuites(TREE, EXAMPLES), [
    { name: "unit", args: ["--parallel", "contracts/ids_test.ts", "tests/fakes/clock_test.ts"], quick: true },
    { name: "doc", args: ["--doc", "mod.ts", "lib/log.ts"], quick: true },
    { name: "architecture", args: ["tests/architecture/rules_test.ts"], quick: true },
    { name: "crash", args: ["tests/crash/matrix_test.ts"], quick: false },
  ]);
});

Deno.test("testSuites() leaves out what has no tests", () => {
  assertEquals(testSuites(["docs/wire.md", "agent/main.ts"], ["agent/main.ts"]), []);
});

Deno.test("selectSuites() picks by name and by kind, and passes the rest on", () => {
  const names = (...args: string[]) => {
    const selection = selectSuites(testSuites(TREE, EXAMPLES), args);
    return typeof selection === "string" ? selection : selection.suites.map((suite) => suite.name);
  };
  assertEquals(names(), ["unit", "doc", "architecture", "crash"]);
  assertEquals(names("--quick"), ["unit", "doc", "architecture"]);
  assertEquals(names("--outside"), ["crash"]);
  assertEquals(names("crash", "unit", "--", "--filter", "x"), ["unit", "crash"]);
  assertStringIncludes(String(names("crush")), 'no suite "crush"');
  assertStringIncludes(String(names("--fast")), "unknown option: --fast");
});
