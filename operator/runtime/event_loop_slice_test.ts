import { assert, assertEquals } from "@std/assert";
import { EventLoopSlice } from "./event_loop_slice.ts";

Deno.test("work that renews its slice lets timers have their turn", async () => {
  let fired = false;
  setTimeout(() => fired = true, 0);
  const slice = new EventLoopSlice(5);
  const startMs = performance.now();
  while (!fired) {
    if (slice.isOver) await slice.renew();
    else await Promise.resolve();
    assert(performance.now() - startMs < 5_000, "a timer waits for ever");
  }
});

Deno.test("a slice is over after its time and not before", async () => {
  const long = new EventLoopSlice(1_000_000);
  const none = new EventLoopSlice(0);
  assertEquals([long.isOver, none.isOver], [false, true]);
  await long.renew();
  assertEquals(long.isOver, false);
});
