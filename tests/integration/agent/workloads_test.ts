/** Workloads of a whole agent in this process: everything is real but the broker, the updater and the engine. */
import { assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { StartupError } from "../../../agent/startup/startup_error.ts";
import { exitCodeOf } from "../../../lib/program.ts";
import { uuidOf } from "../../fakes/agent_samples.ts";
import { DesiredStateWriter } from "../../fakes/desired_state_writer.ts";
import { FakeEngine } from "../../fakes/fake_engine.ts";
import { untilReported } from "../../fakes/reported_deployments.ts";
import { containerOf, entryDocument, IMAGE } from "../../fakes/workload_samples.ts";
import { waitUntil } from "../../nats/wait_until.ts";
import { AgentFixture } from "./agent_fixture.ts";

interface Setting {
  readonly fixture: AgentFixture;
  readonly engine: FakeEngine;
  readonly desired: DesiredStateWriter;
}

function workloadTest(name: string, test: (setting: Setting) => Promise<void>): void {
  Deno.test(`an agent with workloads: ${name}`, () =>
    AgentFixture.use(async (fixture) => {
      const engine = new FakeEngine();
      engine.images.add(IMAGE);
      await test({ fixture, engine, desired: new DesiredStateWriter(fixture.operator) });
    }));
}

const APP = containerOf("app");

workloadTest("runs what is desired, follows its changes, and cleans up", async ({ desired, engine, fixture }) => {
  await desired.write([entryDocument(1, [APP])]);
  const life = fixture.start({ engine });
  const said = () => life.notifier.statuses.join("\n");
  await untilReported(fixture.operator, ["web-1 1 ready"]);
  assertStringIncludes(said(), "[podman] reaching Podman");
  await desired.write([entryDocument(1, [containerOf("app", { env: { A: "1" } })], 2), entryDocument(2, [APP])]);
  await untilReported(fixture.operator, ["web-1 2 ready", "web-2 1 ready"]);
  await desired.write([entryDocument(2, [APP])]);
  await untilReported(fixture.operator, ["web-2 1 ready"]);
  assertEquals(engine.all.map(({ name }) => name), ["web-2.app"]);
  await life.stop();
  assertEquals(engine.all.map(({ phase }) => phase), ["running"]);
});

workloadTest("an emptied bucket, a lost generation and a snapshot cut short remove nothing", async (setting) => {
  const { desired, engine, fixture } = setting;
  const both = [entryDocument(1, [APP]), entryDocument(2, [APP])];
  await desired.write(both);
  let life = fixture.start({ engine });
  await untilReported(fixture.operator, ["web-1 1 ready", "web-2 1 ready"]);
  const before = engine.all;
  const blocked = async () => (await fixture.beat())?.blocked ?? "";
  await desired.empty();
  await waitUntil("blocked", async () => (await blocked()).includes("nothing is removed"));
  // The next life knows nothing but what the empty bucket tells.
  await life.stop();
  life = fixture.start({ engine });
  await fixture.ready(life);
  // One entry of two: the rest is still on its way, or was lost.
  await desired.writeGeneration(2);
  await desired.writeEntry(entryDocument(1, [APP]));
  await waitUntil("a look at what is left", () => engine.calls.filter((call) => call === "list").length > 3);
  await desired.write(both);
  await untilReported(fixture.operator, ["web-1 1 ready", "web-2 1 ready"]);
  await waitUntil("unblocked", async () => (await blocked()) === "");
  assertEquals(engine.all, before);
  await life.stop();
});

workloadTest("says so of an entry that it cannot carry out", async ({ desired, engine, fixture }) => {
  await desired.write([
    { schema: 1, deploymentId: uuidOf(1), name: "other", generation: 1, wasmV3: {} },
    { ...entryDocument(2, [APP], 4), schema: 2 },
    entryDocument(3, [{ ...APP, image: "no-registry" }]),
    entryDocument(4, [APP]),
  ]);
  const life = fixture.start({ engine });
  const reported = await untilReported(fixture.operator, [
    "other 1 failed UnknownWorkload",
    "web-2 4 failed UnknownWorkload",
    "web-3 1 failed InvalidWorkload",
    "web-4 1 ready",
  ]);
  const errors = reported.map(({ error = "", name }) => `${name}: ${error}`).join("\n");
  assertMatch(errors, /web-2: the entry has schema 2, this agent knows 1/);
  assertMatch(errors, /web-3: podmanV0\.containers\[0\]\.image: /);
  assertEquals(engine.all.map(({ name }) => name), ["web-4.app"]);
  await life.stop();
});

workloadTest("without Podman in its configuration says so of every deployment", async ({ desired, fixture }) => {
  await desired.write([entryDocument(1, [APP])]);
  const life = fixture.start();
  await untilReported(fixture.operator, ["web-1 1 failed PodmanDisabled"]);
  await desired.write([]);
  await untilReported(fixture.operator, []);
  await life.stop();
});

workloadTest("waits for Podman where it can be seen, and gets READY when it is there", async (setting) => {
  const { desired, engine, fixture } = setting;
  await desired.write([entryDocument(1, [APP])]);
  engine.away = true;
  fixture.config = { ...fixture.config, bounds: { ...fixture.config.bounds, natsRetryWindowMs: 60_000 } };
  const life = fixture.start({ engine });
  await waitUntil("device info", async () => {
    const info = await fixture.info();
    return info?.step === "podman" && info.blocked?.includes("nobody listens at the socket") === true;
  });
  assertEquals(life.notifier.ready, false);
  engine.away = false;
  await untilReported(fixture.operator, ["web-1 1 ready"]);
  await life.stop();
});

workloadTest("a Podman that stays away is the surroundings' fault", async ({ engine, fixture }) => {
  engine.away = true;
  const life = fixture.start({ engine });
  const error = await assertRejects(() => life.ended, StartupError);
  assertEquals([error.step, error.failureClass, exitCodeOf(error)], ["podman", "environment", 75]);
  assertMatch(life.notifier.statuses.at(-1) ?? "", /^\[podman\] Cannot version: nobody listens/);
});

workloadTest("nothing is changed before READY", async ({ desired, engine, fixture }) => {
  await desired.write([entryDocument(1, [APP])]);
  fixture.updaterAway = true;
  const life = fixture.start({ engine });
  await waitUntil(
    "the wait for the updater",
    () => life.notifier.statuses.some((text) => text.startsWith("[updater]")),
  );
  assertEquals(engine.calls.filter((call) => call !== "version"), []);
  fixture.updaterAway = false;
  await untilReported(fixture.operator, ["web-1 1 ready"]);
  await life.stop();
});
