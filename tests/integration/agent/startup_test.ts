import { assertEquals, assertInstanceOf, assertMatch, assertObjectMatch, assertRejects } from "@std/assert";
import { StartupError } from "../../../agent/startup/startup_error.ts";
import type { AgentUpgradeStatus } from "../../../contracts/agent_upgrade.ts";
import { BUCKET_SPECS, BUCKETS } from "../../../contracts/buckets.ts";
import { FleetError } from "../../../contracts/errors.ts";
import { CLOCK_EARLIEST_MS } from "../../../contracts/limits.ts";
import { READINESS_STEPS, type ReadinessStep, readinessStepOf } from "../../../contracts/readiness.ts";
import { BusConnectError } from "../../../lib/bus/connect_error.ts";
import { systemClock } from "../../../lib/deadline.ts";
import { acquireLock } from "../../../lib/durable/process_lock.ts";
import { exitCodeOf } from "../../../lib/program.ts";
import { attemptOf, bytesOf, DEVICE_ID, STARTED_AT, uuidOf } from "../../fakes/agent_samples.ts";
import { FakeNotifier } from "../../fakes/fake_notifier.ts";
import { waitUntil } from "../../nats/wait_until.ts";
import { AgentFixture, type AgentLife } from "./agent_fixture.ts";

/** The steps that STATUS named, each once, in order. */
function steps({ notifier }: AgentLife): ReadinessStep[] {
  return notifier.statuses.flatMap((status) => readinessStepOf(status) ?? [])
    .filter((step, index, all) => all.indexOf(step) === index);
}

async function failure(life: AgentLife): Promise<{ step: string; exitCode: number; message: string }> {
  const error = await assertRejects(() => life.ended);
  assertInstanceOf(error, StartupError);
  assertEquals(life.notifier.ready, false);
  assertEquals(readinessStepOf(life.notifier.statuses.at(-1) ?? ""), error.step);
  return { step: error.step, exitCode: exitCodeOf(error), message: error.message };
}

Deno.test("an agent takes its steps in the seed's order, and says READY with its own process last", () =>
  AgentFixture.use(async (fixture) => {
    const life = fixture.start();
    const session = await fixture.ready(life);
    const taken = steps(life);
    assertEquals(taken, READINESS_STEPS.filter((step) => taken.includes(step)));
    for (
      const step of ["lock", "clock", "nats", "buckets", "device-info", "updater", "version", "snapshot", "status"]
    ) {
      assertEquals(taken.some((name) => name === step), true, step);
    }
    const ready = life.notifier.said.find((said) => said.ready === true);
    assertEquals(ready?.mainPid, Deno.pid);
    assertEquals(session.gate.isOpen, true);
    const info = await waitUntil("device info of READY", async () => {
      const found = await fixture.info();
      return found?.step === "ready" && found.updater !== undefined ? found : null;
    });
    assertEquals([info.deviceId, info.agentVersion, info.form], [DEVICE_ID, "1.0.0", "script"]);
    assertEquals(info.updater, { version: "1.0.0", capabilities: ["https"] });
    await waitUntil("a heartbeat", () => fixture.beat());
    await life.stop();
    assertEquals(life.notifier.said.at(-1)?.stopping, true);
  }));

Deno.test("an agent that is not the activation's target never gets READY; in every other phase it does", () =>
  AgentFixture.use(async (fixture) => {
    fixture.updater.place(attemptOf(1), "activating");
    const life = fixture.start();
    const { step, exitCode, message } = await failure(life);
    assertEquals([step, exitCode], ["version", 1]);
    assertEquals(message, "this agent is 1.0.0, the activation is of 2.0.0");
    assertEquals((await fixture.info())?.blocked, message);
    for (const phase of ["rolling-back", "failed", "committed", "preparing"] as const) {
      fixture.updater.move(phase);
      const next = fixture.start();
      await fixture.ready(next);
      await next.stop();
    }
  }));

Deno.test("an agent publishes an active transaction before READY, with its predecessor's drain time", () =>
  AgentFixture.use(async (fixture) => {
    fixture.updater.place(attemptOf(1), "activating");
    fixture.facts = { ...fixture.facts, version: "2.0.0" };
    const drain = { schema: 1, attemptId: uuidOf(1), drainMs: 77, at: STARTED_AT };
    await Deno.writeTextFile(fixture.config.paths.lastDrain, JSON.stringify(drain));
    const notifier = new FakeNotifier();
    let atReady: AgentUpgradeStatus | null = null;
    const life = fixture.start({
      notifier: {
        supervised: true,
        close: () => {},
        notify: async (notification, signal) => {
          if (notification.ready === true) atReady = await fixture.status();
          await notifier.notify(notification, signal);
        },
      },
    });
    await fixture.ready(life);
    assertObjectMatch(atReady ?? {}, { phase: "starting", drainMs: 77 });
    fixture.updater.move("committed");
    await waitUntil("complete", async () => (await fixture.status())?.phase === "complete");
    await life.stop();
  }));

Deno.test("an agent without its updater waits, is visible, and becomes READY when it comes", () =>
  AgentFixture.use(async (fixture) => {
    fixture.updaterAway = true;
    const startedMs = performance.now();
    // Neither device info nor heartbeat waits for the next interval.
    fixture.config = { ...fixture.config, bounds: { ...fixture.config.bounds, heartbeatIntervalMs: 30_000 } };
    const life = fixture.start();
    const info = await waitUntil("blocked device info", async () => {
      const found = await fixture.info();
      return found?.blocked === undefined ? null : found;
    });
    assertEquals([info.step, info.blocked, info.updater], ["updater", "Cannot reach the updater", undefined]);
    const beat = await waitUntil("blocked heartbeat", async () => {
      const found = await fixture.beat();
      return found?.blocked === undefined ? null : found;
    });
    assertEquals(beat.blocked, "Cannot reach the updater");
    // Longer than the window for NATS, which this wait does not use up.
    const { natsRetryWindowMs } = fixture.config.bounds;
    await waitUntil("a long wait", () => performance.now() - startedMs > 2 * natsRetryWindowMs);
    assertEquals(life.session(), undefined);
    fixture.updaterAway = false;
    await fixture.ready(life);
    await waitUntil("unblocked", async () => (await fixture.info())?.blocked === undefined);
    await life.stop();
  }));

Deno.test("an agent that cannot read its updater's answer waits as well", () =>
  AgentFixture.use(async (fixture) => {
    fixture.updater.answerStatusWith = { protocol: 1, ok: true, state: 1 };
    const life = fixture.start();
    await waitUntil("blocked", async () => (await fixture.info())?.blocked?.includes("state: must be an object"));
    fixture.updater.answerStatusWith = undefined;
    await fixture.ready(life);
    await life.stop();
  }));

for (const step of ["dns", "network", "tls", "nats"] as const) {
  Deno.test(`an agent that fails at ${step} for the whole window exits 75 and says so`, () =>
    AgentFixture.use(async (fixture) => {
      fixture.connectError = new BusConnectError(step, `Cannot connect to NATS: ${step} is not there`);
      const life = fixture.start();
      const said = await failure(life);
      assertEquals([said.step, said.exitCode], [step, 75]);
      assertEquals(said.message, `Cannot connect to NATS: ${step} is not there`);
    }));
}

Deno.test("an agent whose clock was never set names the clock when NATS fails, and becomes READY without it", () =>
  AgentFixture.use(async (fixture) => {
    const clock = { ...systemClock, nowMs: () => CLOCK_EARLIEST_MS - 1 };
    fixture.connectError = new BusConnectError("tls", "Cannot connect to NATS: the certificate is not valid yet");
    const { step, exitCode, message } = await failure(fixture.start({ clock }));
    assertEquals([step, exitCode], ["clock", 75]);
    assertMatch(message, /it has never been set, and Cannot connect to NATS/);
    fixture.connectError = null;
    const life = fixture.start({ clock });
    await fixture.ready(life);
    await life.stop();
  }));

Deno.test("an agent waits for buckets within its window, and exits 75 after it", () =>
  AgentFixture.use(async (fixture) => {
    fixture.broker.deleteBucket(BUCKETS.desiredState);
    const { step, exitCode } = await failure(fixture.start());
    assertEquals([step, exitCode], ["buckets", 75]);
    const life = fixture.start();
    await waitUntil("the wait", () => life.notifier.statuses.some((status) => /^\[buckets\] .* more$/.test(status)));
    await fixture.operator.ensureBuckets(BUCKET_SPECS, 1, 1);
    await fixture.ready(life);
    await life.stop();
  }));

Deno.test("an agent takes a complete snapshot before READY, however often it must try", () =>
  AgentFixture.use(async (fixture) => {
    const bucket = await fixture.operator.bucket(BUCKETS.desiredState);
    const entry = { schema: 1, deploymentId: uuidOf(1), name: "web", generation: 1 };
    await bucket.put(`${DEVICE_ID}.${uuidOf(1)}`, bytesOf(entry));
    let broken = 2;
    const life = fixture.start({
      connect: () => {
        const bus = fixture.broker.connect();
        const answer = bus.answer.bind(bus);
        bus.answer = (what, kind, work) => {
          if (what.startsWith("snapshot") && broken-- > 0) bus.breakNextSnapshot = true;
          return answer(what, kind, work);
        };
        return Promise.resolve(bus);
      },
    });
    const session = await fixture.ready(life);
    assertEquals([broken < 0, session.desired.held.entries.size], [true, 1]);
    await life.stop();
  }));

Deno.test("an agent whose NATS goes silent before READY exits 75 at the step that met it", () =>
  AgentFixture.use(async (fixture) => {
    const life = fixture.start({
      connect: () => {
        const bus = fixture.broker.connect();
        const answer = bus.answer.bind(bus);
        bus.answer = (what, kind, work) => {
          if (what.startsWith("snapshot")) bus.silent = true;
          return answer(what, kind, work);
        };
        return Promise.resolve(bus);
      },
    });
    const { step, exitCode } = await failure(life);
    assertEquals([step, exitCode], ["snapshot", 75]);
  }));

Deno.test("a second agent ends with one clear line and touches nothing", () =>
  AgentFixture.use(async (fixture) => {
    const lock = await acquireLock(fixture.config.paths.agentLock);
    const life = fixture.start();
    const { step, exitCode, message } = await failure(life);
    assertEquals([step, exitCode], ["lock", 75]);
    assertEquals(message, `Cannot start: another agent holds the lock ${fixture.config.paths.agentLock}`);
    assertEquals([life.bus(), fixture.updater.polls], [undefined, 0]);
    lock?.release();
    const next = fixture.start();
    await fixture.ready(next);
    await next.stop();
  }));

Deno.test("an agent that is stopped before READY ends at once, at whatever step, and gives its lock back", () =>
  AgentFixture.use(async (fixture) => {
    fixture.updater.place(attemptOf(1), "activating");
    fixture.updaterAway = true;
    const atUpdater = fixture.start();
    await waitUntil("the updater step", () => steps(atUpdater).includes("updater"));
    await atUpdater.stop();
    fixture.connectError = new BusConnectError("network", "Cannot connect to NATS");
    const atNats = fixture.start();
    await waitUntil("the nats step", () => steps(atNats).includes("nats"));
    await atNats.stop();
    for (const life of [atUpdater, atNats]) {
      assertEquals(life.notifier.said.some(({ ready, stopping }) => ready === true || stopping === true), false);
    }
    assertEquals(await fixture.status(), null);
    const lock = await acquireLock(fixture.config.paths.agentLock);
    assertEquals(lock === null, false);
    lock?.release();
  }));

Deno.test("an agent ends by a defect in one of its loops", () =>
  AgentFixture.use(async (fixture) => {
    let polls = 0;
    const life = fixture.start({
      client: {
        status: () => polls++ === 0 ? Promise.resolve(fixture.updater.state) : Promise.reject(new RangeError("defect")),
        upgrade: () => Promise.reject(new RangeError("defect")),
        systemUpgrade: () => Promise.reject(new RangeError("defect")),
      },
    });
    const error = await assertRejects(() => life.ended, RangeError);
    assertEquals(exitCodeOf(error), 70);
  }));

Deno.test("an agent whose client gives NATS up for good drains and ends, to be started anew", () =>
  AgentFixture.use(async (fixture) => {
    const life = fixture.start();
    const session = await fixture.ready(life);
    life.bus()?.emit({ kind: "closed" });
    const error = await assertRejects(() => life.ended, FleetError, "given the connection to NATS up");
    assertEquals([exitCodeOf(error), session.gate.isOpen], [75, false]);
    assertEquals(life.notifier.said.at(-1)?.stopping, true);
  }));

Deno.test("an agent brings its documents back when the broker comes back without them", () =>
  AgentFixture.use(async (fixture) => {
    fixture.updater.place(attemptOf(1), "failed");
    const life = fixture.start();
    await fixture.ready(life);
    await waitUntil("the status", () => fixture.status());
    await waitUntil("step ready", async () => (await fixture.info())?.step === "ready");
    life.bus()?.disconnect();
    for (const { name } of BUCKET_SPECS) fixture.broker.deleteBucket(name);
    await fixture.operator.ensureBuckets(BUCKET_SPECS, 1, 1);
    life.bus()?.reconnect();
    await waitUntil("the status", async () => (await fixture.status())?.phase === "failed");
    await waitUntil("device info", async () => (await fixture.info())?.step === "ready");
    await life.stop();
  }));

Deno.test("an idle agent logs nothing and writes nothing durable", () =>
  AgentFixture.use(async (fixture) => {
    const life = fixture.start();
    await fixture.ready(life);
    await waitUntil("quiet", async () => ((await fixture.beat())?.sequence ?? 0) > 3);
    const lines = life.lines.length;
    const revision = (await (await fixture.operator.bucket(BUCKETS.deviceInfo)).get(DEVICE_ID))?.revision;
    await waitUntil("more heartbeats", async () => ((await fixture.beat())?.sequence ?? 0) > 12);
    assertEquals(life.lines.slice(lines), []);
    assertEquals((await (await fixture.operator.bucket(BUCKETS.deviceInfo)).get(DEVICE_ID))?.revision, revision);
    life.bus()?.disconnect();
    await waitUntil("polls without NATS", () => fixture.updater.polls > 60);
    assertEquals(life.lines.slice(lines).length, 1, life.lines.slice(lines).join("\n"));
    const files = Array.from(Deno.readDirSync(fixture.config.paths.agentStateDirectory), ({ name }) => name);
    assertEquals(files, ["agent.lock"]);
    await life.stop();
  }));
