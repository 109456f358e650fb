import { assertEquals, assertRejects } from "@std/assert";
import { DEPLOYMENT_REREAD_MS } from "../../contracts/limits.ts";
import { FakeClock } from "../../tests/fakes/fake_clock.ts";
import { RecentReads } from "./recent_reads.ts";

Deno.test("one reading serves all who ask within its time, and no longer", async () => {
  const clock = new FakeClock();
  let reads = 0;
  const recent = new RecentReads((key) => Promise.resolve(`${key} ${++reads}`), DEPLOYMENT_REREAD_MS, clock);
  assertEquals(await Promise.all([recent.get("a"), recent.get("a"), recent.get("b")]), ["a 1", "a 1", "b 2"]);
  await clock.advance(DEPLOYMENT_REREAD_MS - 1);
  assertEquals(await recent.get("a"), "a 1");
  await clock.advance(1);
  assertEquals(await recent.get("a"), "a 3");
  assertEquals(recent.size, 1);
  recent.forget("a");
  assertEquals(await recent.get("a"), "a 4");
});

Deno.test("a reading that fails is made anew", async () => {
  let fails = true;
  const recent = new RecentReads(() => fails ? Promise.reject(new Error("away")) : Promise.resolve(1), 1_000);
  await assertRejects(() => recent.get("a"), Error, "away");
  fails = false;
  assertEquals(await recent.get("a"), 1);
});
