import { assertEquals, assertRejects } from "@std/assert";
import { BUCKET_SPECS, BUCKETS } from "../contracts/buckets.ts";
import { FleetError } from "../contracts/errors.ts";
import { DESIRED_ENTRIES_MAX } from "../contracts/limits.ts";
import { silentLogger } from "../lib/log.ts";
import { bytesOf, DEVICE_ID, STARTED_AT, uuidOf } from "../tests/fakes/agent_samples.ts";
import { FakeClock } from "../tests/fakes/fake_clock.ts";
import { MemoryBroker } from "../tests/fakes/memory_bus.ts";
import { Blockers } from "./blockers.ts";
import { DesiredStateFollower } from "./desired_state_follower.ts";

class Fixture {
  readonly clock = new FakeClock();
  readonly broker = new MemoryBroker(() => this.clock.nowMs());
  readonly bus = this.broker.connect();
  readonly blockers = new Blockers();
  readonly ending = new AbortController();
  generation = 0;

  async prepare(): Promise<void> {
    await this.bus.ensureBuckets(BUCKET_SPECS, 1, 1);
  }

  async follower(): Promise<DesiredStateFollower> {
    return new DesiredStateFollower({
      deviceId: DEVICE_ID,
      bucket: await this.bus.bucket(BUCKETS.desiredState),
      blockers: this.blockers,
      clock: this.clock,
      log: silentLogger,
      turned: () => {},
    });
  }

  /** Writes what the operator writes: entries first, then the generation that counts them. */
  async desire(...digits: number[]): Promise<void> {
    const bucket = await this.bus.bucket(BUCKETS.desiredState);
    for (const digit of digits) {
      const deploymentId = uuidOf(digit);
      const entry = { schema: 1, deploymentId, name: "web", generation: 1 };
      await bucket.put(`${DEVICE_ID}.${deploymentId}`, bytesOf(entry));
    }
    const count = { schema: 1, generation: ++this.generation, entries: digits.length, updatedAt: STARTED_AT };
    await bucket.put(`${DEVICE_ID}._generation`, bytesOf(count));
  }

  async remove(digit: number): Promise<void> {
    await (await this.bus.bucket(BUCKETS.desiredState)).delete(`${DEVICE_ID}.${uuidOf(digit)}`);
  }
}

async function following(test: (fixture: Fixture, held: () => string) => Promise<void>): Promise<void> {
  const fixture = new Fixture();
  await fixture.prepare();
  const follower = await fixture.follower();
  const running = follower.run(fixture.ending.signal);
  const held = () => [...follower.held.entries.keys()].map(([first]) => first).sort().join("");
  try {
    await test(fixture, held);
  } finally {
    fixture.ending.abort();
    await running;
  }
}

Deno.test("DesiredStateFollower takes a complete snapshot or fails", async () => {
  const fixture = new Fixture();
  await fixture.prepare();
  await fixture.desire(1, 2);
  const follower = await fixture.follower();
  fixture.bus.breakNextSnapshot = true;
  const error = await assertRejects(() => follower.take(), FleetError);
  assertEquals([error.code, follower.held.entries.size], ["E_BUS_SNAPSHOT_INCOMPLETE", 0]);
  assertEquals((await follower.take())?.added.length, 2);
});

Deno.test("DesiredStateFollower follows additions and removals", () =>
  following(async (fixture, held) => {
    await fixture.desire(1, 2);
    await fixture.clock.advance(1_000);
    assertEquals(held(), "12");
    await fixture.remove(1);
    await fixture.desire(2);
    await fixture.clock.advance(1_000);
    assertEquals([held(), fixture.blockers.text()], ["2", undefined]);
  }));

Deno.test("DesiredStateFollower removes nothing when the bucket is made anew, says so, and recovers", () =>
  following(async (fixture, held) => {
    await fixture.desire(1, 2);
    await fixture.clock.advance(1_000);
    fixture.broker.deleteBucket(BUCKETS.desiredState);
    await fixture.clock.advance(60_000);
    assertEquals(held(), "12");
    await fixture.prepare();
    await fixture.clock.advance(60_000);
    assertEquals(held(), "12");
    assertEquals(fixture.blockers.text()?.startsWith("desired-state: nothing is removed, since"), true);
    await fixture.desire(2, 3);
    await fixture.clock.advance(60_000);
    assertEquals([held(), fixture.blockers.text()], ["23", undefined]);
  }));

Deno.test("DesiredStateFollower keeps what it holds through an outage and catches up after it", () =>
  following(async (fixture, held) => {
    await fixture.desire(1);
    await fixture.clock.advance(1_000);
    fixture.bus.disconnect();
    await fixture.clock.advance(600_000);
    assertEquals(held(), "1");
    fixture.bus.reconnect();
    await fixture.desire(1, 2);
    await fixture.clock.advance(60_000);
    assertEquals(held(), "12");
  }));

Deno.test("DesiredStateFollower reports entries that cannot be read", () =>
  following(async (fixture, held) => {
    const bucket = await fixture.bus.bucket(BUCKETS.desiredState);
    await bucket.put(`${DEVICE_ID}.${uuidOf(1)}`, bytesOf("broken"));
    await fixture.clock.advance(1_000);
    assertEquals(held(), "");
    assertEquals(fixture.blockers.text()?.startsWith("desired-state: 1 entries cannot be read, one is 1"), true);
  }));

Deno.test("DesiredStateFollower tries again after a snapshot that did not complete, without another change", () =>
  following(async (fixture, held) => {
    await fixture.desire(1);
    await fixture.clock.advance(1_000);
    fixture.bus.breakNextSnapshot = true;
    const bucket = await fixture.bus.bucket(BUCKETS.desiredState);
    const entry = { schema: 1, deploymentId: uuidOf(2), name: "web", generation: 1 };
    await bucket.put(`${DEVICE_ID}.${uuidOf(2)}`, bytesOf(entry));
    await fixture.clock.advance(60_000);
    assertEquals([fixture.bus.breakNextSnapshot, held()], [false, "12"]);
  }));

Deno.test("DesiredStateFollower holds no more than a device may have, and keeps what it holds then", () =>
  following(async (fixture, held) => {
    await fixture.desire(1);
    await fixture.clock.advance(1_000);
    const bucket = await fixture.bus.bucket(BUCKETS.desiredState);
    for (let index = 0; index <= DESIRED_ENTRIES_MAX; index++) {
      await bucket.put(`${DEVICE_ID}.x${index}`, bytesOf(index));
    }
    await fixture.clock.advance(60_000);
    assertEquals(held(), "1");
    assertEquals(fixture.blockers.text()?.includes(`at most ${DESIRED_ENTRIES_MAX}`), true, fixture.blockers.text());
  }));
