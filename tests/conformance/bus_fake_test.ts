import { assertEquals, assertRejects } from "@std/assert";
import { BUCKET_SPECS, BUCKETS } from "../../contracts/buckets.ts";
import { FleetError } from "../../contracts/errors.ts";
import { snapshotMap } from "../../lib/bus/snapshot_map.ts";
import { MemoryBroker } from "../fakes/memory_bus.ts";
import { testBus } from "./bus.ts";
import { bytes, text } from "./bus_world.ts";
import { openMemoryBusWorld } from "./memory_bus_world.ts";

testBus("bus in memory", openMemoryBusWorld);

async function openMemoryBus(nowMs?: () => number) {
  const broker = new MemoryBroker(nowMs);
  const bus = broker.connect({ nowMs: () => (nowMs?.() ?? 0) + 7_000 });
  await bus.ensureBuckets(BUCKET_SPECS, 10, 1);
  return {
    bus,
    bucket: await bus.bucket(BUCKETS.deviceInfo),
    other: await broker.connect().bucket(BUCKETS.deviceInfo),
  };
}

Deno.test("MemoryBus loses the answer to a write that happened, or that did not", async () => {
  const { bus, bucket } = await openMemoryBus();
  for (const [lost, expected] of [["applied", "x"], ["not-applied", null]] as const) {
    bus.loseNextAnswer = lost;
    const error = await assertRejects(() => bucket.put(lost, bytes("x")), FleetError);
    assertEquals(error.code, "E_BUS_UNKNOWN_OUTCOME");
    assertEquals(text(await bucket.get(lost)), expected);
  }
  assertEquals(await bucket.put("next", bytes("y")), 2);
});

Deno.test("MemoryBus can be silent", async () => {
  const { bus, bucket } = await openMemoryBus();
  bus.silent = true;
  assertEquals((await assertRejects(() => bucket.get("a"), FleetError)).code, "E_BUS_TIMEOUT");
  assertEquals((await assertRejects(() => bucket.put("a", bytes("1")), FleetError)).code, "E_BUS_UNKNOWN_OUTCOME");
  assertEquals(await bus.clockSkewMs(), null);
  bus.silent = false;
  assertEquals(await bucket.get("a"), null);
});

Deno.test("MemoryBus breaks a snapshot in its middle", async () => {
  const { bus, bucket } = await openMemoryBus();
  for (const key of ["a", "b"]) await bucket.put(key, bytes("1"));
  bus.breakNextSnapshot = true;
  const error = await assertRejects(() => snapshotMap(bucket, ">"), FleetError);
  assertEquals(error.code, "E_BUS_SNAPSHOT_INCOMPLETE");
  assertEquals((await snapshotMap(bucket, ">")).size, 2);
  bus.duringNextSnapshot = () => bus.disconnect();
  assertEquals((await assertRejects(() => snapshotMap(bucket, ">"), FleetError)).code, "E_BUS_SNAPSHOT_INCOMPLETE");
});

Deno.test("MemoryBus writes in the middle of a snapshot: the map is the state at its end", async () => {
  const { bus, bucket, other } = await openMemoryBus();
  for (const key of ["a", "b", "c"]) await bucket.put(key, bytes("1"));
  const writes: Promise<unknown>[] = [];
  bus.duringNextSnapshot = () => {
    writes.push(other.delete("a"), other.put("b", bytes("2")), other.put("d", bytes("1")));
  };
  const map = await snapshotMap(bucket, ">");
  await Promise.all(writes);
  assertEquals([...map].map(([key, entry]) => key + text(entry)), ["c1", "b2", "d1"]);
});

Deno.test("MemoryBus has the broker's clock for entries, and its own for the skew", async () => {
  let nowMs = 1_000_000;
  const { bus, bucket } = await openMemoryBus(() => nowMs);
  await bucket.put("a", bytes("1"));
  nowMs += 5_000;
  assertEquals((await bucket.get("a"))?.receivedAtMs, 1_000_000);
  assertEquals(await bus.clockSkewMs(), 7_000);
});
