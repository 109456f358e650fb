import { assertEquals } from "@std/assert";
import { ReplayTracker } from "./replay_tracker.ts";

Deno.test("the first replay finds nothing gone", () => {
  const tracker = new ReplayTracker();
  tracker.put("a");
  assertEquals(tracker.current(), []);
});

Deno.test("a second replay finds what did not come again", () => {
  const tracker = new ReplayTracker();
  for (const key of ["a", "b", "c"]) tracker.put(key);
  tracker.current();
  tracker.put("d");
  tracker.delete("c");
  // The store was lost here: everything that is there comes again.
  tracker.put("a");
  tracker.put("d");
  assertEquals(tracker.current(), ["b"]);
  tracker.put("a");
  assertEquals(tracker.current(), ["d"]);
});

Deno.test("a store that comes back empty has lost everything", () => {
  const tracker = new ReplayTracker();
  tracker.put("a");
  tracker.put("b");
  tracker.current();
  assertEquals(tracker.current(), ["a", "b"]);
  assertEquals(tracker.current(), []);
});
