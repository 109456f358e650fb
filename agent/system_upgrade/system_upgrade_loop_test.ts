import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { BUCKETS } from "../../contracts/buckets.ts";
import { CLOCK_EARLIEST_MS, UPDATER_POLL_IDLE_MS, UPGRADE_VAR_RESERVE_BYTES } from "../../contracts/limits.ts";
import { FakeSystemDevice, SystemUpgradeLife } from "../../tests/fakes/system_upgrade_harness.ts";
import { runUid } from "../../tests/fakes/ledger_samples.ts";

async function onDevice(test: (device: FakeSystemDevice, life: SystemUpgradeLife) => Promise<void>): Promise<void> {
  const device = await new FakeSystemDevice().prepare();
  const life = new SystemUpgradeLife(device);
  try {
    await test(device, life);
  } finally {
    await life.kill();
  }
}

/** Waits until the run has begun, and moves it to its success in the next boot. */
async function succeed(device: FakeSystemDevice, index: number): Promise<void> {
  await device.until("the run", () => device.ledger.began.at(-1) === runUid(index));
  for (const phase of ["refreshing", "upgrading", "rebooting"] as const) {
    device.ledger.move(phase);
    await device.untilStatus(index, phase);
  }
  device.ledger.move("succeeded", "Upgraded");
}

Deno.test("SystemUpgradeLoop sends once, mirrors every phase, and adds the first heartbeat after success", () =>
  onDevice(async (device) => {
    device.beats.push(0);
    await device.intend(1);
    await succeed(device, 1);
    const status = await device.untilStatus(1, "succeeded", "Upgraded");
    await device.until("the heartbeat", () => device.beats.length > 1);
    await device.clock.advance(10 * UPDATER_POLL_IDLE_MS);
    const whole = await device.status(1);
    // Not the one that was sent before the success was seen.
    assertEquals(whole?.firstHeartbeat?.sequence, 2);
    assertEquals([whole?.attemptDigest, device.ledger.requests], [status.attemptDigest, 1]);
  }));

Deno.test("SystemUpgradeLoop tells a success at once, and its heartbeat when the broker has one", () =>
  onDevice(async (device) => {
    device.beating = false;
    await device.intend(1);
    await succeed(device, 1);
    await device.untilStatus(1, "succeeded");
    await device.clock.advance(10 * UPDATER_POLL_IDLE_MS);
    assertEquals((await device.status(1))?.firstHeartbeat, undefined);
    device.beating = true;
    await device.clock.advance(2 * UPDATER_POLL_IDLE_MS);
    assert((await device.status(1))?.firstHeartbeat !== undefined);
  }));

Deno.test("SystemUpgradeLoop survives the reboot: another agent finds the run, and nothing is sent twice", async () => {
  const device = await new FakeSystemDevice().prepare();
  const before = new SystemUpgradeLife(device);
  await device.intend(1);
  await device.until("the run", () => device.ledger.began.length === 1);
  device.ledger.move("rebooting");
  await device.untilStatus(1, "rebooting");
  await before.kill();
  device.ledger.move("succeeded", "Upgraded");
  const after = new SystemUpgradeLife(device, "boot-2");
  try {
    await device.untilStatus(1, "succeeded");
    await device.clock.advance(2 * UPDATER_POLL_IDLE_MS);
    assertEquals((await device.status(1))?.firstHeartbeat?.bootId, "boot-2");
    assertEquals(device.ledger.began, [runUid(1)]);
  } finally {
    await after.kill();
  }
});

Deno.test("SystemUpgradeLoop keeps the first heartbeat that an earlier life recorded", async () => {
  const device = await new FakeSystemDevice().prepare();
  const before = new SystemUpgradeLife(device);
  await device.intend(1);
  await succeed(device, 1);
  await device.untilStatus(1, "succeeded");
  await device.clock.advance(2 * UPDATER_POLL_IDLE_MS);
  const first = (await device.status(1))?.firstHeartbeat;
  await before.kill();
  const after = new SystemUpgradeLife(device, "boot-2");
  await device.clock.advance(10 * UPDATER_POLL_IDLE_MS);
  assertEquals((await device.status(1))?.firstHeartbeat, first);
  await after.kill();
});

Deno.test("SystemUpgradeLoop answers duplicates and replays, also of a run before the last one, without a second run", () =>
  onDevice(async (device) => {
    await device.intend(1);
    await device.until("the run", () => device.ledger.began.length === 1);
    device.ledger.move("failed", "UpgradeFailed");
    await device.untilStatus(1, "failed", "UpgradeFailed");
    await device.withdraw(1);
    await device.intend(2);
    await succeed(device, 2);
    await device.untilStatus(2, "succeeded");
    // The broker loses the statuses, and repeats both intents.
    device.broker.deleteBucket(BUCKETS.systemUpgradeStatus);
    await device.prepare();
    await device.intend(1);
    await device.intend(2);
    await device.untilStatus(1, "failed", "UpgradeFailed");
    await device.untilStatus(2, "succeeded");
    assertEquals(device.ledger.began, [runUid(1), runUid(2)]);
  }));

Deno.test("SystemUpgradeLoop rejects what it cannot read, what is not its own, and what the updater cannot do", () =>
  onDevice(async (device) => {
    await device.write(1, new TextEncoder().encode("{"));
    await device.untilStatus(1, "failed", "InvalidAttempt");
    await device.intend(2, { schema: 2 });
    await device.untilStatus(2, "failed", "SchemaUnsupported");
    await device.intend(3, { deviceId: "device-9" });
    await device.untilStatus(3, "failed", "WrongDevice");
    await device.intend(4, { attemptId: runUid(5), runId: runUid(5) });
    await device.untilStatus(4, "failed", "InvalidAttempt");
    device.ledger.capabilities = ["https"];
    await device.intend(6);
    await device.untilStatus(6, "failed", "UnsupportedOperation");
    assertEquals(device.ledger.requests, 0);
  }));

Deno.test("SystemUpgradeLoop defers with a visible reason, and goes on by itself", () =>
  onDevice(async (device, life) => {
    const deferred = (reason: string) =>
      device.until(
        `deferred ${reason}`,
        () => life.loop.deferred?.attemptId === runUid(1) && life.loop.deferred.reason === reason,
      );
    device.ledger.agentBusy = true;
    await device.intend(1);
    await deferred("UpdaterBusy");
    device.updaterAway = true;
    await deferred("UpdaterUnavailable");
    [device.updaterAway, device.ledger.agentBusy] = [false, false];
    device.free = { usr: null, var: UPGRADE_VAR_RESERVE_BYTES - 1 };
    await deferred("DiskLow");
    device.free = { usr: null, var: UPGRADE_VAR_RESERVE_BYTES };
    device.ledger.refuseNext = { code: "E_CLOCK_INSANE", retryable: true };
    await deferred("ClockInsane");
    await device.until("the run", () => device.ledger.began.length === 1);
    await device.until("no deferral", () => life.loop.deferred === undefined);
  }));

Deno.test("SystemUpgradeLoop lets an attempt expire with what it waited for, by a clock that can be right", () =>
  onDevice(async (device) => {
    device.updaterAway = true;
    await device.intend(1, { expiresAt: new Date(device.clock.nowMs() + 60_000).toISOString() });
    const status = await device.untilStatus(1, "failed", "Expired");
    assertStringIncludes(status.detail ?? "", "UpdaterUnavailable");
    assertEquals(device.ledger.requests, 0);
  }));

Deno.test("SystemUpgradeLoop waits for a clock that was never set, and neither expires nor forwards by it", () =>
  onDevice(async (device, life) => {
    const setMs = device.clock.nowMs();
    device.clock.setNowMs(CLOCK_EARLIEST_MS - 3_600_000);
    await device.intend(1, { expiresAt: new Date(setMs + 3_600_000).toISOString() });
    await device.until("the deferral", () => life.loop.deferred?.reason === "ClockInsane");
    assertEquals([device.ledger.requests, await device.status(1)], [0, null]);
    device.clock.setNowMs(setMs);
    await device.until("the run", () => device.ledger.began.length === 1);
  }));

Deno.test("SystemUpgradeLoop never sends what a lost ledger may have run", async () => {
  const device = await new FakeSystemDevice().prepare();
  const before = new SystemUpgradeLife(device);
  await device.intend(1);
  await device.untilStatus(1, "checking");
  await before.kill();
  device.ledger.forget();
  const after = new SystemUpgradeLife(device);
  await device.untilStatus(1, "failed", "LedgerLost");
  assertEquals(device.ledger.began, [runUid(1)]);
  await after.kill();
});

Deno.test("SystemUpgradeLoop waits for the repair of a corrupt ledger, and says so", () =>
  onDevice(async (device, life) => {
    device.ledger.ledgerProblem = "Cannot trust the ledger: its checksum is wrong";
    device.ledger.capabilities = ["https"];
    await device.intend(1);
    await device.until("the deferral", () => life.loop.deferred?.reason === "UpdaterRefused");
    assertStringIncludes(life.blockers.text() ?? "", "ledger: Cannot trust");
    device.ledger.ledgerProblem = undefined;
    device.ledger.capabilities = ["https", "AptFullUpgradeV1"];
    await device.until("the run", () => device.ledger.began.length === 1);
  }));

Deno.test("SystemUpgradeLoop takes final refusals for failures, each with its reason", () =>
  onDevice(async (device) => {
    const codes = [
      ["E_EXPIRED", "Expired"],
      ["E_UUID_REUSED", "AttemptReused"],
      ["E_LEDGER_LOST", "LedgerLost"],
      ["E_UNSUPPORTED_OPERATION", "UnsupportedOperation"],
      ["E_REQUEST_INVALID", "InvalidAttempt"],
      ["E_INTERNAL", "UpdaterRefused"],
    ] as const;
    for (const [index, [code, reason]] of codes.entries()) {
      device.ledger.refuseNext = { code, retryable: false };
      await device.intend(index + 1);
      await device.untilStatus(index + 1, "failed", reason);
    }
  }));

Deno.test("SystemUpgradeLoop is there for an outage of NATS, and catches up after it", () =>
  onDevice(async (device, life) => {
    await device.intend(1);
    await device.untilStatus(1, "checking");
    life.bus.disconnect();
    device.ledger.move("upgrading");
    await device.clock.advance(10 * UPDATER_POLL_IDLE_MS);
    assertEquals((await device.status(1))?.phase, "checking");
    device.ledger.move("failed", "UpgradeFailed");
    life.bus.reconnect();
    await device.untilStatus(1, "failed", "UpgradeFailed");
  }));

Deno.test("SystemUpgradeLoop works where an operator that is older has not made the buckets yet", async () => {
  const device = new FakeSystemDevice();
  const life = new SystemUpgradeLife(device);
  await device.clock.advance(10 * UPDATER_POLL_IDLE_MS);
  await device.prepare();
  await device.intend(1);
  await device.untilStatus(1, "checking");
  await life.kill();
});
