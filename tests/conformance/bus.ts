/**
 * What every bus does, tried on the real one and on the fake.
 *
 * @module
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { BUCKET_SPECS, type BucketName, BUCKETS, documentMaxBytes } from "../../contracts/buckets.ts";
import { FleetError } from "../../contracts/errors.ts";
import { BUCKET_KEY_MAX_CHARS } from "../../contracts/limits.ts";
import type { KvBucket } from "../../lib/bus/port.ts";
import { snapshotMap } from "../../lib/bus/snapshot_map.ts";
import { testBusFaults } from "./bus_faults.ts";
import { type BusWorld, bytes, type RegisterTest, SMALL_BUCKET, text, WatchTaker } from "./bus_world.ts";

const FLEET_SIZE = 10;

/**
 * Registers the suite.
 *
 * @param adapter Name of the adapter, for the tests' names
 * @param open Makes a new world
 */
export function testBus(adapter: string, open: () => Promise<BusWorld>): void {
  const test = (name: string, body: (world: BusWorld) => Promise<void>) => {
    Deno.test(`${adapter}: ${name}`, async () => {
      const world = await open();
      try {
        await world.bus.ensureBuckets(BUCKET_SPECS, FLEET_SIZE, 1);
        await body(world);
      } finally {
        await world.close();
      }
    });
  };
  testWrites(test);
  testReads(test);
  testBuckets(test);
  testBusFaults(test);
}

async function codeOf(work: () => Promise<unknown>): Promise<string> {
  return (await assertRejects(work, FleetError)).code;
}

function infoBucket(world: BusWorld): Promise<KvBucket> {
  return world.bus.bucket(BUCKETS.deviceInfo);
}

function testWrites(test: RegisterTest): void {
  test("put() writes, get() reads what stands there with its revision and time", async (world) => {
    const bucket = await infoBucket(world);
    assertEquals(bucket.name, BUCKETS.deviceInfo);
    assertEquals(await bucket.get("a"), null);
    const before = Date.now();
    const first = await bucket.put("a", bytes("1"));
    const second = await bucket.put("b.c", bytes(""));
    assert(second > first);
    const entry = await bucket.get("a");
    assertEquals([entry?.key, text(entry), entry?.revision, entry?.deleted], ["a", "1", first, false]);
    assert(entry !== null && entry.receivedAtMs >= before - 1 && entry.receivedAtMs <= Date.now() + 1);
    assertEquals([text(await bucket.get("b.c")), (await bucket.get("b.c"))?.deleted], ["", false]);
  });

  test("create() writes only where nothing is, or where it was deleted", async (world) => {
    const bucket = await infoBucket(world);
    const created = await bucket.create("a", bytes("1"));
    assert(created.ok);
    assertEquals(await bucket.create("a", bytes("2")), { ok: false });
    assertEquals(text(await bucket.get("a")), "1");
    assert((await bucket.delete("a")).ok);
    assertEquals(await bucket.get("a"), null);
    const again = await bucket.create("a", bytes("3"));
    assert(again.ok && again.revision > created.revision);
    assertEquals(text(await bucket.get("a")), "3");
  });

  test("update() and delete() take only the newest revision of the key", async (world) => {
    const bucket = await infoBucket(world);
    const first = await bucket.put("a", bytes("1"));
    await bucket.put("b", bytes("other key"));
    const second = await bucket.update("a", bytes("2"), first);
    assert(second.ok);
    assertEquals(await bucket.update("a", bytes("3"), first), { ok: false });
    assertEquals(await bucket.delete("a", first), { ok: false });
    assertEquals(text(await bucket.get("a")), "2");
    const deleted = await bucket.delete("a", second.revision);
    assert(deleted.ok);
    assertEquals(await bucket.update("a", bytes("4"), second.revision), { ok: false });
    assert((await bucket.update("a", bytes("5"), deleted.revision)).ok);
    assertEquals(await bucket.update("never", bytes("1"), 1), { ok: false });
    assert((await bucket.update("never", bytes("1"), 0)).ok);
    assert((await bucket.delete("never-written")).ok);
  });

  test("two writers of one revision: one wins", async (world) => {
    const bucket = await infoBucket(world);
    const revision = await bucket.put("a", bytes("0"));
    const results = await Promise.all(
      Array.from({ length: 8 }, (_, index) => bucket.update("a", bytes(String(index)), revision)),
    );
    assertEquals(results.filter(({ ok }) => ok).length, 1);
    assertEquals(text(await bucket.get("a")), String(results.findIndex(({ ok }) => ok)));
  });

  test("values up to the bucket's limit, and none above", async (world) => {
    const bucket = await infoBucket(world);
    const limit = documentMaxBytes(BUCKETS.deviceInfo);
    for (const size of [limit - 1, limit]) {
      const revision = await bucket.put("a", new Uint8Array(size));
      assert((await bucket.update("a", new Uint8Array(size), revision)).ok);
      assertEquals((await bucket.get("a"))?.value.length, size);
    }
    assertEquals(await codeOf(() => bucket.put("a", new Uint8Array(limit + 1))), "E_BUS_TOO_LARGE");
    assertEquals((await bucket.get("a"))?.value.length, limit);
  });

  test("keys that are none are refused, with no request", async (world) => {
    const bucket = await infoBucket(world);
    for (
      const key of ["", ".a", "a.", "a..b", "a b", "*", "a.>", "ä", "a\r\nb", "x".repeat(BUCKET_KEY_MAX_CHARS + 1)]
    ) {
      assertEquals(await codeOf(() => bucket.get(key)), "E_BUS_KEY", key);
      assertEquals(await codeOf(() => bucket.put(key, bytes(""))), "E_BUS_KEY", key);
      assertEquals(await codeOf(() => bucket.create(key, bytes(""))), "E_BUS_KEY", key);
      assertEquals(await codeOf(() => bucket.delete(key)), "E_BUS_KEY", key);
    }
    for (const length of [BUCKET_KEY_MAX_CHARS - 1, BUCKET_KEY_MAX_CHARS]) {
      assert(await bucket.put("x".repeat(length), bytes("")) > 0);
    }
    for (const filter of ["", "a.>.b", ">.a", "a.*b", ".a", "a b"]) {
      assertEquals(await codeOf(() => bucket.snapshot(filter, () => {})), "E_BUS_KEY", filter);
    }
  });
}

function testReads(test: RegisterTest): void {
  test("snapshot() gives every newest value under its filter, without deletions", async (world) => {
    const bucket = await world.bus.bucket(BUCKETS.desiredState);
    for (const key of ["d1.a", "d1.b", "d1.b.c", "d2.a", "d10.a"]) await bucket.put(key, bytes("old"));
    const last = await bucket.put("d1.a", bytes("new"));
    await bucket.delete("d1.b");
    const seen = async (filter: string) => {
      const map = await snapshotMap(bucket, filter);
      return [...map].map(([key, entry]) => `${key}=${text(entry)}`).sort();
    };
    assertEquals(await seen("d1.>"), ["d1.a=new", "d1.b.c=old"]);
    assertEquals(await seen("*.a"), ["d1.a=new", "d10.a=old", "d2.a=old"]);
    assertEquals(await seen(">"), ["d1.a=new", "d1.b.c=old", "d10.a=old", "d2.a=old"]);
    assertEquals(await seen("d2.a"), ["d2.a=old"]);
    assertEquals(await bucket.snapshot("d1.a", () => {}), { entries: 1, lastRevision: last });
  });

  test("snapshot() of nothing is complete and empty", async (world) => {
    const bucket = await world.bus.bucket(BUCKETS.desiredState);
    assertEquals(await bucket.snapshot(">", () => {}), { entries: 0, lastRevision: 0 });
    await bucket.put("a", bytes(""));
    const { revision } = await bucket.delete("a") as { revision: number };
    assertEquals(await bucket.snapshot("b", () => {}), { entries: 0, lastRevision: 0 });
    assertEquals(await bucket.snapshot(">", () => {}), { entries: 0, lastRevision: revision });
  });

  test("a snapshot under writes is the state at its last revision", async (world) => {
    const bucket = await world.bus.bucket(BUCKETS.desiredState);
    const history: { key: string; revision: number; deleted: boolean }[] = [];
    const write = async (key: string, deleted: boolean) => {
      const result = deleted ? await bucket.delete(key) : { revision: await bucket.put(key, bytes(key)) };
      history.push({ key, revision: (result as { revision: number }).revision, deleted });
    };
    for (let round = 0; round < 10; round++) {
      const keys = Array.from({ length: 300 }, (_, index) => `k${index + 50 * round}`);
      const writing = Promise.all(keys.map((key, index) => write(key, index % 3 === round % 3)));
      const entries = new Map<string, number>();
      const { lastRevision } = await bucket.snapshot(">", ({ key, revision, deleted }) => {
        if (deleted) entries.delete(key);
        else entries.set(key, revision);
      });
      await writing;
      const expected = new Map<string, number>();
      for (const { key, revision, deleted } of history.sort((a, b) => a.revision - b.revision)) {
        if (revision > lastRevision) break;
        if (deleted) expected.delete(key);
        else expected.set(key, revision);
      }
      assertEquals([...entries].sort(), [...expected].sort(), `round ${round}`);
    }
  });

  test("a watch under writes says current when every key that was there has come", async (world) => {
    const bucket = await world.bus.bucket(BUCKETS.desiredState);
    const keys = Array.from({ length: 300 }, (_, index) => `k${index}`);
    await Promise.all(keys.map((key) => bucket.put(key, bytes("old"))));
    for (let round = 0; round < 10; round++) {
      const writing = Promise.all(keys.map((key) => bucket.put(key, bytes("new"))));
      const seen = new Set<string>();
      const abort = new AbortController();
      for await (const event of bucket.watch(">", abort.signal)) {
        if (event.kind === "current") break;
        if (event.kind === "entry") seen.add(event.entry.key);
      }
      await writing;
      assertEquals(seen.size, keys.length, `round ${round}`);
    }
  });

  test("watch() gives what is there, current, then changes", async (world) => {
    const bucket = await world.bus.bucket(BUCKETS.desiredState);
    await bucket.put("d1.a", bytes("1"));
    await bucket.put("d2.a", bytes("1"));
    await bucket.delete("d1.gone");
    const watch = new WatchTaker(bucket, "d1.>");
    assertEquals(await watch.take(3), ["d1.a=1@1", "d1.gone deleted@3", "current"]);
    await bucket.put("d2.a", bytes("2"));
    // One by one: a value that is replaced at once may never come.
    await bucket.put("d1.a", bytes("2"));
    assertEquals(await watch.next(), "d1.a=2@5");
    await bucket.delete("d1.a");
    assertEquals(await watch.next(), "d1.a deleted@6");
    await bucket.put("d1.b", bytes("1"));
    assertEquals(await watch.next(), "d1.b=1@7");
    await watch.end();
  });

  test("watch() of nothing says current, and ends with its signal", async (world) => {
    const bucket = await world.bus.bucket(BUCKETS.upgradeIntent);
    const [one, two] = [new WatchTaker(bucket, "device-1"), new WatchTaker(bucket, ">")];
    assertEquals([await one.next(), await two.next()], ["current", "current"]);
    await bucket.put("device-1", bytes("x"));
    assertEquals([await one.next(), await two.next()], ["device-1=x@1", "device-1=x@1"]);
    await one.end();
    await bucket.put("device-2", bytes("y"));
    assertEquals(await two.next(), "device-2=y@2");
    await two.end();
    const aborted = bucket.watch(">", AbortSignal.abort())[Symbol.asyncIterator]();
    assertEquals((await aborted.next()).done, true);
  });

  test("a watch that its user leaves gives its consumer back", async (world) => {
    const bucket = await world.bus.bucket(BUCKETS.upgradeIntent);
    for await (const event of bucket.watch(">", new AbortController().signal)) {
      assertEquals(event.kind, "current");
      break;
    }
  });

  test("an update and at once a deletion of another key: a watch sees both", async (world) => {
    const bucket = await world.bus.bucket(BUCKETS.upgradeIntent);
    const watch = new WatchTaker(bucket, ">");
    assertEquals(await watch.next(), "current");
    for (let round = 0; round < 100; round++) {
      const written = bucket.put("a", bytes(String(round)));
      const deleted = bucket.delete("b");
      await Promise.all([written, deleted]);
      assertEquals(await watch.take(2), [`a=${round}@${2 * round + 1}`, `b deleted@${2 * round + 2}`]);
    }
    await watch.end();
  });
}

function testBuckets(test: RegisterTest): void {
  test("ensureBuckets() again keeps data, takes other sizes, and refuses another storage", async (world) => {
    const bucket = await infoBucket(world);
    await bucket.put("a", bytes("1"));
    await world.bus.ensureBuckets(BUCKET_SPECS, FLEET_SIZE, 1);
    await world.bus.ensureBuckets(BUCKET_SPECS, 2 * FLEET_SIZE, 1);
    assertEquals(text(await bucket.get("a")), "1");
    const other = BUCKET_SPECS.map((spec) => ({ ...spec, storage: "memory" as const }));
    assertEquals(await codeOf(() => world.bus.ensureBuckets(other, FLEET_SIZE, 1)), "E_BUS_BUCKET_CONFLICT");
    assertEquals(text(await bucket.get("a")), "1");
  });

  test("a full bucket refuses a new key, and still takes a smaller value and a deletion", async (world) => {
    await world.deleteBucket(SMALL_BUCKET.name);
    await world.bus.ensureBuckets([SMALL_BUCKET], 0, 1);
    const bucket = await world.bus.bucket(SMALL_BUCKET.name);
    const fill = async () => {
      for (let index = 0; index < 100; index++) await bucket.put(`k${index}`, new Uint8Array(1_000));
    };
    assertEquals(await codeOf(fill), "E_BUS_FULL");
    assertEquals(await codeOf(() => bucket.create("another", new Uint8Array(1_000))), "E_BUS_FULL");
    await bucket.put("k0", new Uint8Array(10));
    assert((await bucket.delete("k1")).ok);
    await bucket.put("another", new Uint8Array(1_000));
  });

  test("a bucket that is not there cannot be bound, read or written", async (world) => {
    const bucket = await infoBucket(world);
    await world.deleteBucket(BUCKETS.deviceInfo);
    const noBucket = "E_BUS_NO_BUCKET";
    assertEquals(await codeOf(() => world.bus.bucket(BUCKETS.deviceInfo)), noBucket);
    assertEquals(await codeOf(() => bucket.get("a")), noBucket);
    assertEquals(await codeOf(() => bucket.put("a", bytes("1"))), noBucket);
    assertEquals(await codeOf(() => bucket.create("a", bytes("1"))), noBucket);
    assertEquals(await codeOf(() => bucket.delete("a")), noBucket);
    assertEquals(await codeOf(() => bucket.snapshot(">", () => {})), noBucket);
    const others: BucketName[] = [BUCKETS.desiredState, BUCKETS.upgradeIntent];
    for (const name of others) assertEquals((await world.bus.bucket(name)).name, name);
  });

  test("close() ends watches and refuses everything after it", async (world) => {
    const bucket = await infoBucket(world);
    const watch = new WatchTaker(bucket, ">");
    assertEquals(await watch.next(), "current");
    await world.bus.close();
    await world.bus.close();
    assertEquals(await watch.next(), "end");
    assertEquals(world.bus.connected, false);
    assertEquals(await codeOf(() => bucket.get("a")), "E_BUS_CLOSED");
    assertEquals(await codeOf(() => bucket.put("a", bytes("1"))), "E_BUS_CLOSED");
    assertEquals(await codeOf(() => bucket.snapshot(">", () => {})), "E_BUS_CLOSED");
    assertEquals(await world.bus.clockSkewMs(), null);
  });

  test("flush() returns, and the clock skew of one machine is small", async (world) => {
    await world.bus.flush(5_000);
    const skewMs = await world.bus.clockSkewMs();
    assert(skewMs !== null && Math.abs(skewMs) < 1_000, `skew ${skewMs}`);
  });
}
