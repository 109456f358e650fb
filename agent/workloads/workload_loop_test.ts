import { assert, assertEquals, assertGreater, assertLess, assertStringIncludes } from "@std/assert";
import { settle } from "../../tests/fakes/fake_clock.ts";
import { containerOf, entryOf, IMAGE, madeFrom } from "../../tests/fakes/workload_samples.ts";
import { WorkloadWorld } from "../../tests/fakes/workload_world.ts";
import { WORKLOAD_RESYNC_MS, WORKLOAD_RETRY_MAX_MS } from "../../contracts/limits.ts";

const APP = containerOf("app");

function worldTest(name: string, test: (world: WorkloadWorld) => Promise<void>): void {
  Deno.test(`workloads: ${name}`, () => WorkloadWorld.use(test));
}

worldTest("what is desired runs, and its deployment says so", async (world) => {
  world.desire([entryOf(1, [APP, containerOf("side")])]);
  const life = world.begin();
  await world.until("ready", () => life.view("web-1")?.phase === "ready");
  assertEquals(world.running(), ["web-1.app", "web-1.side"]);
  assertEquals(life.shown, ["web-1 pending Waiting", "web-1 ready"]);
  assertEquals(life.view("web-1")?.containers, [{ name: "app", state: "running" }, { name: "side", state: "running" }]);
});

worldTest("what is right is not touched, by this life or the next", async (world) => {
  world.desire([entryOf(1, [APP])]);
  world.begin();
  await world.until("ready", () => world.life.view("web-1")?.phase === "ready");
  const [container] = world.engine.all;
  const changes = world.changes();
  await world.clock.advance(10 * WORKLOAD_RESYNC_MS);
  await world.end();
  world.desire([entryOf(1, [APP], 2)]);
  world.begin();
  await world.clock.advance(10 * WORKLOAD_RESYNC_MS);
  assertEquals(world.changes(), changes);
  assertEquals(world.engine.all, [container]);
  assertEquals(world.life.view("web-1")?.generation, 2);
});

worldTest("nothing is changed before the gate opens", async (world) => {
  world.desire([entryOf(1, [APP])]);
  const life = world.begin(false);
  await world.clock.advance(2 * WORKLOAD_RESYNC_MS);
  assertEquals(world.changes(), []);
  assertEquals(life.shown, ["web-1 pending Waiting"]);
  life.gate.open();
  life.loop.poke();
  await world.until("ready", () => life.view("web-1")?.phase === "ready");
});

worldTest("fifty containers are made in one pass", async (world) => {
  const entries = [1, 2, 3, 4, 5].map((digit) =>
    entryOf(digit, Array.from({ length: 10 }, (_, index) => containerOf(`c${index}`)))
  );
  world.desire(entries);
  const life = world.begin();
  await world.until("ready", () => life.views.length === 5 && life.views.every(({ phase }) => phase === "ready"));
  assertEquals(world.running().length, 50);
  const first = world.engine.calls.indexOf("list");
  const looks = world.engine.calls.filter((call, index) =>
    call === "list" && index > first && world.changes().length > 0
  );
  // One look before, one after: no look between two changes.
  const between = world.engine.calls.slice(
    first + 1,
    world.engine.calls.findLastIndex((call) => call.startsWith("start ")),
  );
  assertEquals(between.filter((call) => call === "list"), []);
  assertGreater(looks.length, 0);
});

worldTest("a broken workload harms no other, is tried again with pauses, and recovers", async (world) => {
  world.engine.broken.set("web-1.app", "bind: address already in use");
  world.desire([entryOf(1, [APP]), entryOf(2, [APP])]);
  const life = world.begin();
  await world.until("the other", () => life.view("web-2")?.phase === "ready");
  await world.until("failed", () => life.view("web-1")?.phase === "failed");
  const { containers, error, reason } = life.view("web-1") ?? {};
  assertEquals([reason, error], ["StartFailed", "app: Cannot start web-1.app: bind: address already in use"]);
  assertEquals(containers, [{ name: "app", state: "failed", reason: "StartFailed" }]);
  const starts = () => world.changes().filter((call) => call === "start web-1.app").length;
  await world.clock.advance(3_600_000);
  // An hour of tries, of which none comes sooner than the one before, up to the longest pause.
  assertLess(starts(), 10 + 3_600_000 / (WORKLOAD_RETRY_MAX_MS * 0.9));
  assertGreater(starts(), 8);
  world.engine.broken.clear();
  await world.until("ready", () => life.view("web-1")?.phase === "ready");
  assertEquals(world.changes().filter((call) => call.includes("web-2")), ["create web-2.app", "start web-2.app"]);
});

worldTest("another wish is tried at once, whatever the last one waits for", async (world) => {
  world.engine.broken.set("web-1.app", "no such program");
  world.desire([entryOf(1, [APP])]);
  const life = world.begin();
  await world.until("failed", () => life.view("web-1")?.phase === "failed");
  await world.clock.advance(3_600_000);
  world.engine.broken.clear();
  world.desire([entryOf(1, [containerOf("app", { env: { FIXED: "1" } })], 2)]);
  await world.until("ready", () => life.view("web-1")?.phase === "ready", 1_000);
});

worldTest("a successor that cannot be made leaves the old container running", async (world) => {
  world.desire([entryOf(1, [APP])]);
  const life = world.begin();
  await world.until("ready", () => life.view("web-1")?.phase === "ready");
  const [before] = world.engine.all;
  world.desire([entryOf(1, [containerOf("app", { image: "registry.example/app:2" })], 2)]);
  await world.until("failed", () => life.view("web-1")?.reason === "ImageUnavailable");
  assertStringIncludes(life.view("web-1")?.error ?? "", "manifest unknown");
  assertEquals(world.engine.all, [before]);
  world.engine.registry.set("registry.example/app:2", "image");
  await world.until("ready", () => life.view("web-1")?.phase === "ready");
  assertEquals(world.running(), ["web-1.app"]);
  assert(world.engine.all[0]?.id !== before?.id);
});

worldTest("an image that takes its time holds up nobody else", async (world) => {
  const arrival = Promise.withResolvers<void>();
  world.engine.registry.set("registry.example/big:1", arrival.promise);
  const big = containerOf("app", { image: "registry.example/big:1" });
  world.desire([entryOf(1, [big, { ...big, name: "side" }]), entryOf(2, [APP])]);
  const life = world.begin();
  await world.until("the other", () => life.view("web-2")?.phase === "ready");
  assertEquals(life.view("web-1")?.reason, "Pulling");
  world.desire([entryOf(1, [big, { ...big, name: "side" }]), entryOf(2, [containerOf("app", { env: { A: "1" } })], 2)]);
  await world.until(
    "the other's change",
    () => life.view("web-2")?.generation === 2 && life.view("web-2")?.phase === "ready",
  );
  arrival.resolve();
  await world.until("ready", () => life.view("web-1")?.phase === "ready");
  // Two containers of one image need one pull.
  assertEquals(world.engine.calls.filter((call) => call.startsWith("pull")), ["pull registry.example/big:1"]);
});

worldTest("pullPolicy always fetches once for each container that is made, never fetches nothing", async (world) => {
  world.engine.registry.set(IMAGE, "image");
  world.desire([
    entryOf(1, [containerOf("app", { pullPolicy: "always" })]),
    entryOf(2, [containerOf("app", { image: "localhost/none:1", pullPolicy: "never" })]),
  ]);
  const life = world.begin();
  await world.until("ready", () => life.view("web-1")?.phase === "ready");
  await world.until("failed", () => life.view("web-2")?.phase === "failed");
  assertEquals(life.view("web-2")?.reason, "ImageUnavailable");
  await world.clock.advance(WORKLOAD_RESYNC_MS * 10);
  assertEquals(world.engine.calls.filter((call) => call.startsWith("pull")), [`pull ${IMAGE}`]);
  world.desire([entryOf(1, [containerOf("app", { pullPolicy: "always", env: { A: "1" } })], 2)]);
  await world.until("ready again", () => life.view("web-1")?.generation === 2 && life.view("web-1")?.phase === "ready");
  assertEquals(world.engine.calls.filter((call) => call.startsWith("pull")).length, 2);
});

worldTest("a drain during a pull ends it at once, and changes nothing more", async (world) => {
  world.engine.registry.set("registry.example/big:1", new Promise(() => {}));
  world.desire([entryOf(1, [containerOf("app", { image: "registry.example/big:1" })])]);
  const life = world.begin();
  await world.until("pulling", () => life.view("web-1")?.reason === "Pulling");
  life.end();
  await life.gate.idle();
  await life.ended;
  assertEquals(world.changes(), []);
});

worldTest("a drain lets the change that runs come to its end, and begins no other", async (world) => {
  const release = Promise.withResolvers<void>();
  world.engine.before = (_, what) => what === "create web-1.app" ? release.promise : undefined;
  world.desire([entryOf(1, [APP]), entryOf(2, [APP])]);
  const life = world.begin();
  await world.until("the change", () => world.changes().length === 1);
  life.end();
  let idle = false;
  void life.gate.idle().then(() => idle = true);
  await settle();
  assertEquals(idle, false);
  release.resolve();
  await life.ended;
  assertEquals(idle, true);
  assertEquals(world.changes(), ["create web-1.app"]);
  assertEquals(world.engine.named("web-1.app")?.phase, "created");
});

worldTest("what is removed goes, what is foreign stays", async (world) => {
  world.engine.add({ name: "foreign" });
  world.engine.add({ ...madeFrom(entryOf(7, [APP]), APP), name: "copy" });
  world.desire([entryOf(1, [APP]), entryOf(2, [APP])]);
  const life = world.begin();
  await world.until("ready", () => life.views.length === 2 && life.views.every(({ phase }) => phase === "ready"));
  world.desire([entryOf(2, [APP])]);
  await world.until("gone", () => life.view("web-1") === undefined && life.views.length === 1);
  assertEquals(world.running(), ["copy", "foreign", "web-2.app"]);
  assert(life.shown.includes("web-1 progressing Removing"));
});

worldTest("an agent that starts with a snapshot that proves nothing removes nothing", async (world) => {
  world.desire([entryOf(1, [APP])]);
  world.begin();
  await world.until("ready", () => world.life.view("web-1")?.phase === "ready");
  await world.end();
  const changes = world.changes();
  world.desire([], { whole: false });
  world.begin();
  await world.clock.advance(WORKLOAD_RESYNC_MS * 5);
  assertEquals(world.changes(), changes);
  world.desire([], { whole: true });
  await world.until("gone", () => world.engine.all.length === 0);
});

worldTest("Podman that is away keeps nobody: it is said, and work goes on when it is back", async (world) => {
  world.desire([entryOf(1, [APP])]);
  const life = world.begin();
  await world.until("ready", () => life.view("web-1")?.phase === "ready");
  world.engine.away = true;
  world.desire([entryOf(1, [APP]), entryOf(2, [APP])]);
  await world.until("blocked", () => life.blockers.text() !== undefined);
  assertStringIncludes(life.blockers.text() ?? "", "podman: Cannot list: nobody listens at the socket");
  assertEquals(life.view("web-1")?.phase, "ready");
  world.engine.away = false;
  await world.until("ready", () => life.view("web-2")?.phase === "ready");
  assertEquals(life.blockers.text(), undefined);
});

worldTest("containers are started again after a power cut, in place", async (world) => {
  world.desire([
    entryOf(1, [
      APP,
      containerOf("job", { restartPolicy: "on-failure" }),
      containerOf("once", { restartPolicy: "no" }),
    ]),
  ]);
  world.begin();
  await world.until("ready", () => world.life.view("web-1")?.phase === "ready");
  const ids = world.engine.all.map(({ id }) => id);
  await world.end();
  world.engine.powerCut();
  const life = world.begin();
  await world.until("running", () => world.running().length === 2);
  assertEquals(world.running(), ["web-1.app", "web-1.job"]);
  assertEquals(world.engine.all.map(({ id }) => id), ids);
  // Nobody may start again what is to run once.
  await world.until("failed", () => life.view("web-1")?.reason === "ContainerFailed");
});

worldTest("a job that ends well is completed; one that does not, fails or is started again", async (world) => {
  const jobs = [containerOf("good", { restartPolicy: "on-failure" }), containerOf("done", { restartPolicy: "no" })];
  world.desire([entryOf(1, jobs), entryOf(2, [containerOf("bad", { restartPolicy: "no" })])]);
  const life = world.begin();
  await world.until("running", () => world.running().length === 3);
  const end = (name: string, code: number) => world.engine.exit(world.engine.named(name)?.id ?? "", code);
  end("web-1.good", 0);
  end("web-1.done", 0);
  end("web-2.bad", 3);
  await world.until(
    "completed",
    () => life.view("web-1")?.containers.every(({ state }) => state === "completed") === true,
  );
  assertEquals(life.view("web-1")?.phase, "ready");
  await world.until("failed", () => life.view("web-2")?.phase === "failed");
  assertEquals(life.view("web-2")?.error, "bad: ended with code 3, and is not started again");
  assertEquals(world.changes().filter((call) => call.startsWith("start")).length, 3);
});

worldTest(
  "a container that Podman starts again and again is called so, until it has run for a while",
  async (world) => {
    world.desire([entryOf(1, [APP])]);
    const life = world.begin();
    await world.until("ready", () => life.view("web-1")?.phase === "ready");
    const id = world.engine.all[0]?.id ?? "";
    for (let round = 0; round < 3; round++) {
      world.engine.restart(id);
      await world.clock.advance(WORKLOAD_RESYNC_MS);
    }
    assertEquals(life.view("web-1")?.reason, "ContainerRestarts");
    assertStringIncludes(life.view("web-1")?.error ?? "", "app: was started again 3 times");
    await world.until("well again", () => life.view("web-1")?.phase === "ready");
    assertEquals(world.changes(), ["create web-1.app", "start web-1.app"]);
  },
);

worldTest("a container that ends at each start of the agent's is started with growing pauses", async (world) => {
  world.engine.after = (_, what) => {
    if (what === "start web-1.app") world.engine.exit(world.engine.named("web-1.app")?.id ?? "", 1);
  };
  world.desire([entryOf(1, [APP])]);
  world.begin();
  await world.clock.advance(3_600_000);
  const starts = world.changes().filter((call) => call === "start web-1.app").length;
  assertLess(starts, 10 + 3_600_000 / (WORKLOAD_RETRY_MAX_MS * 0.9));
  assertGreater(starts, 8);
});

worldTest("a deployment that cannot be carried out says so and is left alone", async (world) => {
  world.desire([entryOf(1, [APP])]);
  const life = world.begin();
  await world.until("ready", () => life.view("web-1")?.phase === "ready");
  const changes = world.changes();
  const unknown = { kind: "unusable", reason: "UnknownWorkload", error: "the entry has schema 2" } as const;
  world.desire([{ ...entryOf(1, [APP], 2), workload: unknown }]);
  await world.until("failed", () => life.view("web-1")?.phase === "failed");
  assertEquals(life.view("web-1")?.reason, "UnknownWorkload");
  await world.clock.advance(WORKLOAD_RESYNC_MS * 3);
  assertEquals(world.changes(), changes);
});
