import { assertEquals, assertStringIncludes } from "@std/assert";
import { EXIT_ENVIRONMENT, formatReadinessStatus } from "../../contracts/readiness.ts";
import type { StartOutcome } from "../ports.ts";
import { judgeStart, judgeStop } from "./verdict.ts";

type Failed = Extract<StartOutcome, { kind: "failed" }>;

function failed(overrides: Partial<Failed>): Failed {
  return { kind: "failed", result: "exit-code", lastLines: [], durationMs: 10, ...overrides };
}

function classOf(outcome: StartOutcome): string {
  const event = judgeStart(outcome, "fleet-agent.service");
  return event.kind === "StartFailed" ? `${event.finding.failureClass} ${event.finding.reason}` : event.kind;
}

Deno.test("judgeStart() blames the binary for every end that is its own doing", () => {
  assertEquals(classOf(failed({ result: "protocol", exitCode: 0 })), "version ExitedBeforeReady");
  assertEquals(classOf(failed({ exitCode: 1 })), "version ExitedBeforeReady");
  assertEquals(classOf(failed({ exitCode: EXIT_ENVIRONMENT - 1 })), "version ExitedBeforeReady");
  assertEquals(classOf(failed({ exitCode: EXIT_ENVIRONMENT + 1 })), "version ExitedBeforeReady");
  assertEquals(classOf(failed({ result: "signal", signal: "SIGSEGV" })), "version KilledBeforeReady");
  assertEquals(classOf(failed({ result: "core-dump", signal: "SIGABRT" })), "version KilledBeforeReady");
  assertEquals(classOf(failed({ result: "watchdog" })), "version WatchdogExpired");
  assertEquals(classOf(failed({ result: "timeout" })), "version NeverReady");
  assertEquals(classOf(failed({ result: "timeout", statusText: "starting up" })), "version NeverReady");
  const step = formatReadinessStatus("lock", "held by another");
  assertEquals(classOf(failed({ result: "timeout", statusText: step })), "version NeverReady");
});

Deno.test("judgeStart() blames the surroundings when the machine is short of something", () => {
  assertEquals(classOf(failed({ result: "oom-kill", signal: "SIGKILL" })), "environment EnvironmentUnavailable");
  assertEquals(classOf(failed({ result: "resources" })), "environment EnvironmentUnavailable");
});

Deno.test("judgeStart() blames the surroundings for exit 75 and for a timeout while waiting for them", () => {
  assertEquals(classOf(failed({ exitCode: EXIT_ENVIRONMENT })), "environment EnvironmentUnavailable");
  for (const step of ["network", "nats", "dns", "tls", "clock", "podman"] as const) {
    const statusText = formatReadinessStatus(step, "waits");
    assertEquals(classOf(failed({ result: "timeout", statusText })), "environment EnvironmentUnavailable", step);
    // An exit for another reason is a verdict, whatever the process last said.
    assertEquals(classOf(failed({ exitCode: 1, statusText })), "version ExitedBeforeReady", step);
  }
});

Deno.test("judgeStart() takes a canceled, refused or lost job for no verdict", () => {
  for (const why of ["canceled", "refused", "bus-error", "stopping"] as const) {
    assertEquals(classOf({ kind: "no-verdict", why, message: "Job canceled" }), "JobInconclusive");
  }
  assertEquals(classOf({ kind: "ready" }), "ServiceStarted");
});

Deno.test("judgeStart() keeps what the candidate left behind", () => {
  const event = judgeStart(
    failed({ exitCode: 3, statusText: "[podman] no socket", lastLines: ["one", "two"], invocationId: "f00d" }),
    "fleet-agent.service",
  );
  if (event.kind !== "StartFailed") throw new TypeError(event.kind);
  assertStringIncludes(event.finding.error, "[podman] no socket");
  assertEquals(event.finding.postMortem, {
    stage: "start",
    result: "exit-code",
    exitCode: 3,
    statusText: "[podman] no socket",
    unit: "fleet-agent.service",
    durationMs: 10,
    lastLines: ["one", "two"],
    invocationId: "f00d",
  });
});

Deno.test("judgeStop() has one event for each end", () => {
  assertEquals(judgeStop({ kind: "stopped" }).kind, "ServiceStopped");
  assertEquals(judgeStop({ kind: "not-stopped", message: "a process is left" }).kind, "StopFailed");
  assertEquals(judgeStop({ kind: "no-verdict", message: "no bus" }).kind, "JobInconclusive");
});
