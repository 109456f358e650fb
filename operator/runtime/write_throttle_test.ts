import { assertEquals } from "@std/assert";
import { FakeClock } from "../../tests/fakes/fake_clock.ts";
import { WriteThrottle } from "./write_throttle.ts";

Deno.test("an object may be written once per interval, each by its own time", async () => {
  const clock = new FakeClock();
  const throttle = new WriteThrottle(1_000, clock);
  assertEquals(throttle.waitMs("a"), 0);
  throttle.mark("a");
  await clock.advance(400);
  throttle.mark("b");
  assertEquals([throttle.waitMs("a"), throttle.waitMs("b")], [600, 1_000]);
  await clock.advance(599);
  assertEquals(throttle.waitMs("a"), 1);
  await clock.advance(1);
  assertEquals([throttle.waitMs("a"), throttle.waitMs("b")], [0, 400]);
});

Deno.test("what may be written again is forgotten", async () => {
  const clock = new FakeClock();
  const throttle = new WriteThrottle(1_000, clock);
  for (let index = 0; index < 100; index++) throttle.mark(`k${index}`);
  await clock.advance(1_000);
  throttle.mark("last");
  assertEquals(throttle.size, 1);
});
