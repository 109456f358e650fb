/**
 * What every bus does when the broker goes away, comes back, or has lost a bucket.
 *
 * @module
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { BUCKET_SPECS, BUCKETS } from "../../contracts/buckets.ts";
import { FleetError } from "../../contracts/errors.ts";
import type { BusStatus } from "../../lib/bus/port.ts";
import { bytes, type RegisterTest, text, WatchTaker } from "./bus_world.ts";

async function errorOf(work: () => Promise<unknown>): Promise<FleetError> {
  return await assertRejects(work, FleetError);
}

/** Registers the part of the suite that is about faults. */
export function testBusFaults(test: RegisterTest): void {
  test("in an outage nothing is written and every call says so at once", async (world) => {
    const bucket = await world.bus.bucket(BUCKETS.desiredState);
    await bucket.put("a", bytes("1"));
    await world.beginOutage();
    assertEquals(world.bus.connected, false);
    for (
      const work of [
        () => bucket.get("a"),
        () => bucket.put("a", bytes("2")),
        () => bucket.update("a", bytes("2"), 1),
        () => bucket.delete("a"),
        () => bucket.snapshot(">", () => {}),
        () => world.bus.bucket(BUCKETS.upgradeIntent),
        () => world.bus.flush(1_000),
      ]
    ) {
      const error = await errorOf(work);
      assertEquals([error.code, error.retry], ["E_BUS_UNREACHABLE", "transient"], work.toString());
    }
    assertEquals(await world.bus.clockSkewMs(), null);
    await world.endOutage();
    assertEquals(world.bus.connected, true);
    assertEquals(text(await bucket.get("a")), "1");
    assertEquals(await bucket.put("a", bytes("3")), 2);
  });

  test("an outage shows in the status", async (world) => {
    const seen: BusStatus["kind"][] = [];
    const unlisten = world.bus.onStatus(({ kind }) => seen.push(kind));
    await world.beginOutage();
    await world.endOutage();
    assertEquals(seen.indexOf("disconnected"), 0);
    assert(seen.includes("reconnecting"));
    assertEquals(seen.at(-1), "connected");
    unlisten();
    const count = seen.length;
    await world.beginOutage();
    assertEquals(seen.length, count);
    await world.endOutage();
  });

  test("a watch begins again after an outage", async (world) => {
    const bucket = await world.bus.bucket(BUCKETS.upgradeIntent);
    await bucket.put("a", bytes("1"));
    const watch = new WatchTaker(bucket, ">");
    assertEquals(await watch.take(2), ["a=1@1", "current"]);
    await world.beginOutage();
    await world.endOutage();
    const again = watch.take(3);
    assertEquals(await again, ["restarted", "a=1@1", "current"]);
    await bucket.put("b", bytes("2"));
    assertEquals(await watch.next(), "b=2@2");
    await watch.end();
  });

  test("a watch may begin in an outage, and may end in one", async (world) => {
    const bucket = await world.bus.bucket(BUCKETS.upgradeIntent);
    await world.beginOutage();
    const [lasting, ending] = [new WatchTaker(bucket, ">"), new WatchTaker(bucket, ">")];
    const first = lasting.next();
    const never = ending.next();
    await ending.end();
    assertEquals(await never, "end");
    await world.endOutage();
    assertEquals(await first, "current");
    await lasting.end();
  });

  test("a watch outlives its bucket, and follows the one that is made anew", async (world) => {
    const bucket = await world.bus.bucket(BUCKETS.upgradeIntent);
    for (const value of ["1", "2", "3"]) await bucket.put("a", bytes(value));
    await bucket.put("b", bytes("1"));
    const watch = new WatchTaker(bucket, ">");
    assertEquals(await watch.take(3), ["a=3@3", "b=1@4", "current"]);
    await world.deleteBucket(BUCKETS.upgradeIntent);
    await world.bus.ensureBuckets(BUCKET_SPECS, 10, 1);
    await bucket.put("a", bytes("new"));
    // The watch may find the new bucket before or after that write.
    const events = await watch.takeUntil("a=new@1");
    assertEquals(events[0], "restarted");
    if (!events.includes("current")) events.push(await watch.next());
    assertEquals(events.toSorted(), ["a=new@1", "current", "restarted"]);
    await bucket.put("b", bytes("new"));
    assertEquals(await watch.next(), "b=new@2");
    await watch.end();
  });
}
