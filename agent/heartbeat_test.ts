import { assertEquals } from "@std/assert";
import { BUCKET_SPECS, BUCKETS } from "../contracts/buckets.ts";
import { decodeBytes } from "../contracts/codec.ts";
import { type DeferredIntent, type Heartbeat, heartbeat } from "../contracts/device.ts";
import {
  DEVICE_DOCUMENT_MAX_BYTES,
  HEARTBEAT_INTERVAL_MS,
  HEARTBEAT_JITTER_MS,
  HEARTBEAT_MIN_GAP_MS,
} from "../contracts/limits.ts";
import { silentLogger } from "../lib/log.ts";
import { DEVICE_ID, STARTED_AT, uuidOf } from "../tests/fakes/agent_samples.ts";
import { FakeClock } from "../tests/fakes/fake_clock.ts";
import { MemoryBroker } from "../tests/fakes/memory_bus.ts";
import { HeartbeatLoop } from "./heartbeat.ts";

const FACTS = {
  version: "1.0.0",
  form: "script",
  arch: "x86_64",
  os: { name: "debian", version: "12", kernel: "6.1" },
  bootId: "boot-1",
} as const;

async function beating(
  test: (fixture: {
    clock: FakeClock;
    bus: ReturnType<MemoryBroker["connect"]>;
    loop: HeartbeatLoop;
    last: () => Promise<Heartbeat | null>;
    set: (deferred: DeferredIntent | undefined, blocked: string | undefined) => void;
    infos: () => number;
  }) => Promise<void>,
  random = 0.5,
): Promise<void> {
  const clock = new FakeClock();
  const bus = new MemoryBroker(() => clock.nowMs()).connect();
  await bus.ensureBuckets(BUCKET_SPECS, 1, 1);
  const bucket = await bus.bucket(BUCKETS.deviceHeartbeat);
  let deferred: DeferredIntent | undefined;
  let blocked: string | undefined;
  let infos = 0;
  const loop = new HeartbeatLoop({
    deviceId: DEVICE_ID,
    facts: FACTS,
    bus,
    bind: () => bus.bucket(BUCKETS.deviceHeartbeat),
    clock,
    log: silentLogger,
    intervalMs: HEARTBEAT_INTERVAL_MS,
    random: () => random,
    vitals: () => Promise.resolve({ freeBytes: { "/usr": 5 } }),
    deferred: () => deferred,
    blocked: () => blocked,
    publishInfo: () => {
      infos++;
      return Promise.resolve();
    },
    turned: () => {},
  });
  const ending = new AbortController();
  const running = loop.run(ending.signal);
  const last = async () => {
    const entry = await bucket.get(DEVICE_ID);
    return entry === null ? null : decodeBytes(heartbeat, entry.value, DEVICE_DOCUMENT_MAX_BYTES);
  };
  try {
    await clock.advance(0);
    await test({ clock, bus, loop, last, infos: () => infos, set: (a, b) => [deferred, blocked] = [a, b] });
  } finally {
    ending.abort();
    await running;
  }
}

Deno.test("HeartbeatLoop beats at once, then at its interval", () =>
  beating(async ({ clock, last }) => {
    assertEquals((await last())?.sequence, 1);
    await clock.advance(HEARTBEAT_INTERVAL_MS - 1);
    assertEquals((await last())?.sequence, 1);
    await clock.advance(1);
    const second = await last();
    assertEquals([second?.sequence, second?.uptimeMs], [2, HEARTBEAT_INTERVAL_MS]);
  }));

for (const [random, offsetMs] of [[0, -HEARTBEAT_JITTER_MS], [1, HEARTBEAT_JITTER_MS]] as const) {
  Deno.test(`HeartbeatLoop is ${offsetMs} ms off its interval at most`, () =>
    beating(async ({ clock, last }) => {
      await clock.advance(HEARTBEAT_INTERVAL_MS + offsetMs - 1);
      assertEquals((await last())?.sequence, 1);
      await clock.advance(1);
      assertEquals((await last())?.sequence, 2);
    }, random));
}

Deno.test("HeartbeatLoop tells a change soon, and never faster than its smallest gap", () =>
  beating(async ({ clock, last, loop, set }) => {
    set({ attemptId: uuidOf(1), reason: "DiskLow", since: STARTED_AT }, "updater: away");
    loop.poke();
    await clock.advance(HEARTBEAT_MIN_GAP_MS - 1);
    assertEquals((await last())?.sequence, 1);
    await clock.advance(1);
    const beat = await last();
    assertEquals([beat?.sequence, beat?.deferred?.reason, beat?.blocked], [2, "DiskLow", "updater: away"]);
    for (let poke = 0; poke < 100; poke++) {
      loop.poke();
      await clock.advance(HEARTBEAT_MIN_GAP_MS / 100);
    }
    assertEquals((await last())?.sequence, 3);
  }));

Deno.test("HeartbeatLoop sends nothing while NATS is away, and survives writes that fail", () =>
  beating(async ({ bus, clock, infos, last }) => {
    bus.disconnect();
    await clock.advance(10 * HEARTBEAT_INTERVAL_MS);
    assertEquals([infos()], [1]);
    bus.reconnect();
    bus.loseNextAnswer = "not-applied";
    await clock.advance(HEARTBEAT_INTERVAL_MS);
    assertEquals((await last())?.sequence, 1);
    await clock.advance(HEARTBEAT_INTERVAL_MS);
    assertEquals((await last())?.sequence, 3);
  }));

Deno.test("HeartbeatLoop waits for a bucket that is not there, and beats when it is made", async () => {
  const clock = new FakeClock();
  const bus = new MemoryBroker(() => clock.nowMs()).connect();
  let beats = 0;
  const loop = new HeartbeatLoop({
    deviceId: DEVICE_ID,
    facts: FACTS,
    bus,
    bind: () => bus.bucket(BUCKETS.deviceHeartbeat),
    clock,
    log: silentLogger,
    intervalMs: HEARTBEAT_INTERVAL_MS,
    random: () => 0.5,
    vitals: () => Promise.resolve({ freeBytes: { "/usr": ++beats } }),
    deferred: () => undefined,
    blocked: () => undefined,
    publishInfo: () => Promise.resolve(),
    turned: () => {},
  });
  const ending = new AbortController();
  const running = loop.run(ending.signal);
  await clock.advance(3 * HEARTBEAT_INTERVAL_MS);
  assertEquals(beats, 0);
  await bus.ensureBuckets(BUCKET_SPECS, 1, 1);
  await clock.advance(HEARTBEAT_INTERVAL_MS);
  assertEquals(beats, 1);
  ending.abort();
  await running;
});
