/** What happens between a look and the act that follows it. */
import { assertEquals } from "@std/assert";
import { BUCKETS } from "../../contracts/buckets.ts";
import { UPDATER_AWAY_AFTER_MS, UPDATER_POLL_ACTIVE_MS, UPDATER_POLL_IDLE_MS } from "../../contracts/limits.ts";
import { FakeDevice, UpgradeLife } from "../../tests/fakes/agent_harness.ts";
import { attemptOf, STARTED_AT, statusOf, uuidOf } from "../../tests/fakes/agent_samples.ts";

async function onDevice(test: (device: FakeDevice, life: UpgradeLife) => Promise<void>): Promise<void> {
  const device = await new FakeDevice().prepare();
  const life = await UpgradeLife.start(device);
  try {
    await test(device, life);
  } finally {
    await life.kill();
  }
}

const last = (seen: readonly string[], text: string) => () => seen.at(-1) === text;

Deno.test("UpgradeLoop: a state that was asked for before the answer came decides nothing", () =>
  onDevice(async (device) => {
    const request = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    device.hold = request.promise;
    device.script.script = ["activating", "committed"];
    await device.intend(attemptOf(1));
    await device.until("the announcement", async () => await device.status() !== null);
    // A poll asks while the updater does not have the attempt yet; its answer is late.
    device.delay = answer.promise;
    await device.clock.advance(UPDATER_POLL_ACTIVE_MS);
    request.resolve();
    await device.clock.advance(0);
    device.delay = null;
    answer.resolve();
    await device.until("complete", async () => (await device.status())?.phase === "complete");
    assertEquals([device.script.requests, device.script.began], [1, [uuidOf(1)]]);
  }));

Deno.test("UpgradeLoop reads the intent itself before it overwrites what may be newer", async () => {
  const device = await new FakeDevice().prepare();
  await device.publish(statusOf(attemptOf(2), "failed", { startedAt: "2026-05-01T00:00:00.000Z" }));
  await device.intend(attemptOf(2));
  device.script.place(attemptOf(1), "committed");
  const life = await UpgradeLife.start(device, null, "nothing");
  await device.clock.advance(10 * UPDATER_POLL_IDLE_MS);
  assertEquals((await device.status())?.attemptId, uuidOf(2));
  await life.kill();
});

Deno.test("UpgradeLoop: an attempt refused as busy is sent as soon as the other transaction ends", () =>
  onDevice(async (device) => {
    device.script.refuseNext = { code: "E_BUSY", retryable: true };
    device.script.onUpgrade = () => {
      device.script.onUpgrade = () => {};
      device.script.place(attemptOf(1), "activating");
    };
    await device.intend(attemptOf(2));
    await device.until("the active one", async () => (await device.status())?.phase === "starting");
    device.script.move("failed");
    await device.clock.advance(2 * UPDATER_POLL_ACTIVE_MS);
    assertEquals(device.script.began, [uuidOf(1), uuidOf(2)]);
  }));

Deno.test("UpgradeLoop: with a watch that tells nothing, the key is read when the running transaction ends", async () => {
  const device = await new FakeDevice().prepare();
  device.script.place(attemptOf(1), "preparing");
  const life = await UpgradeLife.start(device, null, "beginning");
  await device.clock.advance(UPDATER_POLL_IDLE_MS);
  await device.intend(attemptOf(2));
  await device.clock.advance(UPDATER_POLL_IDLE_MS);
  assertEquals(device.script.began, [uuidOf(1)]);
  device.script.move("failed");
  await device.until("the second", () => device.script.began.join() === [uuidOf(1), uuidOf(2)].join());
  await life.kill();
});

Deno.test("UpgradeLoop: a final refusal waits while another transaction is active", () =>
  onDevice(async (device) => {
    const seen = device.published();
    device.script.refuseNext = { code: "E_UNSUPPORTED_SCHEME", retryable: false };
    device.script.onUpgrade = () => device.script.place(attemptOf(1), "activating");
    await device.intend(attemptOf(2));
    await device.until("the active one", last(seen, "1 starting"));
    await device.clock.advance(UPDATER_POLL_IDLE_MS);
    assertEquals(seen, ["2 preparing", "1 starting"]);
    device.script.move("committed");
    await device.until("the refusal", last(seen, "2 failed UnsupportedScheme"));
    assertEquals(device.script.began, [uuidOf(1)]);
  }));

Deno.test("UpgradeLoop: what was refused and is not the intent any more was withdrawn", () =>
  onDevice(async (device) => {
    const seen = device.published();
    device.script.refuseNext = { code: "E_UNSUPPORTED_SCHEME", retryable: false };
    device.script.onUpgrade = () => {
      device.script.onUpgrade = () => {};
      void device.intend(attemptOf(3));
    };
    await device.intend(attemptOf(2));
    await device.until("the newer one", () => device.script.began.join() === uuidOf(3));
    // It was announced, so that its end is told; but as what it is now.
    assertEquals(seen.filter((text) => text.startsWith("2")), ["2 preparing", "2 failed Withdrawn"]);
  }));

Deno.test("UpgradeLoop announces an attempt once, also over a restart", async () => {
  const device = await new FakeDevice().prepare();
  await device.publish(statusOf(attemptOf(1), "preparing"));
  device.script.refuseNext = { code: "E_NO_RESERVE", retryable: true };
  await device.intend(attemptOf(1));
  const life = await UpgradeLife.start(device);
  await device.until("the refusal", () => life.loop.deferred?.reason === "UpdaterRefused");
  assertEquals((await device.status())?.startedAt, STARTED_AT);
  await life.kill();
});

Deno.test("UpgradeLoop: an intent that went with its bucket is not wanted any more", () =>
  onDevice(async (device, life) => {
    device.updaterAway = true;
    await device.clock.advance(UPDATER_POLL_IDLE_MS);
    await device.intend(attemptOf(1));
    await device.until("the deferral", () => life.loop.deferred !== undefined);
    device.broker.deleteBucket(BUCKETS.upgradeIntent);
    await device.prepare();
    await device.until("the end of the deferral", () => life.loop.deferred === undefined);
    device.updaterAway = false;
    await device.clock.advance(10 * UPDATER_POLL_IDLE_MS);
    assertEquals(device.script.requests, 0);
  }));

for (const extra of [-1, 0, 1]) {
  Deno.test(`UpdaterWatch after ${UPDATER_AWAY_AFTER_MS + extra} ms of silence`, () =>
    onDevice(async (device, life) => {
      await device.clock.advance(0);
      const ending = new AbortController();
      device.updaterAway = true;
      await life.updater.poll(ending.signal);
      await device.clock.advance(UPDATER_AWAY_AFTER_MS + extra);
      await life.updater.poll(ending.signal);
      assertEquals(life.blockers.text() === undefined, extra < 0);
      assertEquals(life.updater.summary === undefined, extra >= 0);
    }));
}
