import { assertEquals, assertLess } from "@std/assert";
import { type AgentUpgradeStatus, agentUpgradeStatus } from "../../contracts/agent_upgrade.ts";
import { BUCKETS, deviceKey } from "../../contracts/buckets.ts";
import {
  DRAIN_CLOSE_TIMEOUT_MS,
  DRAIN_FLUSH_TIMEOUT_MS,
  DRAIN_MUTATION_TIMEOUT_MS,
  DRAIN_PUBLISH_TIMEOUT_MS,
  DRAIN_RECORD_TIMEOUT_MS,
  DRAIN_STATUS_TIMEOUT_MS,
  SERVICE_STOP_TIMEOUT_MS,
  STATUS_MAX_BYTES,
} from "../../contracts/limits.ts";
import { silentLogger } from "../../lib/log.ts";
import { FakeDevice } from "../../tests/fakes/agent_harness.ts";
import { attemptOf, DEVICE_ID, statusOf, uuidOf } from "../../tests/fakes/agent_samples.ts";
import { FakeNotifier } from "../../tests/fakes/fake_notifier.ts";
import type { LastDrain } from "../core/last_drain.ts";
import { MutationGate } from "../mutation_gate.ts";
import { OwnDocument } from "../own_document.ts";
import { drain } from "./drain.ts";

class Fixture {
  readonly device = new FakeDevice();
  readonly bus = this.device.broker.connect();
  readonly gate = new MutationGate();
  readonly notifier = new FakeNotifier();
  readonly recorded: LastDrain[] = [];
  #document: OwnDocument<AgentUpgradeStatus> | null = null;
  record = (last: LastDrain): Promise<void> => {
    this.recorded.push(last);
    return Promise.resolve();
  };

  async prepare(): Promise<this> {
    await this.device.prepare();
    this.gate.open();
    return this;
  }

  /** The status document, as the agent's loop used it. */
  async document(): Promise<OwnDocument<AgentUpgradeStatus>> {
    this.#document ??= new OwnDocument({
      bucket: await this.bus.bucket(BUCKETS.upgradeStatus),
      key: deviceKey(DEVICE_ID),
      decoder: agentUpgradeStatus,
      maxBytes: STATUS_MAX_BYTES,
      rereadMs: 1_000,
      clock: this.device.clock,
    });
    return this.#document;
  }

  /** Drains, on the fake clock; returns how long it took. */
  async drain(): Promise<number> {
    const { clock, client } = this.device;
    const startedMs = clock.monotonicMs();
    const draining = drain({
      deviceId: DEVICE_ID,
      gate: this.gate,
      client,
      bus: this.bus,
      status: await this.document(),
      record: this.record,
      notifier: this.notifier,
      mutationTimeoutMs: DRAIN_MUTATION_TIMEOUT_MS,
      clock,
      log: silentLogger,
    });
    await clock.advanceUntil(draining, SERVICE_STOP_TIMEOUT_MS);
    return clock.monotonicMs() - startedMs;
  }

  get stopping(): boolean {
    return this.notifier.said.some(({ stopping }) => stopping === true);
  }
}

Deno.test("drain() of a plain stop admits nothing more, publishes and records nothing, and says STOPPING", async () => {
  const fixture = await new Fixture().prepare();
  await fixture.drain();
  assertEquals(fixture.gate.isOpen, false);
  assertEquals([await fixture.device.status(), fixture.recorded, fixture.stopping], [null, [], true]);
});

Deno.test("drain() publishes stopping by the updater if and only if the updater is activating", async () => {
  const phases = ["preparing", "activating", "committed", "rolling-back", "failed", "rollback-failed"] as const;
  for (const phase of phases) {
    const fixture = await new Fixture().prepare();
    fixture.device.script.place(attemptOf(1), phase);
    await fixture.drain();
    const status = await fixture.device.status();
    const activating = phase === "activating";
    assertEquals(status?.phase, activating ? "stopping" : undefined);
    assertEquals([status?.reason, status?.attemptId], activating ? ["Updater", uuidOf(1)] : [undefined, undefined]);
    assertEquals(fixture.recorded.map(({ attemptId }) => attemptId), activating ? [uuidOf(1)] : []);
  }
});

Deno.test("drain() publishes nothing of another device's journal", async () => {
  const fixture = await new Fixture().prepare();
  fixture.device.script.place(attemptOf(1, { deviceId: "device-2" }), "activating");
  await fixture.drain();
  assertEquals([await fixture.device.status(), fixture.recorded], [null, []]);
});

Deno.test("drain() publishes over a write that was still under way", async () => {
  const fixture = await new Fixture().prepare();
  fixture.device.script.place(attemptOf(1), "activating");
  await (await fixture.document()).read();
  await fixture.device.publish(statusOf(attemptOf(1), "preparing"));
  await fixture.drain();
  assertEquals((await fixture.device.status())?.phase, "stopping");
});

Deno.test("drain() waits for the mutation that runs, and records how long it took", async () => {
  const fixture = await new Fixture().prepare();
  fixture.device.script.place(attemptOf(1), "activating");
  const { clock } = fixture.device;
  const mutation = fixture.gate.run(() => clock.sleep(7_000));
  assertEquals(await fixture.drain(), 7_000);
  assertEquals((await mutation).admitted, true);
  assertEquals(fixture.recorded[0]?.drainMs, 7_000);
});

Deno.test("drain() ends below the service manager's bound whatever hangs", async () => {
  const sumMs = DRAIN_MUTATION_TIMEOUT_MS + DRAIN_STATUS_TIMEOUT_MS + DRAIN_PUBLISH_TIMEOUT_MS +
    DRAIN_RECORD_TIMEOUT_MS + DRAIN_FLUSH_TIMEOUT_MS + DRAIN_CLOSE_TIMEOUT_MS;
  assertLess(sumMs, SERVICE_STOP_TIMEOUT_MS);

  const fixture = await new Fixture().prepare();
  fixture.device.script.place(attemptOf(1), "activating");
  const never = new Promise<never>(() => {});
  void fixture.gate.run(() => never);
  fixture.record = () => never;
  const bus = fixture.bus;
  const answer = bus.answer.bind(bus);
  bus.answer = (what, kind, work) => what.startsWith("bind") ? answer(what, kind, work) : never;
  assertEquals(await fixture.drain(), sumMs - DRAIN_STATUS_TIMEOUT_MS - DRAIN_CLOSE_TIMEOUT_MS);
  assertEquals(fixture.stopping, true);
});

Deno.test("drain() with NATS away still records, and does not wait for NATS", async () => {
  const fixture = await new Fixture().prepare();
  fixture.device.script.place(attemptOf(1), "activating");
  const { bus, device } = fixture;
  const bucket = bus.bucket.bind(bus);
  bus.bucket = async (name) => {
    const bound = await bucket(name);
    bus.disconnect();
    return bound;
  };
  assertEquals(await fixture.drain(), 0);
  assertEquals([fixture.recorded.length, await device.status()], [1, null]);
});

Deno.test("drain() goes on without an updater, and when the record fails", async () => {
  const away = await new Fixture().prepare();
  away.device.updaterAway = true;
  await away.drain();
  assertEquals([away.recorded.length, away.stopping], [0, true]);
  const full = await new Fixture().prepare();
  full.device.script.place(attemptOf(1), "activating");
  full.record = () => Promise.reject(new Error("no space is left"));
  await full.drain();
  assertEquals([(await full.device.status())?.phase, full.stopping], ["stopping", true]);
});
