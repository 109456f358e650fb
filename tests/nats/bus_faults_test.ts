import { assert, assertEquals, assertRejects } from "@std/assert";
import { BUCKET_SPECS, type BucketName, BUCKETS } from "../../contracts/buckets.ts";
import { FleetError } from "../../contracts/errors.ts";
import type { BusBounds } from "../../lib/bus/bus_options.ts";
import type { BusStatus, KvBucket, WatchEvent } from "../../lib/bus/port.ts";
import { bytes, text, WatchTaker } from "../conformance/bus_world.ts";
import { type NatsServer, startNatsServer } from "./nats_server.ts";
import { openTestBus, type TestBus } from "./test_bus.ts";
import { waitUntil } from "./wait_until.ts";

interface World {
  readonly server: NatsServer;
  readonly bus: TestBus;
  readonly bucket: KvBucket;
}

function faultTest(name: string, bounds: Partial<BusBounds>, body: (world: World) => Promise<void>): void {
  Deno.test(name, async () => {
    const server = await startNatsServer();
    const bus = await openTestBus(server, { bounds });
    try {
      await bus.ensureBuckets(BUCKET_SPECS, 100_000, 1);
      await body({ server, bus, bucket: await bus.bucket(BUCKETS.desiredState) });
    } finally {
      await bus.close();
      await server.stop();
    }
  });
}

/** Writes `count` values of a size, many at a time. */
async function fill(bucket: KvBucket, count: number, sizeBytes: number): Promise<void> {
  const value = new Uint8Array(sizeBytes);
  for (let start = 0; start < count; start += 500) {
    const keys = Array.from({ length: Math.min(500, count - start) }, (_, index) => `k${start + index}`);
    await Promise.all(keys.map((key) => bucket.put(key, value)));
  }
}

/** Deletes every consumer of desired-state; one that went by itself meanwhile is none. */
async function deleteConsumers(admin: TestBus): Promise<void> {
  const { consumers } = await admin.rawRequest("$JS.API.CONSUMER.NAMES.KV_desired-state", {});
  for (const name of consumers as string[] | null ?? []) {
    await admin.core.apiRequest(`$JS.API.CONSUMER.DELETE.KV_desired-state.${name}`, null, "delete a consumer");
  }
}

async function errorOf(work: () => Promise<unknown>): Promise<FleetError> {
  return await assertRejects(work, FleetError);
}

faultTest("the server is killed in the middle of a snapshot: an error, never a part", {}, async (world) => {
  const { server, bus, bucket } = world;
  await fill(bucket, 20_000, 1_000);
  for (const killAfter of [1, 100, 5_000]) {
    let taken = 0;
    let killed = Promise.resolve();
    const error = await errorOf(() =>
      bucket.snapshot(">", () => {
        if (++taken === killAfter) killed = server.kill9();
      })
    );
    assertEquals([error.code, error.retry], ["E_BUS_SNAPSHOT_INCOMPLETE", "transient"]);
    assert(taken < 20_000);
    await killed;
    await server.restart();
    await waitUntil("the reconnection", () => bus.connected);
  }
  assertEquals((await bucket.snapshot(">", () => {})).entries, 20_000);
});

faultTest(
  "the server freezes in the middle of a snapshot: an error after the stall time",
  { snapshotStallMs: 300 },
  async ({ server, bucket }) => {
    await fill(bucket, 20_000, 1_000);
    let taken = 0;
    const error = await errorOf(() =>
      bucket.snapshot(">", () => {
        if (++taken === 1) void server.pause();
      })
    );
    assertEquals(error.code, "E_BUS_SNAPSHOT_INCOMPLETE");
    assert(error.message.includes("no progress within 300 ms"), error.message);
    server.resume();
    assertEquals((await bucket.snapshot(">", () => {})).entries, 20_000);
  },
);

faultTest("a consumer that is deleted under a snapshot: an error", { snapshotStallMs: 600 }, async (world) => {
  const { server, bus, bucket } = world;
  await fill(bucket, 60_000, 1_000);
  const admin = await openTestBus(server);
  let deleted: Promise<void> | undefined;
  let outcome = "complete";
  await bucket.snapshot(">", () => {
    deleted ??= deleteConsumers(admin);
  }).catch((error) => {
    outcome = error.code;
  });
  await deleted;
  // The deletion races with the end of the snapshot; an incomplete one must never look complete.
  assert(outcome === "complete" || outcome === "E_BUS_SNAPSHOT_INCOMPLETE", outcome);
  await admin.close();
  assert(bus.connected);
});

faultTest("the server is killed among writes: each is done, not done, or unknown, and says so", {}, async (world) => {
  const { server, bus, bucket } = world;
  for (let round = 0; round < 5; round++) {
    const outcomes = new Map<string, string>();
    const writes = Array.from({ length: 200 }, async (_, index) => {
      const key = `r${round}.k${index}`;
      await new Promise((resolve) => setTimeout(resolve, index / 10));
      try {
        await bucket.put(key, bytes("x"));
        outcomes.set(key, "done");
      } catch (error) {
        outcomes.set(key, (error as FleetError).code);
      }
    });
    await waitUntil("some writes", () => outcomes.size > 10);
    await server.kill9();
    await Promise.all(writes);
    await server.restart();
    await waitUntil("the reconnection", () => bus.connected);
    for (const [key, outcome] of outcomes) {
      assert(["done", "E_BUS_UNREACHABLE", "E_BUS_UNKNOWN_OUTCOME"].includes(outcome), outcome);
      const isThere = await bucket.get(key) !== null;
      // A killed process loses nothing that it has handed to the kernel.
      if (outcome === "done") assert(isThere, `${key} was acknowledged`);
      if (outcome === "E_BUS_UNREACHABLE") assert(!isThere, `${key} was refused`);
    }
  }
});

faultTest(
  "a write to a frozen server has an unknown outcome; reading again tells it",
  { requestTimeoutMs: 300 },
  async ({ server, bucket }) => {
    await server.pause();
    const error = await errorOf(() => bucket.create("a", bytes("1")));
    assertEquals([error.code, error.retry], ["E_BUS_UNKNOWN_OUTCOME", "transient"]);
    assertEquals((await errorOf(() => bucket.get("a"))).code, "E_BUS_TIMEOUT");
    server.resume();
    // The request stands in the server's buffer, so that here it happens after all.
    await waitUntil("the late write", async () => text(await bucket.get("a").catch(() => null)) === "1");
    assertEquals(await bucket.create("a", bytes("2")), { ok: false });
  },
);

faultTest(
  "a server that is frozen for longer than the pings: the bus reconnects, and a watch misses nothing",
  { pingIntervalMs: 100, maxPingsOut: 2 },
  async ({ server, bus, bucket }) => {
    const seen: BusStatus["kind"][] = [];
    bus.onStatus(({ kind }) => void seen.push(kind));
    const watch = new WatchTaker(bucket, ">");
    assertEquals(await watch.next(), "current");
    await server.pause();
    await waitUntil("the loss", () => seen.includes("disconnected"));
    server.resume();
    await waitUntil("the reconnection", () => bus.connected);
    await bucket.put("a", bytes("1"));
    const events = await watch.takeUntil("a=1@1");
    assertEquals(events[0], "restarted");
    await watch.end();
  },
);

faultTest("a watch loses nothing over many kills of the server", {}, async ({ server, bus, bucket }) => {
  const newest = new Map<string, number>();
  const abort = new AbortController();
  const problems: string[] = [];
  const following = (async () => {
    for await (const event of bucket.watch(">", abort.signal)) {
      if (event.kind !== "entry") continue;
      const { key, revision } = event.entry;
      if (revision < (newest.get(key) ?? 0)) problems.push(`${key} went back to ${revision}`);
      newest.set(key, revision);
    }
  })();
  const written = new Map<string, number>();
  for (let round = 0; round < 6; round++) {
    const writes = Array.from({ length: 100 }, async (_, index) => {
      const key = `k${index % 30}`;
      const revision = await bucket.put(key, bytes(`${round}`)).catch(() => null);
      if (revision !== null) written.set(key, Math.max(revision, written.get(key) ?? 0));
    });
    if (round % 2 === 1) await Promise.all(writes);
    await server.kill9();
    await Promise.all(writes);
    await server.restart();
    await waitUntil("the reconnection", () => bus.connected);
  }
  await waitUntil("the watch", () => [...written].every(([key, revision]) => (newest.get(key) ?? 0) >= revision));
  abort.abort();
  await following;
  assertEquals(problems, []);
});

faultTest("a watch whose consumer the server lost begins again", {}, async ({ server, bucket }) => {
  await bucket.put("a", bytes("1"));
  const watch = new WatchTaker(bucket, ">");
  assertEquals(await watch.take(2), ["a=1@1", "current"]);
  const admin = await openTestBus(server);
  await deleteConsumers(admin);
  await admin.close();
  await bucket.put("b", bytes("2"));
  assertEquals(await watch.take(4), ["restarted", "a=1@1", "b=2@2", "current"]);
  await watch.end();
});

faultTest("a slow taker of a watch is waited for by the server, and gets everything in order", {}, async (world) => {
  const { bucket } = world;
  const abort = new AbortController();
  const events = bucket.watch(">", abort.signal)[Symbol.asyncIterator]();
  assertEquals((await events.next()).value?.kind, "current");
  // More than the server sends ahead of an answer to its flow control.
  await fill(bucket, 2_000, 64 * 1_024);
  let lastRevision = 0;
  for (let count = 0; count < 2_000; count++) {
    const { value } = await events.next() as { value: WatchEvent };
    assert(value.kind === "entry" && value.entry.revision === lastRevision + 1, JSON.stringify(value.kind));
    lastRevision = value.entry.revision;
  }
  abort.abort();
  assertEquals((await events.next()).done, true);
});

faultTest("heartbeats are gone with a restart of the server, until the bucket is made again", {}, async (world) => {
  const { server, bus } = world;
  const heartbeats = await bus.bucket(BUCKETS.deviceHeartbeat);
  await heartbeats.put("a", bytes("1"));
  const watch = new WatchTaker(heartbeats, ">");
  assertEquals(await watch.take(2), ["a=1@1", "current"]);
  await server.kill9();
  await server.restart();
  await waitUntil("the reconnection", () => bus.connected);
  assertEquals((await errorOf(() => heartbeats.put("a", bytes("2")))).code, "E_BUS_NO_BUCKET");
  assertEquals((await errorOf(() => bus.bucket(BUCKETS.deviceHeartbeat))).code, "E_BUS_NO_BUCKET");
  await bus.ensureBuckets(BUCKET_SPECS, 100_000, 1);
  assertEquals(await heartbeats.put("a", bytes("3")), 1);
  const events = await watch.takeUntil("a=3@1");
  assertEquals(events[0], "restarted");
  await watch.end();
});

Deno.test("a value that is larger than the server takes is refused, and nothing is lost", async () => {
  const server = await startNatsServer({ config: "max_payload: 4096" });
  const bus = await openTestBus(server);
  await bus.ensureBuckets(BUCKET_SPECS, 10, 1);
  const bucket = await bus.bucket(BUCKETS.deviceInfo);
  assertEquals(await bucket.put("a", new Uint8Array(4_096)), 1);
  const error = await errorOf(() => bucket.put("a", new Uint8Array(4_097)));
  assertEquals([error.code, error.retry], ["E_BUS_TOO_LARGE", "permanent"]);
  assertEquals((await bucket.get("a"))?.value.length, 4_096);
  await bus.close();
  await server.stop();
});

faultTest("two operators that make the buckets at once agree", {}, async ({ server, bus }) => {
  const other = await openTestBus(server);
  for (const name of Object.values(BUCKETS) as BucketName[]) {
    await bus.rawRequest(`$JS.API.STREAM.DELETE.KV_${name}`, null);
  }
  await Promise.all([bus, other].map((one) => one.ensureBuckets(BUCKET_SPECS, 1_000, 1)));
  const bucket = await other.bucket(BUCKETS.desiredState);
  assertEquals(await bucket.put("a", bytes("1")), 1);
  await other.close();
});

faultTest("closing the bus in the middle of everything ends everything", {}, async ({ bus, bucket }) => {
  await fill(bucket, 20_000, 1_000);
  const watch = new WatchTaker(bucket, ">");
  await watch.next();
  let closing: Promise<void> | undefined;
  const error = await errorOf(() =>
    bucket.snapshot(">", () => {
      closing ??= bus.close();
    })
  );
  await closing;
  assertEquals(error.code, "E_BUS_SNAPSHOT_INCOMPLETE");
  await watch.end();
});
