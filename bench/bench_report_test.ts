import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { parseBenchReport } from "./bench_report.ts";

function report(bench: Record<string, unknown>): string {
  return JSON.stringify({ version: 1, runtime: "Deno", cpu: "x", benches: [bench] });
}

const OK = {
  origin: "file:///x",
  group: "g",
  name: "ours",
  baseline: false,
  results: [{ ok: { n: 7, avg: 9_000_000, p75: 2_500_000 } }],
};

Deno.test("parseBenchReport() gives the typical time of each benchmark in ms", () => {
  assertEquals(parseBenchReport(report(OK)), [{ group: "g", name: "ours", isBaseline: false, typicalMs: 2.5 }]);
  assertEquals(parseBenchReport(report({ ...OK, baseline: true }))[0]?.isBaseline, true);
  assertEquals(parseBenchReport(JSON.stringify({ benches: [] })), []);
});

Deno.test("parseBenchReport() says what is wrong", () => {
  const problem = (text: string) => (assertThrows(() => parseBenchReport(text)) as Error).message;
  assertStringIncludes(problem("error: Module not found"), "not JSON");
  assertStringIncludes(problem("{}"), "no benches");
  assertStringIncludes(problem("null"), "no benches");
  assertStringIncludes(problem(report({ ...OK, group: null })), "in no group");
  assertStringIncludes(problem(report({ ...OK, results: [] })), "g/ours has no time");
  assertStringIncludes(problem(report({ ...OK, results: [{ ok: { p75: 0 } }] })), "g/ours has no time");
  const failed = { message: "Error: no such file", fileName: "x" };
  assertStringIncludes(problem(report({ ...OK, results: [{ failed }] })), "g/ours failed: Error: no such file");
});
