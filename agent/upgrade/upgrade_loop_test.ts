import { assertEquals } from "@std/assert";
import { BUCKETS } from "../../contracts/buckets.ts";
import { CLOCK_EARLIEST_MS, INTENT_RECHECK_MS, UPDATER_POLL_IDLE_MS } from "../../contracts/limits.ts";
import { busError } from "../../lib/bus/bus_error.ts";
import { FakeDevice, UpgradeLife } from "../../tests/fakes/agent_harness.ts";
import { attemptOf, STARTED_AT, statusOf, uuidOf } from "../../tests/fakes/agent_samples.ts";

/** Runs a test on a device, with one life of the loop that is ended after it. */
async function onDevice(test: (device: FakeDevice, life: UpgradeLife) => Promise<void>): Promise<void> {
  const device = await new FakeDevice().prepare();
  const life = await UpgradeLife.start(device);
  try {
    await test(device, life);
  } finally {
    await life.kill();
  }
}

async function phaseOf(device: FakeDevice): Promise<string> {
  const status = await device.status();
  return status === null ? "none" : `${status.attemptId?.[0] ?? "-"} ${status.phase} ${status.reason ?? ""}`.trim();
}

const untilPhase = (device: FakeDevice, phase: string) =>
  device.until(`status ${phase}`, async () => await phaseOf(device) === phase);
const untilBegan = (device: FakeDevice, ...digits: number[]) =>
  device.until(`began ${digits}`, () => device.script.began.join() === digits.map(uuidOf).join());

Deno.test("UpgradeLoop announces, sends once, and mirrors every phase to complete", () =>
  onDevice(async (device) => {
    await device.intend(attemptOf(1));
    await untilBegan(device, 1);
    assertEquals(await phaseOf(device), "1 preparing");
    device.script.move("activating");
    await untilPhase(device, "1 starting");
    device.script.move("committed");
    await untilPhase(device, "1 complete");
    await device.clock.advance(10 * UPDATER_POLL_IDLE_MS);
    assertEquals([device.script.requests, device.script.began], [1, [uuidOf(1)]]);
  }));

Deno.test("UpgradeLoop mirrors what ended while no agent ran, and what never had an intent", () =>
  onDevice(async (device) => {
    device.script.place(attemptOf(1), "failed");
    await untilPhase(device, "1 failed");
    assertEquals(device.script.requests, 0);
  }));

Deno.test("UpgradeLoop costs an idle device no traffic but the look from time to time", () =>
  onDevice(async (device, life) => {
    device.script.place(attemptOf(1), "committed");
    await untilPhase(device, "1 complete");
    let writes = 0;
    const answer = life.bus.answer.bind(life.bus);
    life.bus.answer = (what, kind, work) => {
      writes++;
      return answer(what, kind, work);
    };
    await device.clock.advance(60 * UPDATER_POLL_IDLE_MS);
    assertEquals(writes, 0);
  }));

Deno.test("UpgradeLoop: a replayed intent runs nothing again", () =>
  onDevice(async (device) => {
    device.script.script = ["activating", "committed"];
    await device.intend(attemptOf(1));
    await untilPhase(device, "1 complete");
    for (let replay = 0; replay < 3; replay++) {
      await device.intend(attemptOf(1));
      await device.clock.advance(2 * UPDATER_POLL_IDLE_MS);
    }
    assertEquals(device.script.began, [uuidOf(1)]);
    assertEquals(await phaseOf(device), "1 complete");
  }));

Deno.test("UpgradeLoop: an old intent that comes again gets its outcome, and runs nothing", () =>
  onDevice(async (device) => {
    device.script.script = ["activating", "committed"];
    await device.intend(attemptOf(1));
    await untilPhase(device, "1 complete");
    device.script.script = ["failed"];
    await device.intend(attemptOf(2));
    await untilPhase(device, "2 failed");
    await device.intend(attemptOf(1));
    await untilPhase(device, "1 complete");
    assertEquals((await device.status())?.detail?.includes("is not run again"), true);
    await device.clock.advance(10 * UPDATER_POLL_IDLE_MS);
    assertEquals(device.script.began, [uuidOf(1), uuidOf(2)]);
    assertEquals(await phaseOf(device), "1 complete");
  }));

Deno.test("UpgradeLoop: intents while one runs are deferred visibly; the newest then runs, the others never", () =>
  onDevice(async (device, life) => {
    await device.intend(attemptOf(1));
    await untilBegan(device, 1);
    await device.intend(attemptOf(2));
    await device.until("deferral of 2", () => life.loop.deferred?.attemptId === uuidOf(2));
    await device.intend(attemptOf(3));
    await device.until("deferral of 3", () => life.loop.deferred?.attemptId === uuidOf(3));
    assertEquals(life.loop.deferred?.reason, "UpdaterBusy");
    device.script.move("failed");
    await untilBegan(device, 1, 3);
    assertEquals(life.loop.deferred, undefined);
    device.script.move("committed");
    await untilPhase(device, "3 complete");
    await device.clock.advance(10 * UPDATER_POLL_IDLE_MS);
    assertEquals(device.script.began, [uuidOf(1), uuidOf(3)]);
  }));

Deno.test("UpgradeLoop: an intent that came while the watch was deaf is read when the transaction ends", () =>
  onDevice(async (device, life) => {
    await device.intend(attemptOf(1));
    await untilBegan(device, 1);
    life.bus.disconnect();
    await device.intend(attemptOf(2));
    device.script.move("committed");
    await device.clock.advance(UPDATER_POLL_IDLE_MS);
    life.bus.reconnect();
    await untilBegan(device, 1, 2);
  }));

Deno.test("UpgradeLoop rejects with the UUID or the revision, and only once", () =>
  onDevice(async (device) => {
    await device.intend(attemptOf(1, { deviceId: "device-2" }));
    await untilPhase(device, "1 failed WrongDevice");
    const first = await device.status();
    await device.clock.advance(10 * UPDATER_POLL_IDLE_MS);
    assertEquals(await device.status(), first);
    await device.intend("nonsense");
    await untilPhase(device, "- failed InvalidIntent");
    assertEquals((await device.status())?.rejectedRevision, 2);
    assertEquals(device.script.requests, 0);
  }));

Deno.test("UpgradeLoop keeps a rejection back while a transaction is active", () =>
  onDevice(async (device) => {
    await device.intend(attemptOf(1));
    await untilBegan(device, 1);
    await device.intend(attemptOf(2, { arch: "aarch64" }));
    await device.clock.advance(UPDATER_POLL_IDLE_MS);
    assertEquals(await phaseOf(device), "1 preparing");
    device.script.move("activating");
    await untilPhase(device, "1 starting");
    device.script.move("committed");
    await untilPhase(device, "2 failed WrongArchitecture");
    await device.clock.advance(10 * UPDATER_POLL_IDLE_MS);
    assertEquals(await phaseOf(device), "2 failed WrongArchitecture");
  }));

Deno.test("UpgradeLoop publishes what the updater refuses for good, and tries again what it refuses for now", () =>
  onDevice(async (device, life) => {
    device.script.refuseNext = { code: "E_UNSUPPORTED_SCHEME", retryable: false };
    await device.intend(attemptOf(1));
    await untilPhase(device, "1 failed UnsupportedScheme");
    device.script.refuseNext = { code: "E_NO_RESERVE", retryable: true };
    await device.intend(attemptOf(2));
    await device.until("deferral", () => life.loop.deferred?.reason === "UpdaterRefused");
    const requests = device.script.requests;
    await device.clock.advance(INTENT_RECHECK_MS / 2);
    assertEquals(device.script.requests, requests);
    await untilBegan(device, 2);
    assertEquals(life.loop.deferred, undefined);
  }));

Deno.test("UpgradeLoop rejects a UUID that was used with other content", () =>
  onDevice(async (device) => {
    device.script.script = ["activating", "committed"];
    await device.intend(attemptOf(1));
    await untilPhase(device, "1 complete");
    await device.intend(attemptOf(2));
    await untilPhase(device, "2 complete");
    // The running transaction's UUID is known to the agent, an older one only to the updater.
    for (const digit of [2, 1]) {
      await device.intend(attemptOf(digit, { targetVersion: "9.0.0" }));
      await untilPhase(device, `${digit} failed UuidReused`);
    }
    await device.clock.advance(10 * UPDATER_POLL_IDLE_MS);
    assertEquals([await phaseOf(device), device.script.began.length], ["1 failed UuidReused", 2]);
  }));

Deno.test("UpgradeLoop defers while the clock is insane, the disk is low or the updater is quarantined", () =>
  onDevice(async (device, life) => {
    const untilDeferred = (reason: string) => device.until(reason, () => life.loop.deferred?.reason === reason);
    device.freeBytes = 0;
    await device.intend(attemptOf(1));
    await untilDeferred("DiskLow");
    const since = life.loop.deferred?.since;
    await device.clock.advance(UPDATER_POLL_IDLE_MS);
    assertEquals(life.loop.deferred?.since, since);
    device.freeBytes = 1e12;
    const nowMs = device.clock.nowMs();
    device.clock.setNowMs(CLOCK_EARLIEST_MS - 1_000_000);
    await untilDeferred("ClockInsane");
    device.clock.setNowMs(nowMs);
    await untilBegan(device, 1);
    device.script.move("rollback-failed");
    await device.intend(attemptOf(2));
    await untilDeferred("UpdaterQuarantined");
    assertEquals(life.blockers.text(), "updater: refuses every attempt until root repairs the device");
    assertEquals(await phaseOf(device), "1 rollback-failed");
    assertEquals(device.script.requests, 1);
  }));

Deno.test("UpgradeLoop: an updater that is away changes nothing, is reported, and loses no intent", () =>
  onDevice(async (device, life) => {
    device.script.place(attemptOf(1), "committed");
    await untilPhase(device, "1 complete");
    const before = await device.status();
    device.updaterAway = true;
    await device.intend(attemptOf(2));
    await device.until("report", () => life.blockers.text() !== undefined);
    assertEquals(life.blockers.text(), "updater: Cannot reach the updater");
    assertEquals([life.updater.summary, life.loop.deferred?.reason], [undefined, "UpdaterUnavailable"]);
    assertEquals(await device.status(), before);
    device.updaterAway = false;
    await untilBegan(device, 1, 2);
    assertEquals([life.blockers.text(), life.updater.summary?.version], [undefined, "1.0.0"]);
  }));

Deno.test("UpgradeLoop: a corrupt answer of the updater is reported and crashes nothing", () =>
  onDevice(async (device, life) => {
    for (const answer of [{ protocol: 1 }, "text", { protocol: 1, ok: true, state: {} }]) {
      device.script.answerStatusWith = answer;
      await device.until("report", () => life.blockers.text() !== undefined);
      device.script.answerStatusWith = undefined;
      await device.until("recovery", () => life.blockers.text() === undefined);
    }
  }));

Deno.test("UpgradeLoop: a journal of another device is reported and not mirrored", () =>
  onDevice(async (device, life) => {
    device.script.place(attemptOf(1, { deviceId: "device-2" }), "committed");
    await device.until("report", () => life.blockers.text() !== undefined);
    assertEquals(
      life.blockers.text(),
      "journal: the updater's transaction is of device device-2, this device is device-1",
    );
    assertEquals(await phaseOf(device), "none");
  }));

Deno.test("UpgradeLoop: a killed agent's successor sends what was announced and never sent, once", async () => {
  const device = await new FakeDevice().prepare();
  await device.publish(statusOf(attemptOf(1), "preparing"));
  await device.intend(attemptOf(1));
  const life = await UpgradeLife.start(device);
  await untilBegan(device, 1);
  // The first life is killed with the request on its way; the transaction goes on.
  await life.kill();
  const next = await UpgradeLife.start(device, { schema: 1, attemptId: uuidOf(1), drainMs: 321, at: STARTED_AT });
  device.script.move("activating");
  await untilPhase(device, "1 starting");
  device.script.move("committed");
  await untilPhase(device, "1 complete");
  assertEquals((await device.status())?.drainMs, 321);
  assertEquals([device.script.began, device.script.requests], [[uuidOf(1)], 1]);
  await next.kill();
});

Deno.test("UpgradeLoop does not send again what an updater that lost its journal had accepted", async () => {
  const device = await new FakeDevice().prepare();
  await device.publish(statusOf(attemptOf(1), "starting"));
  await device.intend(attemptOf(1));
  const life = await UpgradeLife.start(device);
  await untilPhase(device, "1 failed TransactionLost");
  assertEquals(device.script.requests, 0);
  await life.kill();
});

Deno.test("UpgradeLoop: an updater killed in the middle of a request is asked again and runs nothing twice", () =>
  onDevice(async (device) => {
    await device.intend(attemptOf(1));
    await untilBegan(device, 1);
    device.updaterAway = true;
    await device.clock.advance(UPDATER_POLL_IDLE_MS);
    device.updaterAway = false;
    device.script.move("failed");
    await untilPhase(device, "1 failed");
    assertEquals([device.script.began, device.script.requests], [[uuidOf(1)], 1]);
  }));

for (const lost of ["applied", "not-applied"] as const) {
  Deno.test(`UpgradeLoop: a status write without an answer (${lost}) is read again, nothing is lost`, () =>
    onDevice(async (device, life) => {
      life.bus.loseNextAnswer = lost;
      device.script.script = ["activating", "committed"];
      await device.intend(attemptOf(1));
      await untilPhase(device, "1 complete");
      assertEquals(device.script.began, [uuidOf(1)]);
    }));
}

Deno.test("UpgradeLoop: a full bucket costs an attempt nothing but time", () =>
  onDevice(async (device, life) => {
    let full = true;
    const answer = life.bus.answer.bind(life.bus);
    life.bus.answer = (what, kind, work) =>
      full && kind === "write"
        ? Promise.reject(busError("E_BUS_FULL", `Cannot ${what}: maximum bytes exceeded`))
        : answer(what, kind, work);
    await device.intend(attemptOf(1));
    await device.clock.advance(10 * UPDATER_POLL_IDLE_MS);
    assertEquals([await phaseOf(device), device.script.began], ["none", []]);
    full = false;
    await untilBegan(device, 1);
    full = true;
    device.script.move("activating");
    device.script.move("committed");
    await device.clock.advance(10 * UPDATER_POLL_IDLE_MS);
    assertEquals(await phaseOf(device), "1 preparing");
    full = false;
    await untilPhase(device, "1 complete");
    assertEquals(device.script.requests, 1);
  }));

Deno.test("UpgradeLoop: NATS away for longer than a whole upgrade; its end is published when NATS is back", () =>
  onDevice(async (device, life) => {
    await device.intend(attemptOf(1));
    await untilBegan(device, 1);
    life.bus.disconnect();
    device.script.move("activating");
    await device.clock.advance(100 * UPDATER_POLL_IDLE_MS);
    device.script.move("rolling-back");
    device.script.move("failed", "NeverReady");
    await device.clock.advance(100 * UPDATER_POLL_IDLE_MS);
    assertEquals(await phaseOf(device), "1 preparing");
    life.bus.reconnect();
    await untilPhase(device, "1 failed NeverReady");
  }));

Deno.test("UpgradeLoop: status and intent buckets made anew lose nothing that still matters", () =>
  onDevice(async (device) => {
    device.script.place(attemptOf(1), "committed");
    await untilPhase(device, "1 complete");
    device.broker.deleteBucket(BUCKETS.upgradeIntent);
    device.broker.deleteBucket(BUCKETS.upgradeStatus);
    await device.prepare();
    await device.intend(attemptOf(2));
    await untilBegan(device, 1, 2);
    device.script.move("committed");
    await untilPhase(device, "2 complete");
  }));

Deno.test("UpgradeLoop: a withdrawn intent is not sent when the updater comes back", () =>
  onDevice(async (device, life) => {
    device.updaterAway = true;
    await device.clock.advance(2 * UPDATER_POLL_IDLE_MS);
    await device.intend(attemptOf(1));
    await device.until("deferral", () => life.loop.deferred !== undefined);
    await device.withdraw();
    await device.until("end of the deferral", () => life.loop.deferred === undefined);
    device.updaterAway = false;
    await device.clock.advance(10 * UPDATER_POLL_IDLE_MS);
    assertEquals([device.script.requests, await phaseOf(device)], [0, "none"]);
  }));

Deno.test("UpgradeLoop: an intent withdrawn after its announcement ends as failed", () =>
  onDevice(async (device, life) => {
    device.script.refuseNext = { code: "E_NO_RESERVE", retryable: true };
    await device.intend(attemptOf(1));
    await device.until("deferral", () => life.loop.deferred !== undefined);
    assertEquals(await phaseOf(device), "1 preparing");
    await device.withdraw();
    await untilPhase(device, "1 failed Withdrawn");
    await device.clock.advance(10 * UPDATER_POLL_IDLE_MS);
    assertEquals(device.script.began, []);
  }));

Deno.test("UpgradeLoop: the end of the transaction overwrites a leftover announcement", async () => {
  const device = await new FakeDevice().prepare();
  await device.publish(statusOf(attemptOf(2), "preparing"));
  device.script.place(attemptOf(1), "committed");
  const life = await UpgradeLife.start(device);
  await untilPhase(device, "1 complete");
  await life.kill();
});
