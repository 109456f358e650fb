import { assert, assertEquals } from "@std/assert";
import type { AgentProcess } from "./agent_process.ts";
import { AgentRun } from "./agent_run.ts";

const PROCESS: AgentProcess = { pid: 42, startTicks: 7, exited: new Promise(() => {}), release: () => {} };

function newRun(): AgentRun {
  return new AgentRun(PROCESS, "a".repeat(32), 100);
}

Deno.test("a run is ready once its main process says so by name", async () => {
  const run = newRun();
  assertEquals(run.take({ ready: true }, 110), false);
  assertEquals(run.take({ ready: true, mainPid: 43 }, 120), false);
  assertEquals([run.isReady, run.aliveMs], [false, 100]);
  assertEquals(run.take({ ready: true, mainPid: 42 }, 130), true);
  assertEquals([run.isReady, run.aliveMs], [true, 130]);
  await run.ready;
});

Deno.test("a run keeps its last status, and none of another process", () => {
  const run = newRun();
  assert(run.take({ status: "one", mainPid: 42 }, 110));
  assert(run.take({ status: "two" }, 120));
  assertEquals(run.take({ status: "three", mainPid: 41 }, 130), false);
  assertEquals(run.statusText, "two");
});

Deno.test("a run is alive when it says so", () => {
  const run = newRun();
  run.take({ watchdog: true, mainPid: 42 }, 500);
  run.take({ status: "busy", mainPid: 42 }, 600);
  assertEquals(run.aliveMs, 500);
});

Deno.test("a run that was adopted is ready from the start", async () => {
  const run = new AgentRun(PROCESS, "b".repeat(32), 100, true);
  assertEquals(run.isReady, true);
  await run.ready;
});
