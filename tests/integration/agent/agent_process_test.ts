import { assert, assertEquals, assertFalse, assertMatch } from "@std/assert";
import { BUCKETS } from "../../../contracts/buckets.ts";
import { decodeBytes } from "../../../contracts/codec.ts";
import { readinessStepOf } from "../../../contracts/readiness.ts";
import { selfTestReport } from "../../../contracts/self_test_report.ts";
import { attemptOf, DEVICE_ID, uuidOf } from "../../fakes/agent_samples.ts";
import { waitUntil } from "../../nats/wait_until.ts";
import { brokerConfig, DEVICE_PASSWORD, ProcessFixture } from "./agent_process.ts";

function report(output: string) {
  const line = output.split("\n").find((text) => text.startsWith('{"schema"')) ?? "";
  return decodeBytes(selfTestReport, new TextEncoder().encode(line), 65_536);
}

Deno.test("agent process: READY by the main process, device info and heartbeats, drained by SIGTERM with 0", () =>
  ProcessFixture.use(async (fixture) => {
    const agent = await fixture.startReady();
    const ready = agent.said.find((said) => said.ready === true);
    assertEquals(ready?.mainPid, agent.pid);
    await waitUntil("step ready", async () => (await fixture.info())?.step === "ready");
    const beat = await waitUntil("a heartbeat with a skew", async () => {
      const found = await fixture.beat();
      return found?.vitals.clockSkewMs === undefined ? null : found;
    });
    assertEquals(beat.deviceId, DEVICE_ID);
    assert((beat.vitals.freeBytes["/usr"] ?? 0) > 0 && (beat.vitals.freeBytes["/var"] ?? 0) > 0);
    assert((beat.vitals.rssBytes ?? 0) > 0);
    assertEquals(await agent.stop(), 0);
    assertEquals(agent.said.at(-1)?.stopping, true);
    assertFalse(agent.output.includes(DEVICE_PASSWORD));
  }));

Deno.test("agent process: exit 75 after the window when NATS is not there, STATUS names the step", () =>
  ProcessFixture.use(async (fixture) => {
    await fixture.configure({ bounds: { natsRetryWindowMs: 700 } });
    await fixture.nats.kill9();
    const agent = fixture.start();
    assertEquals(await agent.end(), 75);
    assertFalse(agent.ready);
    await waitUntil("last STATUS", () => readinessStepOf(agent.statuses.at(-1) ?? "") === "network");
    assert(agent.statuses.some((status) => /trying for \d+ s more$/.test(status)), agent.statuses.join("\n"));
  }));

Deno.test("agent process: exit 75 after the window when the login is refused", () =>
  ProcessFixture.use(async (fixture) => {
    await fixture.configure({ bounds: { natsRetryWindowMs: 700 } });
    await Deno.writeTextFile(`${fixture.root}/etc/harmony-fleet/password`, "wrong\n", { mode: 0o600 });
    const agent = fixture.start();
    assertEquals(await agent.end(), 75);
    await waitUntil("last STATUS", () => /^\[nats\] Cannot log in to NATS/.test(agent.statuses.at(-1) ?? ""));
  }));

Deno.test("agent process: a second agent by hand ends with one line; the first goes on", () =>
  ProcessFixture.use(async (fixture) => {
    const first = await fixture.startReady();
    const polls = fixture.updater.script.polls;
    const second = fixture.start();
    assertEquals(await second.end(), 75);
    assertMatch(second.output, /another agent holds the lock/);
    assertEquals(second.output.trim().split("\n").length, 1);
    await waitUntil("the first agent's polls", () => fixture.updater.script.polls > polls);
    assertEquals(await first.stop(), 0);
  }));

Deno.test("agent process: every error of the configuration is named, exit 78", () =>
  ProcessFixture.use(async (fixture) => {
    await fixture.configure({ nats: { servers: [], port: 1 }, bounds: { heartbeatIntervalMs: 0 } });
    const agent = fixture.start();
    assertEquals(await agent.end(), 78);
    for (const field of ["nats.servers: ", "nats.port: ", "bounds.heartbeatIntervalMs: "]) {
      assert(agent.output.includes(field), agent.output);
    }
    assertEquals(readinessStepOf(agent.statuses.at(-1) ?? ""), "config");
  }));

Deno.test("agent process: a secret that everybody can read is refused in one line, exit 78", () =>
  ProcessFixture.use(async (fixture) => {
    const path = `${fixture.root}/etc/harmony-fleet/password`;
    await Deno.chmod(path, 0o644);
    const agent = fixture.start();
    assertEquals(await agent.end(), 78);
    assert(agent.output.includes("its mode is 0644, must be 0640 or stricter"), agent.output);
    assertFalse(agent.output.includes(DEVICE_PASSWORD));
  }));

Deno.test("agent process: the drain of a switch publishes stopping, and the successor adds the drain time", () =>
  ProcessFixture.use(async (fixture) => {
    const agent = await fixture.startReady();
    await fixture.intend(attemptOf(1));
    await waitUntil("the attempt", () => fixture.updater.script.phase === "preparing", 30_000);
    await fixture.untilPhase(uuidOf(1), "preparing");
    fixture.updater.script.move("activating");
    assertEquals(await agent.stop(), 0);
    const stopping = await fixture.status();
    assertEquals([stopping?.phase, stopping?.reason], ["stopping", "Updater"]);
    // The candidate of this test has no version of its own: the rollback's previous agent is started.
    fixture.updater.script.move("rolling-back");
    const successor = await fixture.startReady();
    const status = await fixture.status();
    assertEquals(status?.phase, "rolling-back");
    assert(status?.drainMs !== undefined);
    fixture.updater.script.move("failed", "NeverReady");
    await fixture.untilPhase(uuidOf(1), "failed");
    assertEquals([fixture.updater.script.began.length, await successor.stop()], [1, 0]);
  }));

Deno.test("agent process: NATS killed after READY and back: the agent never ends, and publishes what happened", () =>
  ProcessFixture.use(async (fixture) => {
    const agent = await fixture.startReady();
    await fixture.intend(attemptOf(1));
    await waitUntil("the attempt", () => fixture.updater.script.phase === "preparing", 30_000);
    await fixture.nats.kill9();
    const { script } = fixture.updater;
    script.move("activating");
    script.move("rolling-back");
    script.move("failed", "NeverReady");
    const polls = script.polls;
    await waitUntil("polls without NATS", () => script.polls > polls + 30, 30_000);
    assertEquals(agent.code, undefined);
    await fixture.nats.restart();
    await fixture.untilPhase(uuidOf(1), "failed");
    await fixture.ensureBuckets();
    await waitUntil("heartbeats again", async () => await fixture.beat() !== null, 30_000);
    assertEquals(agent.output.split("\n").filter((line) => line.includes("NATS is away")).length, 1, agent.output);
    assertEquals(await agent.stop(), 0);
  }));

Deno.test("agent process: a login refused after READY is waited out", () =>
  ProcessFixture.use(async (fixture) => {
    const agent = await fixture.startReady();
    await fixture.nats.restart({ config: brokerConfig("another password") });
    await waitUntil("the refusal", () => agent.output.includes("NATS refuses the login"), 30_000);
    const polls = fixture.updater.script.polls;
    await waitUntil("polls", () => fixture.updater.script.polls > polls + 30, 30_000);
    assertEquals(agent.code, undefined);
    const refusals = agent.output.split("\n").filter((line) => line.includes("refuses the login"));
    assertEquals(refusals.length, 1, agent.output);
    await fixture.nats.restart({ config: brokerConfig() });
    await fixture.ensureBuckets();
    await waitUntil("heartbeats again", async () => await fixture.beat() !== null, 30_000);
    assertEquals(await agent.stop(), 0);
  }));

Deno.test("agent process: drained with NATS frozen, below the bound", () =>
  ProcessFixture.use(async (fixture) => {
    const agent = await fixture.startReady();
    fixture.updater.script.place(attemptOf(1), "activating");
    await fixture.nats.pause();
    const startedMs = performance.now();
    const code = await agent.stop();
    fixture.nats.resume();
    assertEquals(code, 0);
    assert(performance.now() - startedMs < 30_000);
    const drain = JSON.parse(await Deno.readTextFile(`${fixture.root}/var/lib/harmony-fleet/agent/last-drain.json`));
    assertEquals(drain.attemptId, uuidOf(1));
  }));

Deno.test("agent process: the updater restarts under an agent; requests are asked again and nothing runs twice", () =>
  ProcessFixture.use(async (fixture) => {
    const agent = await fixture.startReady();
    await fixture.updater.stop();
    await fixture.intend(attemptOf(1));
    await waitUntil("the deferral", async () => (await fixture.beat())?.deferred?.attemptId === uuidOf(1), 30_000);
    assertEquals((await fixture.beat())?.deferred?.reason, "UpdaterUnavailable");
    await waitUntil("no updater in device info", async () => (await fixture.info())?.updater === undefined, 30_000);
    fixture.updater.start();
    await waitUntil("the attempt", () => fixture.updater.script.phase === "preparing", 30_000);
    await fixture.updater.stop();
    fixture.updater.start();
    fixture.updater.script.move("failed");
    await fixture.untilPhase(uuidOf(1), "failed");
    assertEquals(fixture.updater.script.began, [uuidOf(1)]);
    await waitUntil("the updater in device info", async () => (await fixture.info())?.updater !== undefined, 30_000);
    assertEquals(await agent.stop(), 0);
  }));

Deno.test("agent process: SIGKILL in the middle of a request; the successor asks nothing twice", () =>
  ProcessFixture.use(async (fixture) => {
    const agent = await fixture.startReady();
    await fixture.intend(attemptOf(1));
    await waitUntil("the attempt", () => fixture.updater.script.phase === "preparing", 30_000);
    agent.kill("SIGKILL");
    await agent.end();
    const successor = await fixture.startReady();
    fixture.updater.script.move("failed");
    await fixture.untilPhase(uuidOf(1), "failed");
    assertEquals([fixture.updater.script.began, fixture.updater.script.requests], [[uuidOf(1)], 1]);
    assertEquals(await successor.stop(), 0);
  }));

Deno.test("agent process: replayed, replaced and busy intents each run at most once, the newest wins, none is lost", () =>
  ProcessFixture.use(async (fixture) => {
    const agent = await fixture.startReady();
    const { script } = fixture.updater;
    await fixture.intend(attemptOf(1));
    await waitUntil("the first", () => script.began.length === 1, 30_000);
    // Replaced by compare-and-set in the middle of the transaction, twice; and an old one replayed in between.
    await fixture.intend(attemptOf(2));
    await fixture.intend(attemptOf(1));
    await fixture.intend(attemptOf(3));
    await waitUntil("the deferral", async () => (await fixture.beat())?.deferred?.attemptId === uuidOf(3), 30_000);
    script.move("failed");
    await waitUntil("the newest", () => script.began.length === 2, 30_000);
    script.move("activating");
    script.move("committed");
    await fixture.untilPhase(uuidOf(3), "complete");
    await fixture.intend(attemptOf(1));
    await fixture.untilPhase(uuidOf(1), "failed");
    await fixture.intend(attemptOf(4));
    await waitUntil("the last", () => script.began.length === 3, 30_000);
    assertEquals(script.began, [1, 3, 4].map(uuidOf));
    assertEquals(await agent.stop(), 0);
  }));

Deno.test("agent process: desired state emptied, made anew and written again: nothing is removed without its proof", () =>
  ProcessFixture.use(async (fixture) => {
    const desire = async (generation: number, ...digits: number[]) => {
      for (const deploymentId of digits.map(uuidOf)) {
        const entry = { schema: 1, deploymentId, name: "web", generation: 1 };
        await fixture.put(BUCKETS.desiredState, `${DEVICE_ID}.${deploymentId}`, entry);
      }
      const count = { schema: 1, generation, entries: digits.length, updatedAt: new Date().toISOString() };
      await fixture.put(BUCKETS.desiredState, `${DEVICE_ID}._generation`, count);
    };
    const blocked = (text: string) =>
      waitUntil(text, async () => (await fixture.beat())?.blocked?.includes(text) === true, 30_000);
    const unblocked = (entries: number) =>
      waitUntil(`${entries} entries`, async () => {
        const counts = agent.output.split("\n").filter((line) => line.includes("desired state changed"));
        const last = JSON.parse(counts.at(-1) ?? "{}");
        return (await fixture.beat())?.blocked === undefined && last.entries === entries && last.kept === 0;
      }, 30_000);
    await desire(1, 1, 2, 3);
    const agent = await fixture.startReady();
    await unblocked(3);
    const bucket = await fixture.operator.bucket(BUCKETS.desiredState);
    for (const token of ["_generation", uuidOf(1), uuidOf(2), uuidOf(3)]) await bucket.delete(`${DEVICE_ID}.${token}`);
    await blocked("nothing is removed, since the device's generation is missing");
    await desire(2, 1, 2, 3);
    await waitUntil("unblocked", async () => (await fixture.beat())?.blocked === undefined, 30_000);
    await fixture.operator.rawRequest("$JS.API.STREAM.DELETE.KV_desired-state", {});
    await fixture.ensureBuckets();
    await blocked("nothing is removed, since the device's generation is missing");
    await desire(3, 1, 4);
    await unblocked(2);
    assertEquals(agent.code, undefined);
    assertEquals(await agent.stop(), 0);
  }));

Deno.test("agent process: self-test passes beside a live agent, and publishes nothing", () =>
  ProcessFixture.use(async (fixture) => {
    const agent = await fixture.startReady();
    await waitUntil("step ready", async () => (await fixture.info())?.step === "ready");
    const info = await fixture.info();
    const test = fixture.start("--self-test");
    assertEquals(await test.end(), 0, test.output);
    const { checks, passed } = report(test.output);
    assertEquals(passed, true);
    const names = ["config", "podman", "clock", "nats", "buckets", "keys", "updater", "snapshot"];
    assertEquals(checks.map(({ name }) => name), names);
    assertEquals(checks.filter(({ result }) => result !== "ok").map(({ name }) => name), ["podman"]);
    assertEquals(await fixture.info(), info);
    assertEquals(agent.code, undefined);
    await agent.stop();
  }));

Deno.test("agent process: self-test tells the surroundings' faults from its own", () =>
  ProcessFixture.use(async (fixture) => {
    await fixture.updater.stop();
    await fixture.operator.rawRequest("$JS.API.STREAM.DELETE.KV_desired-state", {});
    const test = fixture.start("--self-test");
    assertEquals(await test.end(), 1);
    const failed = report(test.output).checks.filter(({ result }) => result === "failed");
    assertEquals(failed.map(({ name, failureClass }) => `${name} ${failureClass}`), [
      "buckets environment",
      "updater environment",
    ]);
    await fixture.configure({ nats: { servers: [] } });
    const broken = fixture.start("--self-test");
    assertEquals(await broken.end(), 1);
    const checks = report(broken.output).checks;
    assertEquals(checks[0]?.failureClass, "version");
    assertEquals(checks.filter(({ result }) => result === "skipped").length, checks.length - 2);
  }));

Deno.test("agent process: self-test tells a file that is not there or not readable as the surroundings' fault", () =>
  ProcessFixture.use(async (fixture) => {
    const config = async () => {
      const test = fixture.start("--self-test");
      assertEquals(await test.end(), 1);
      const { failureClass, name, result } = report(test.output).checks[0] ?? {};
      return `${name} ${result} ${failureClass}`;
    };
    const secret = `${fixture.root}/etc/harmony-fleet/password`;
    await Deno.chmod(secret, 0o644);
    assertEquals(await config(), "config failed environment");
    await Deno.remove(secret);
    assertEquals(await config(), "config failed environment");
    await Deno.remove(fixture.configPath);
    assertEquals(await config(), "config failed environment");
    await Deno.writeTextFile(fixture.configPath, "{", { mode: 0o640 });
    assertEquals(await config(), "config failed version");
  }));

Deno.test("agent process: self-test with NATS away fails after the window, as environment", () =>
  ProcessFixture.use(async (fixture) => {
    await fixture.configure({ bounds: { natsRetryWindowMs: 500 } });
    await fixture.nats.kill9();
    const test = fixture.start("--self-test");
    assertEquals(await test.end(), 1);
    const nats = report(test.output).checks.find(({ name }) => name === "nats");
    assertEquals([nats?.result, nats?.failureClass], ["failed", "environment"]);
    assertMatch(nats?.reason ?? "", /^network: /);
  }));
