import { assertEquals } from "@std/assert";
import type { Liveness } from "../../contracts/device_resource.ts";
import { judgeLiveness, type LivenessFacts } from "./liveness.ts";

const BOUNDS = { heartbeatIntervalMs: 30, staleAfterMs: 120, lostAfterMs: 1_000 };
const START = 10_000;

function judge(changes: Partial<LivenessFacts>): [Liveness, number, number | null] {
  const facts = { nowMs: START, watchedSinceMs: 0, heartbeatAtMs: null, openPhaseAtMs: null, previous: null };
  const { liveness, sinceMs, recheckAtMs } = judgeLiveness({ ...facts, ...changes }, BOUNDS);
  return [liveness, sinceMs, recheckAtMs];
}

const was = (liveness: Liveness, sinceMs = 1) => ({ liveness, sinceMs });

Deno.test("a heartbeat makes a device online, since its receipt", () => {
  assertEquals(judge({ heartbeatAtMs: START - 5 }), ["Online", START - 5, START + 116]);
  assertEquals(judge({ heartbeatAtMs: START - 5, previous: was("Unknown") }), ["Online", START - 5, START + 116]);
});

Deno.test("a device that stays online keeps its time, and is looked at when it would be stale", () => {
  assertEquals(judge({ heartbeatAtMs: START - 5, previous: was("Online") }), ["Online", 1, START + 116]);
});

Deno.test("stale begins after the bound, by the receive time", () => {
  const previous = was("Online");
  assertEquals(judge({ heartbeatAtMs: START - 119, previous })[0], "Online");
  assertEquals(judge({ heartbeatAtMs: START - 120, previous })[0], "Online");
  assertEquals(judge({ heartbeatAtMs: START - 121, previous }), ["Stale", START - 1, null]);
});

Deno.test("a silent device needs a heartbeat that is news", () => {
  const previous = was("Stale");
  assertEquals(judge({ heartbeatAtMs: START - 91, previous }), ["Stale", 1, null]);
  assertEquals(judge({ heartbeatAtMs: START - 90, previous })[0], "Online");
  assertEquals(judge({ heartbeatAtMs: START - 90, previous: was("Lost") })[0], "Online");
});

Deno.test("lost is a silent device whose phase is open longer than the bound", () => {
  const silent = { heartbeatAtMs: START - 2_000, previous: was("Stale") };
  assertEquals(judge({ ...silent, openPhaseAtMs: START - 999 }), ["Stale", 1, START + 2]);
  assertEquals(judge({ ...silent, openPhaseAtMs: START - 1_000 }), ["Stale", 1, START + 1]);
  assertEquals(judge({ ...silent, openPhaseAtMs: START - 1_001 }), ["Lost", START - 1, null]);
});

Deno.test("an open phase alone is not lost while heartbeats come", () => {
  assertEquals(judge({ heartbeatAtMs: START, openPhaseAtMs: 0, previous: was("Online") })[0], "Online");
});

Deno.test("a lost device stays lost until it is heard, and is stale when its phase has ended", () => {
  const silent = { heartbeatAtMs: START - 2_000, previous: was("Lost") };
  assertEquals(judge({ ...silent, openPhaseAtMs: START - 10 }), ["Lost", 1, null]);
  assertEquals(judge(silent)[0], "Stale");
});

Deno.test("without heartbeats at all a device is unknown, never lost", () => {
  const previous = was("Online");
  assertEquals(judge({ openPhaseAtMs: 0, previous }), ["Unknown", START, null]);
  assertEquals(judge({ openPhaseAtMs: 0, previous: was("Lost") }), ["Unknown", START, null]);
  assertEquals(judge({}), ["Unknown", START, null]);
});

Deno.test("a watch that has just begun lets the last answer stand for the time of a silence", () => {
  const watchedSinceMs = START - 120;
  for (const liveness of ["Online", "Stale", "Lost", "Unknown"] as const) {
    const previous = was(liveness);
    assertEquals(judge({ watchedSinceMs, previous }), [liveness, 1, START + 1]);
    assertEquals(judge({ watchedSinceMs, heartbeatAtMs: 0, previous }), [liveness, 1, START + 1]);
  }
  assertEquals(judge({ watchedSinceMs: START - 121, heartbeatAtMs: 0, previous: was("Online") })[0], "Stale");
  assertEquals(judge({ watchedSinceMs: START - 121, previous: was("Online") })[0], "Unknown");
});

Deno.test("a phase that was open before the watch began gets its whole time again", () => {
  const facts = { heartbeatAtMs: 0, openPhaseAtMs: 0, previous: was("Stale") };
  assertEquals(judge({ ...facts, watchedSinceMs: START - 1_000 })[0], "Stale");
  assertEquals(judge({ ...facts, watchedSinceMs: START - 1_001 })[0], "Lost");
});

Deno.test("while nobody watches nothing is judged", () => {
  const facts = { watchedSinceMs: null, heartbeatAtMs: 0, openPhaseAtMs: 0 };
  assertEquals(judge({ ...facts, previous: was("Online") }), ["Online", 1, null]);
  assertEquals(judge(facts), ["Unknown", START, null]);
});
