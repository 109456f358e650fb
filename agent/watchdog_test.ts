import { assertEquals } from "@std/assert";
import { silentLogger } from "../lib/log.ts";
import { FakeClock } from "../tests/fakes/fake_clock.ts";
import { FakeNotifier } from "../tests/fakes/fake_notifier.ts";
import { LoopProgress } from "./loop_progress.ts";
import { feedWatchdog, watchdogIntervalMs } from "./watchdog.ts";

const STALL_MS = 1_000;

Deno.test("watchdogIntervalMs() is what the service manager wants of this process", () => {
  assertEquals(watchdogIntervalMs({ usec: "30000000" }, 7), 30_000);
  assertEquals(watchdogIntervalMs({ usec: "30000000", pid: "7" }, 7), 30_000);
  assertEquals(watchdogIntervalMs({ usec: "30000000", pid: "8" }, 7), null);
  for (const usec of [undefined, "", "0", "-1", "x", "1e3", "9".repeat(16)]) {
    assertEquals(watchdogIntervalMs({ usec }, 7), null);
  }
  assertEquals(watchdogIntervalMs({ usec: "1" }, 7), 1);
});

for (const extra of [-1, 0, 1]) {
  Deno.test(`LoopProgress after ${STALL_MS + extra} ms of silence`, async () => {
    const clock = new FakeClock();
    const progress = new LoopProgress(clock, STALL_MS);
    progress.turned("a");
    await clock.advance(STALL_MS + extra);
    assertEquals(progress.stalled(), extra > 0 ? ["a"] : []);
    progress.turned("a");
    assertEquals(progress.stalled(), []);
  });
}

Deno.test("feedWatchdog() feeds while every loop turns, stops when one hangs, and goes on when it turns again", async () => {
  const clock = new FakeClock();
  const notifier = new FakeNotifier();
  const progress = new LoopProgress(clock, STALL_MS);
  const ending = new AbortController();
  progress.turned("a");
  const options = { intervalMs: 200, notifier, progress, clock, log: silentLogger };
  const feeding = feedWatchdog(options, ending.signal);
  const fed = () => notifier.said.filter(({ watchdog }) => watchdog === true).length;
  await clock.advance(STALL_MS);
  assertEquals(fed(), 11);
  await clock.advance(10 * STALL_MS);
  assertEquals(fed(), 11);
  progress.turned("a");
  await clock.advance(200);
  assertEquals(fed(), 13);
  ending.abort();
  await feeding;
});
