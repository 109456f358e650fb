import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { BUCKET_SPECS, BUCKETS } from "../../../contracts/buckets.ts";
import { connectBus } from "../../../lib/bus/connect.ts";
import { EmbeddedStore } from "../../../operator/stores/embedded.ts";
import { release } from "../../fakes/operator_samples.ts";
import { ScriptedDevice } from "../../fakes/scripted_device.ts";
import { startNatsServer } from "../../nats/nats_server.ts";
import { waitUntil } from "../../nats/wait_until.ts";
import { OperatorProcess, withConfig } from "./operator_process.ts";

const BOUNDS = { natsReconnectMinMs: 20, natsReconnectMaxMs: 100, statusWriteIntervalMs: 20 };

const configFor = (url: string) => ({ nats: { servers: [url] }, fleetSize: 10, bounds: BOUNDS });
const connect = (url: string) => connectBus({ servers: [url], name: "process-test", auth: { kind: "none" } });

Deno.test("fleet-operator waits for NATS, makes the buckets, works, and ends with 0 on SIGTERM", async () => {
  const server = await startNatsServer();
  await server.kill9();
  try {
    await withConfig(configFor(server.url), async (path) => {
      const operator = new OperatorProcess(["--config", path]);
      await waitUntil("the log", () => operator.stderr.includes("cannot connect to NATS yet"));
      await server.restart();
      await waitUntil("the operator", () => operator.stderr.includes("the fleet is read"));
      const bus = await connect(server.url);
      await new ScriptedDevice(bus, "d1").publishInfo();
      const store = new EmbeddedStore(await bus.bucket(BUCKETS.resources));
      await waitUntil("the device", () => store.get("Device", "d1"));
      await bus.close();
      assertEquals(await operator.end("SIGTERM"), 0);
      assertStringIncludes(operator.stderr, "operator stopped");
      assertEquals(operator.stdout, "");
    });
  } finally {
    await server.stop();
  }
});

Deno.test("fleet-operator ends with 0 on SIGTERM while it waits for NATS", async () => {
  await withConfig(configFor("nats://127.0.0.1:1"), async (path) => {
    const operator = new OperatorProcess(["--config", path]);
    await waitUntil("the log", () => operator.stderr.includes("cannot connect to NATS yet"));
    assertEquals(await operator.end("SIGTERM"), 0);
  });
});

Deno.test("fleet-operator --observe prints what it would write, and writes nothing", async () => {
  const server = await startNatsServer();
  const bus = await connect(server.url);
  try {
    await bus.ensureBuckets(BUCKET_SPECS, 10, 1);
    const store = new EmbeddedStore(await bus.bucket(BUCKETS.resources));
    await store.create("Device", { name: "d1", labels: {}, spec: { groups: ["edge"] } });
    await store.create("AgentRelease", { name: "stable", labels: {}, spec: release({ name: "stable" }).spec });
    await new ScriptedDevice(bus, "d1").publishInfo();
    await new ScriptedDevice(bus, "d2").publishInfo();
    const before = [await store.list("Device"), await store.list("AgentRelease")];
    await withConfig(configFor(server.url), async (path) => {
      const operator = new OperatorProcess(["--config", path, "--observe"]);
      const writes = () =>
        operator.stdout.split("\n").filter((line) => line !== "").map((line) => {
          const { write, name, attempt } = JSON.parse(line);
          return `${write} ${name} ${attempt?.targetVersion ?? ""}`.trim();
        });
      await waitUntil("four writes", () => writes().length >= 4);
      assertEquals(writes().sort(), [
        "createDevice d2",
        "writeAttempt d1 1.1.0",
        "writeDeviceStatus d1",
        "writeReleaseStatus stable",
      ]);
      assertEquals(await operator.end("SIGINT"), 0);
    });
    assertEquals([await store.list("Device"), await store.list("AgentRelease")], before);
    assertEquals(await (await bus.bucket(BUCKETS.upgradeIntent)).get("d1"), null);
  } finally {
    await bus.close();
    await server.stop();
  }
});

Deno.test("fleet-operator names every problem of its configuration and ends with 78", async () => {
  await withConfig({ nats: { servers: [] }, replicas: 2 }, async (path) => {
    const operator = new OperatorProcess(["--config", path]);
    assertEquals(await operator.end(), 78);
    for (const field of ["nats.servers", "replicas"]) assertStringIncludes(operator.stderr, field);
  });
});

Deno.test("fleet-operator does not start on a bucket that cannot be made right", async () => {
  const server = await startNatsServer();
  const bus = await connect(server.url);
  try {
    const wrong = BUCKET_SPECS.map((spec) => ({ ...spec, storage: "memory" as const }));
    await bus.ensureBuckets(wrong, 10, 1);
    await withConfig(configFor(server.url), async (path) => {
      const operator = new OperatorProcess(["--config", path]);
      assert(await operator.end() !== 0);
      assertStringIncludes(operator.stderr, "E_BUS_BUCKET_CONFLICT");
    });
  } finally {
    await bus.close();
    await server.stop();
  }
});

Deno.test("fleet-operator --version and --help", async () => {
  const version = new OperatorProcess(["--version"]);
  assertEquals([await version.end(), version.stdout, version.stderr], [
    0,
    "fleet-operator 0.0.0-unbuilt (source)\n",
    "",
  ]);
  const help = new OperatorProcess(["--help"]);
  assertEquals(await help.end(), 0);
  assertStringIncludes(help.stdout, "--observe");
  const wrong = new OperatorProcess(["--nope"]);
  assertEquals([await wrong.end(), wrong.stdout], [64, ""]);
});
