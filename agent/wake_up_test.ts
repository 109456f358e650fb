import { assertEquals } from "@std/assert";
import { FakeClock, settle } from "../tests/fakes/fake_clock.ts";
import { WakeUp } from "./wake_up.ts";

/** Whether a pause is over, once everything has run that can. */
async function isOver(pause: Promise<void>): Promise<boolean> {
  let over = false;
  void pause.then(() => over = true);
  await settle();
  return over;
}

Deno.test("a pause ends at its time, by a poke, or with its signal, and leaves no sleep behind", async () => {
  const clock = new FakeClock();
  const wakeUp = new WakeUp(clock);
  const { signal } = new AbortController();
  const timed = wakeUp.pause(100, signal);
  assertEquals(await isOver(timed), false);
  await clock.advance(100);
  assertEquals(await isOver(timed), true);
  const poked = wakeUp.pause(100, signal);
  wakeUp.poke();
  assertEquals(await isOver(poked), true);
  const ending = new AbortController();
  const ended = wakeUp.pause(100, ending.signal);
  ending.abort();
  assertEquals(await isOver(ended), true);
  assertEquals(await isOver(wakeUp.pause(100, ending.signal)), true);
  assertEquals(clock.sleeping, 0);
});

Deno.test("a poke while nobody waits ends the next pause, and only that one", async () => {
  const clock = new FakeClock();
  const wakeUp = new WakeUp(clock);
  const { signal } = new AbortController();
  wakeUp.poke();
  wakeUp.poke();
  assertEquals(await isOver(wakeUp.pause(100, signal)), true);
  const next = wakeUp.pause(100, signal);
  assertEquals(await isOver(next), false);
  await clock.advance(100);
  assertEquals(await isOver(next), true);
});
