/** The real agent as a process, with a real broker and a real Podman. */
import { assert, assertEquals } from "@std/assert";
import { PodmanEngine } from "../../agent/podman/podman_engine.ts";
import type { EngineContainer } from "../../agent/podman/port.ts";
import { DesiredStateWriter } from "../fakes/desired_state_writer.ts";
import { untilReported } from "../fakes/reported_deployments.ts";
import { containerOf, entryDocument } from "../fakes/workload_samples.ts";
import { ProcessFixture } from "../integration/agent/agent_process.ts";
import { waitUntil } from "../nats/wait_until.ts";
import { podmanMissing, PodmanService } from "./podman_service.ts";

const missing = await podmanMissing();
const skipped = missing === undefined ? "" : ` (skipped: ${missing})`;
const LONG = ["/bin/sh", "-c", "trap 'exit 0' TERM; while :; do sleep 0.1; done"];

interface Setting {
  readonly fixture: ProcessFixture;
  readonly podman: PodmanService;
  readonly desired: DesiredStateWriter;
  readonly list: () => Promise<EngineContainer[]>;
}

function podmanTest(name: string, test: (setting: Setting) => Promise<void>): void {
  Deno.test({
    name: `agent process with Podman: ${name}${skipped}`,
    ignore: missing !== undefined,
    fn: () =>
      ProcessFixture.use(async (fixture) => {
        const podman = await PodmanService.start();
        try {
          await fixture.configure({
            podman: { enabled: true, socket: podman.socket },
            bounds: { workloadResyncMs: 1_000, workloadRetryMinMs: 200, workloadRetryMaxMs: 1_000 },
          });
          const engine = new PodmanEngine(podman.socket);
          const list = async () => (await engine.list({})).sort((a, b) => a.name < b.name ? -1 : 1);
          await test({ fixture, podman, desired: new DesiredStateWriter(fixture.operator), list });
        } finally {
          await podman.close();
        }
      }),
  });
}

const app = (changes: Parameters<typeof containerOf>[1] = {}) =>
  containerOf("app", { command: LONG, stopTimeoutSeconds: 2, ...changes });
const brief = (containers: readonly EngineContainer[]) =>
  containers.map(({ id, name, startedAtS }) => ({ id, name, startedAtS }));

podmanTest("what it is told runs, changes and goes; restarts and kills of the agent touch nothing", async (setting) => {
  const { desired, fixture, list, podman } = setting;
  await podman.podman("run", "--detach", "--name=foreign", podman.image, ...LONG);
  const registered = podman.registry.add("shop/app", podman.layer);
  await Deno.mkdir(`${podman.directory}/data`);
  const volumes = [
    { type: "bind", source: `${podman.directory}/data`, target: "/data", readOnly: false },
    { type: "named", source: "kept", target: "/kept" },
  ] as const;
  const command = ["/bin/sh", "-c", `echo "$GREETING" > /data/said; ${LONG[2]}`];
  await desired.write([
    entryDocument(1, [app({ image: registered, command, env: { GREETING: "hello" }, volumes: [...volumes] })]),
    entryDocument(2, [app(), { ...app(), name: "side", restartPolicy: "no", command: ["/bin/true"] }]),
  ]);
  let agent = await fixture.startReady();
  await untilReported(fixture.operator, ["web-1 1 ready", "web-2 1 ready"]);
  assertEquals((await list()).map(({ name, phase }) => `${name} ${phase}`), [
    "foreign running",
    "web-1.app running",
    "web-2.app running",
    "web-2.side exited",
  ]);
  await waitUntil(
    "what it says",
    async () => await Deno.readTextFile(`${podman.directory}/data/said`).catch(() => "") === "hello\n",
  );
  const before = brief(await list());
  assertEquals(await agent.stop(), 0);
  agent = await fixture.startReady();
  agent.kill("SIGKILL");
  await agent.end();
  agent = await fixture.startReady();
  await untilReported(fixture.operator, ["web-1 1 ready", "web-2 1 ready"]);
  assertEquals(brief(await list()), before);
  await desired.write([
    entryDocument(1, [app({ image: registered, env: { GREETING: "bye" }, command, volumes: [...volumes] })], 2),
  ]);
  await untilReported(fixture.operator, ["web-1 2 ready"]);
  const after = brief(await list());
  assertEquals(after.map(({ name }) => name), ["foreign", "web-1.app"]);
  assertEquals(after[0], before[0]);
  assert(after[1]?.id !== before[1]?.id);
  await desired.write([]);
  await untilReported(fixture.operator, []);
  assertEquals((await list()).map(({ name }) => name), ["foreign"]);
  // A named volume is data: it stays.
  assertEquals((await podman.podman("volume", "ls", "--quiet")).stdout.trim(), "kept");
  assertEquals(await agent.stop(), 0);
});

podmanTest(
  "an image that cannot be had, a program that is not there, and their neighbour that runs",
  async (setting) => {
    const { desired, fixture, podman } = setting;
    await desired.write([
      entryDocument(1, [app({ image: `${podman.registry.host}/none:1` })]),
      entryDocument(2, [app({ command: ["/bin/none"] })]),
      entryDocument(3, [app()]),
    ]);
    const agent = await fixture.startReady();
    const reported = await untilReported(fixture.operator, [
      "web-1 1 failed ImageUnavailable",
      "web-2 1 failed StartFailed",
      "web-3 1 ready",
    ]);
    const errors = reported.map(({ error = "", name }) => `${name}: ${error}`).sort();
    assert(errors[0]?.includes("Cannot pull"), errors[0]);
    assert(errors[1]?.includes("/bin/none"), errors[1]);
    podman.registry.add("none", podman.layer);
    await desired.write([
      entryDocument(1, [app({ image: `${podman.registry.host}/none:1` })]),
      entryDocument(3, [app()]),
    ]);
    await untilReported(fixture.operator, ["web-1 1 ready", "web-3 1 ready"]);
    assertEquals(await agent.stop(), 0);
  },
);

podmanTest("a drain during a pull ends soon, and the next agent goes on", async ({ desired, fixture, podman }) => {
  const release = Promise.withResolvers<void>();
  podman.registry.hold = release.promise;
  const image = podman.registry.add("big", podman.layer);
  await desired.write([entryDocument(1, [app({ image })])]);
  let agent = await fixture.startReady();
  await untilReported(fixture.operator, ["web-1 1 progressing Pulling"]);
  await waitUntil("the pull", () => podman.registry.requests.some((request) => request.includes("/blobs/")));
  const startedMs = performance.now();
  assertEquals(await agent.stop(), 0);
  assert(performance.now() - startedMs < 10_000);
  release.resolve();
  podman.registry.hold = null;
  agent = await fixture.startReady();
  await untilReported(fixture.operator, ["web-1 1 ready"]);
  assertEquals(await agent.stop(), 0);
});

podmanTest(
  "agents that are killed at any moment of a change leave what the next one brings to its end",
  async (setting) => {
    const { desired, fixture, list } = setting;
    // From the wish to its end takes some 400 ms here: the moments are spread over it.
    const momentsMs = [0, 40, 90, 150, 220, 300, 400, 520];
    await desired.write([entryDocument(1, [app()]), entryDocument(2, [app()])]);
    let agent = await fixture.startReady();
    await untilReported(fixture.operator, ["web-1 1 ready", "web-2 1 ready"]);
    const kept = brief(await list()).find(({ name }) => name === "web-2.app");
    for (const [index, delayMs] of momentsMs.entries()) {
      await desired.write([
        entryDocument(1, [app({ env: { ROUND: `${index}` } })], index + 2),
        entryDocument(2, [app()]),
      ]);
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      agent.kill("SIGKILL");
      await agent.end();
      agent = await fixture.startReady();
      await untilReported(fixture.operator, [`web-1 ${index + 2} ready`, "web-2 1 ready"]);
      const containers = await list();
      assertEquals(containers.map(({ name, phase }) => `${name} ${phase}`), ["web-1.app running", "web-2.app running"]);
      assertEquals(brief(containers)[1], kept);
    }
    assertEquals(await agent.stop(), 0);
  },
);

podmanTest(
  "Podman's service that dies and comes back costs no container",
  async ({ desired, fixture, list, podman }) => {
    await desired.write([entryDocument(1, [app()])]);
    const agent = await fixture.startReady();
    await untilReported(fixture.operator, ["web-1 1 ready"]);
    const before = brief(await list());
    await podman.kill();
    await waitUntil(
      "blocked",
      async () => (await fixture.beat())?.blocked?.startsWith("podman: Cannot list containers") === true,
      30_000,
    );
    await podman.restart();
    await desired.write([entryDocument(1, [app()], 2)]);
    await untilReported(fixture.operator, ["web-1 2 ready"]);
    assertEquals(brief(await list()), before);
    assertEquals(await agent.stop(), 0);
  },
);
