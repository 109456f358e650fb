import { assertEquals } from "@std/assert";
import { ReplayTracker } from "./replay_tracker.ts";

function trackerOf(...keys: string[]): ReplayTracker {
  const tracker = new ReplayTracker();
  for (const key of keys) tracker.put(key);
  assertEquals(tracker.current(), []);
  return tracker;
}

Deno.test("a watch that begins again finds what did not come again", () => {
  const tracker = trackerOf("a", "b", "c");
  tracker.put("d");
  tracker.delete("c");
  tracker.restart();
  tracker.put("a");
  tracker.put("d");
  assertEquals(tracker.current(), ["b"]);
  tracker.put("e");
  tracker.restart();
  tracker.put("a");
  assertEquals(tracker.current(), ["d", "e"]);
});

Deno.test("a watch that begins again twice counts only from the second time", () => {
  const tracker = trackerOf("a", "b");
  tracker.restart();
  tracker.put("a");
  tracker.restart();
  tracker.put("b");
  assertEquals(tracker.current(), ["a"]);
});

Deno.test("a key that is deleted during the replay is not told twice", () => {
  const tracker = trackerOf("a");
  tracker.restart();
  tracker.put("a");
  tracker.delete("a");
  assertEquals(tracker.current(), []);
});

Deno.test("a store that comes back empty has lost everything", () => {
  const tracker = trackerOf("a", "b");
  tracker.restart();
  assertEquals(tracker.current(), ["a", "b"]);
  assertEquals(tracker.current(), []);
});
