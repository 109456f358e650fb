import { assertEquals } from "@std/assert";
import { FakeClock } from "../../tests/fakes/fake_clock.ts";
import { BrokerTime } from "./broker_time.ts";

Deno.test("the broker's time runs on by the monotonic clock, whatever the own wall clock does", async () => {
  const clock = new FakeClock(1_000_000);
  let skewMs: number | null = null;
  const time = new BrokerTime({ clockSkewMs: () => Promise.resolve(skewMs) }, clock);
  assertEquals([await time.measure(), time.nowMs()], [false, 1_000_000]);
  skewMs = 400_000;
  assertEquals([await time.measure(), time.nowMs()], [true, 600_000]);
  await clock.advance(1_000);
  clock.setNowMs(9_000_000);
  assertEquals(time.nowMs(), 601_000);
  skewMs = null;
  assertEquals([await time.measure(), time.nowMs()], [false, 601_000]);
});

Deno.test("the watch is without a gap from its beginning to its interruption", async () => {
  const clock = new FakeClock(1_000);
  const time = new BrokerTime({ clockSkewMs: () => Promise.resolve(0) }, clock);
  assertEquals(time.watchedSinceMs, null);
  await time.measure();
  time.begin();
  await clock.advance(500);
  assertEquals(time.watchedSinceMs, 1_000);
  time.interrupt();
  assertEquals(time.watchedSinceMs, null);
  time.begin();
  assertEquals(time.watchedSinceMs, 1_500);
});
