import { assertEquals } from "@std/assert";
import { assertRejected, assertStrictDecoder } from "../tests/assert/strict_decoder.ts";
import { WIRE_SAMPLES } from "../tests/golden/wire_samples.ts";
import { PROBE_CHECKS_MAX } from "./limits.ts";
import { CHECK_RESULTS, selfTestReport } from "./self_test_report.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const report = WIRE_SAMPLES.find(({ name }) => name === "self_test_report")?.document as Record<string, unknown>;
const check = { name: "config", result: "ok", durationMs: 0 };

pure("self-test report: strict in every field", () => assertStrictDecoder(selfTestReport, report));

pure("self-test report: one to the limit of checks", () => {
  const of = (count: number) => ({ ...report, checks: Array(count).fill(check) });
  for (const count of [1, PROBE_CHECKS_MAX - 1, PROBE_CHECKS_MAX]) selfTestReport(of(count), "");
  for (const count of [0, PROBE_CHECKS_MAX + 1]) assertRejected(selfTestReport, of(count), "checks");
});

pure("self-test report: every result; a newer candidate's is no reason to refuse the report", () => {
  for (const result of CHECK_RESULTS) selfTestReport({ ...report, checks: [{ ...check, result }] }, "");
  const newer = { ...report, checks: [{ ...check, result: "warned", failureClass: "weather" }] };
  assertEquals(selfTestReport(newer, "").checks, [{ ...check, result: "skipped", failureClass: "internal" }]);
  assertRejected(selfTestReport, { ...report, checks: [{ ...check, durationMs: -1 }] }, "checks[0].durationMs");
});
