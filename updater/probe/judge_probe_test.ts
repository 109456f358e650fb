import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { decodeBytes } from "../../contracts/codec.ts";
import { postMortem } from "../../contracts/agent_upgrade.ts";
import { POST_MORTEM_MAX_BYTES, SELF_TEST_REPORT_MAX_BYTES } from "../../contracts/limits.ts";
import type { SelfTestCheck } from "../../contracts/self_test_report.ts";
import { judgeProbe } from "./judge_probe.ts";
import type { RunOutcome } from "../process/run_bounded.ts";

const TARGET = { version: "2.0.0", arch: "x86_64" } as const;
const OK: SelfTestCheck = { name: "config", result: "ok", durationMs: 1 };
const encoder = new TextEncoder();

function run(stdout: string | Record<string, unknown>, some: Partial<RunOutcome> = {}): RunOutcome {
  const text = typeof stdout === "string" ? stdout : JSON.stringify(stdout);
  return {
    end: "exit",
    exitCode: 0,
    stdout: encoder.encode(text),
    stderr: encoder.encode(""),
    durationMs: 12,
    ...some,
  };
}

function report(members: Record<string, unknown> = {}): Record<string, unknown> {
  return { schema: 1, version: "2.0.0", arch: "x86_64", form: "script", passed: true, checks: [OK], ...members };
}

function failing(...checks: readonly Partial<SelfTestCheck>[]): Record<string, unknown> {
  const all = checks.map((check) => ({ name: "x", result: "failed", durationMs: 1, reason: "why", ...check }));
  return report({ passed: false, checks: [OK, ...all] });
}

function verdict(outcome: RunOutcome): string {
  const judged = judgeProbe(outcome, TARGET);
  return judged.kind === "passed" ? "passed" : `${judged.reason} ${judged.failureClass}`;
}

Deno.test("a report that passed with the right version passes", () => {
  assertEquals(verdict(run(report())), "passed");
  assertEquals(verdict(run(`\n${JSON.stringify(report())}\n`)), "passed");
});

Deno.test("another version or architecture is the candidate's fault, whatever else failed", () => {
  assertEquals(verdict(run(report({ version: "2.0.1" }))), "VersionMismatch version");
  assertEquals(verdict(run({ ...failing({ name: "nats" }), version: "1.0.0" })), "VersionMismatch version");
  assertEquals(verdict(run(report({ arch: "aarch64" }))), "ArchMismatch version");
});

Deno.test("failed checks are sorted by their class, and by their step where they name none", () => {
  const cases: readonly (readonly [Partial<SelfTestCheck>[], string])[] = [
    [[{ name: "nats", failureClass: "environment" }], "EnvironmentUnavailable environment"],
    [[{ name: "snapshot" }], "EnvironmentUnavailable environment"],
    [[{ name: "tls" }, { name: "anything", failureClass: "environment" }], "EnvironmentUnavailable environment"],
    [[{ name: "nats", failureClass: "version" }], "SelfTestFailed version"],
    [[{ name: "config" }], "SelfTestFailed version"],
    [[{ name: "unheard-of" }], "SelfTestFailed version"],
    [[{ name: "nats" }, { name: "config" }], "SelfTestFailed version"],
    [[{ name: "x", failureClass: "policy" }], "SelfTestFailed version"],
  ];
  for (const [checks, expected] of cases) {
    for (const exitCode of [0, 1, 75]) assertEquals(verdict(run(failing(...checks), { exitCode })), expected);
  }
});

Deno.test("a report that contradicts itself or its exit does not pass", () => {
  assertEquals(verdict(run(report(), { exitCode: 1 })), "SelfTestFailed version");
  assertEquals(verdict(run(report({ passed: false }))), "SelfTestFailed version");
  assertEquals(verdict(run({ ...failing({}), passed: true })), "SelfTestFailed version");
});

Deno.test("an exit without a report is the candidate's fault, but for exit 75", () => {
  for (const text of ["", "x", "{}", JSON.stringify(report()).repeat(2), `starting\n${JSON.stringify(report())}`]) {
    for (const exitCode of [0, 1, 64, 78]) assertEquals(verdict(run(text, { exitCode })), "ReportInvalid version");
    assertEquals(verdict(run(text, { exitCode: 75 })), "EnvironmentUnavailable environment");
  }
});

Deno.test("a report is read up to its limit", () => {
  const text = JSON.stringify(report());
  for (const size of [SELF_TEST_REPORT_MAX_BYTES - 1, SELF_TEST_REPORT_MAX_BYTES]) {
    assertEquals(verdict(run(text.padEnd(size))), "passed");
  }
  assertEquals(verdict(run(text.padEnd(SELF_TEST_REPORT_MAX_BYTES + 1))), "ReportInvalid version");
});

Deno.test("other ends are what they are", () => {
  assertEquals(verdict(run(report(), { end: "timeout" })), "ProbeTimeout version");
  assertEquals(verdict(run(report(), { end: "output" })), "ProbeOutputTooLarge version");
  assertEquals(verdict(run("", { end: "signal", signal: "SIGSEGV" })), "ProbeKilled version");
  assertEquals(verdict(run("", { end: "canceled" })), "ProbeCanceled internal");
});

Deno.test("the post-mortem names the check, the exit and the last lines, and fits its bounds", () => {
  const judged = judgeProbe(
    run(failing({ name: "nats", reason: "refused\u0000" }), { exitCode: 75, stderr: encoder.encode("a\nb\n") }),
    TARGET,
  );
  assert(judged.kind === "failed");
  assertEquals(judged.postMortem, {
    stage: "probe",
    result: "exit-code",
    exitCode: 75,
    durationMs: 12,
    lastLines: ["a", "b"],
    failedCheck: { name: "nats", reason: "refused " },
  });
  const huge = judgeProbe(run("\u0001\u4e16".repeat(30_000) + "\n\u4e16".repeat(300)), TARGET);
  assert(huge.kind === "failed");
  const bytes = encoder.encode(JSON.stringify(huge.postMortem));
  assertEquals(decodeBytes(postMortem, bytes, POST_MORTEM_MAX_BYTES), huge.postMortem);
  assertStringIncludes(huge.error, "cannot be read");
});
