import { assertEquals } from "@std/assert";
import { type JobEnd, jobEndOf, signalName, startOutcomeOf, stopOutcomeOf } from "./job_outcome.ts";
import type { UnitProperties } from "./unit_properties.ts";

const FAILED: JobEnd = { kind: "failed", message: "Job failed" };
const CANCELED: JobEnd = { kind: "failed", message: "Job canceled" };

function unit(overrides: Partial<UnitProperties> = {}): UnitProperties {
  return {
    active: "activating",
    sub: "auto-restart",
    result: "exit-code",
    mainPid: 0,
    execPid: 110,
    execCode: "exited",
    execStatus: 1,
    statusText: "",
    invocationId: "a46aeb73f0444e089397067efce7a62a",
    restarts: 0,
    controlGroup: "",
    conditionMet: true,
    ...overrides,
  };
}

function start(job: JobEnd, shown: UnitProperties | null, systemStopping = false): string {
  const outcome = startOutcomeOf({ job, unit: shown, systemStopping, durationMs: 7 });
  if (outcome.kind === "ready") return "ready";
  if (outcome.kind === "no-verdict") return `no-verdict ${outcome.why}`;
  return ["failed", outcome.result, outcome.exitCode, outcome.signal].filter((word) => word !== undefined).join(" ");
}

Deno.test("jobEndOf() tells a job that failed from one that was never begun", () => {
  assertEquals([0, 1, 2, 4, 5, 6].map((code) => jobEndOf(code, "m").kind), [
    "done",
    "failed",
    "refused",
    "refused",
    "refused",
    "refused",
  ]);
});

Deno.test("a start is judged by the result, as measured with systemd 252 and 257", () => {
  assertEquals(start({ kind: "done" }, unit({ active: "active", result: "success" })), "ready");
  assertEquals(start(FAILED, unit({ result: "protocol", execStatus: 0 })), "failed protocol 0");
  assertEquals(start(FAILED, unit({ execStatus: 75 })), "failed exit-code 75");
  assertEquals(start(FAILED, unit({ result: "signal", execCode: "killed", execStatus: 9 })), "failed signal SIGKILL");
  assertEquals(
    start(FAILED, unit({ result: "protocol", execCode: "killed", execStatus: 15 })),
    "failed protocol SIGTERM",
  );
  assertEquals(
    start(FAILED, unit({ result: "core-dump", execCode: "dumped", execStatus: 6 })),
    "failed core-dump SIGABRT",
  );
  assertEquals(start(FAILED, unit({ result: "timeout", execCode: "killed", execStatus: 15 })), "failed timeout");
  assertEquals(start(FAILED, unit({ result: "watchdog", execCode: "killed", execStatus: 6 })), "failed watchdog");
  assertEquals(
    start(FAILED, unit({ result: "oom-kill", execCode: "killed", execStatus: 9 })),
    "failed oom-kill SIGKILL",
  );
  assertEquals(start(FAILED, unit({ result: "resources" })), "failed resources");
});

Deno.test("a start that says nothing about the process is no verdict", () => {
  const idle = unit({ active: "inactive", result: "success" });
  assertEquals(start(CANCELED, idle), "no-verdict canceled");
  assertEquals(start(FAILED, unit({ result: "start-limit-hit" })), "no-verdict canceled");
  assertEquals(start({ kind: "refused", message: "is destructive" }, idle), "no-verdict refused");
  assertEquals(start({ kind: "refused", message: "is destructive" }, idle, true), "no-verdict stopping");
  assertEquals(start({ kind: "late", message: "m" }, unit({ result: "success" })), "no-verdict bus-error");
  assertEquals(start(FAILED, null), "no-verdict bus-error");
  assertEquals(start({ kind: "abandoned" }, null), "no-verdict stopping");
});

Deno.test("a failure while the system stops is no verdict, whatever the result", () => {
  for (const result of ["exit-code", "timeout", "signal"]) {
    assertEquals(start(FAILED, unit({ result }), true), "no-verdict stopping");
  }
});

Deno.test("a process that does not end at its time limit is judged at the updater's", () => {
  const hanging = unit({ active: "deactivating", sub: "stop-sigterm", result: "timeout", execCode: "none" });
  assertEquals(start({ kind: "late", message: "m" }, hanging), "failed timeout");
});

Deno.test("a start that systemd has skipped is not READY, one that ended right after READY is", () => {
  assertEquals(start({ kind: "done" }, unit({ active: "inactive", conditionMet: false })), "no-verdict refused");
  assertEquals(start({ kind: "done" }, unit({ active: "activating" })), "ready");
  assertEquals(start({ kind: "done" }, null), "ready");
});

Deno.test("a failed start carries the last status and the invocation", () => {
  const shown = unit({ statusText: "[nats] refused" });
  const outcome = startOutcomeOf({ job: FAILED, unit: shown, systemStopping: false, durationMs: 7 });
  assertEquals(outcome, {
    kind: "failed",
    result: "exit-code",
    exitCode: 1,
    statusText: "[nats] refused",
    invocationId: "a46aeb73f0444e089397067efce7a62a",
    lastLines: [],
    durationMs: 7,
  });
});

Deno.test("stopped is inactive or failed without a process, whatever the job says", () => {
  const stop = (job: JobEnd, shown: UnitProperties | null, populated = false) =>
    stopOutcomeOf({ job, unit: shown, populated }).kind;
  const inactive = unit({ active: "inactive" });
  const late: JobEnd = { kind: "late", message: "m" };
  assertEquals(stop({ kind: "done" }, inactive), "stopped");
  assertEquals(stop({ kind: "done" }, unit({ active: "failed", result: "timeout" })), "stopped");
  assertEquals(stop(CANCELED, inactive), "stopped");
  assertEquals(stop({ kind: "done" }, inactive, true), "not-stopped");
  assertEquals(stop(late, unit({ active: "deactivating" }), true), "not-stopped");
  assertEquals(stop(CANCELED, unit({ active: "activating" })), "no-verdict");
  assertEquals(stop({ kind: "done" }, unit({ active: "active" })), "no-verdict");
  assertEquals(stop({ kind: "done" }, null), "no-verdict");
  assertEquals(stop({ kind: "abandoned" }, inactive), "no-verdict");
});

Deno.test("signalName() names signals by number", () => {
  assertEquals([signalName(9), signalName(15), signalName(200)], ["SIGKILL", "SIGTERM", undefined]);
});
