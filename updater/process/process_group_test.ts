import { assertEquals } from "@std/assert";
import { sendSignal, signalGroup } from "./process_group.ts";

Deno.test("no id means everybody", () => {
  for (const id of [0, 1, -1, NaN, 1.5, Infinity]) {
    assertEquals(sendSignal(id, "SIGCONT"), false);
    assertEquals(signalGroup(id, "SIGCONT"), false);
  }
});

Deno.test("a signal tells whether there was anybody", () => {
  assertEquals(sendSignal(Deno.pid, "SIGCONT"), true);
  // Above the largest pid that Linux gives.
  assertEquals(sendSignal(2 ** 22 + 1, "SIGCONT"), false);
  assertEquals(signalGroup(2 ** 22 + 1, "SIGCONT"), false);
});
