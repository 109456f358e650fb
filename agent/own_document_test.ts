import { assertEquals, assertRejects } from "@std/assert";
import { BUCKET_SPECS, BUCKETS } from "../contracts/buckets.ts";
import { integer, object } from "../contracts/codec.ts";
import { FleetError } from "../contracts/errors.ts";
import { bytesOf, DEVICE_ID } from "../tests/fakes/agent_samples.ts";
import { FakeClock } from "../tests/fakes/fake_clock.ts";
import { MemoryBroker } from "../tests/fakes/memory_bus.ts";
import { OwnDocument } from "./own_document.ts";

const REREAD_MS = 1_000;

async function setUp() {
  const clock = new FakeClock();
  const broker = new MemoryBroker(() => clock.nowMs());
  const bus = broker.connect();
  await bus.ensureBuckets(BUCKET_SPECS, 1, 1);
  const bucket = await bus.bucket(BUCKETS.upgradeStatus);
  const options = {
    bucket,
    key: DEVICE_ID,
    decoder: object({ n: integer(0) }),
    maxBytes: 100,
    rereadMs: REREAD_MS,
    clock,
  };
  return { clock, broker, bus, bucket, document: new OwnDocument(options) };
}

Deno.test("OwnDocument writes what differs, and the same only once", async () => {
  const { bucket, document } = await setUp();
  assertEquals(await document.read(), null);
  assertEquals(await document.write({ n: 1 }), true);
  const first = await bucket.get(DEVICE_ID);
  assertEquals(await document.write({ n: 1 }), true);
  assertEquals((await bucket.get(DEVICE_ID))?.revision, first?.revision);
  assertEquals(await document.write({ n: 2 }), true);
  assertEquals((await bucket.get(DEVICE_ID))?.value, bytesOf({ n: 2 }));
});

Deno.test("OwnDocument refuses to overwrite what somebody else wrote, and reads it then", async () => {
  const { bucket, document } = await setUp();
  await document.write({ n: 1 });
  await bucket.put(DEVICE_ID, bytesOf({ n: 7 }));
  assertEquals(await document.write({ n: 2 }), false);
  assertEquals(await document.read(), { n: 7 });
  assertEquals(await document.write({ n: 2 }), true);
});

for (const extra of [-1, 0, 1]) {
  Deno.test(`OwnDocument reads again after ${REREAD_MS + extra} ms or not`, async () => {
    const { bucket, clock, document } = await setUp();
    await document.write({ n: 1 });
    await bucket.put(DEVICE_ID, bytesOf({ n: 7 }));
    await clock.advance(REREAD_MS + extra);
    assertEquals(await document.read(), { n: extra < 0 ? 1 : 7 });
  });
}

Deno.test("OwnDocument brings a lost document back once it looks", async () => {
  const { broker, bucket, bus, document } = await setUp();
  await document.write({ n: 1 });
  broker.deleteBucket(BUCKETS.upgradeStatus);
  await bus.ensureBuckets(BUCKET_SPECS, 1, 1);
  document.forget();
  assertEquals(await document.write({ n: 1 }), true);
  assertEquals((await bucket.get(DEVICE_ID))?.value, bytesOf({ n: 1 }));
});

for (const lost of ["applied", "not-applied"] as const) {
  Deno.test(`OwnDocument reads again after a write without an answer (${lost})`, async () => {
    const { bus, document } = await setUp();
    await document.write({ n: 1 });
    bus.loseNextAnswer = lost;
    const error = await assertRejects(() => document.write({ n: 2 }), FleetError);
    assertEquals(error.code, "E_BUS_UNKNOWN_OUTCOME");
    assertEquals(await document.read(), { n: lost === "applied" ? 2 : 1 });
  });
}

Deno.test("OwnDocument takes what cannot be read for missing, and replaces it", async () => {
  const { bucket, document } = await setUp();
  for (const broken of [bytesOf("x"), bytesOf({ n: 1, pad: "x".repeat(100) }), new Uint8Array([0xff])]) {
    await bucket.put(DEVICE_ID, broken);
    document.forget();
    assertEquals(await document.read(), null);
    assertEquals(await document.write({ n: 3 }), true);
    assertEquals((await bucket.get(DEVICE_ID))?.value, bytesOf({ n: 3 }));
  }
});
