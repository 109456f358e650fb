import { assert, assertEquals, assertRejects } from "@std/assert";
import { BUCKET_SPECS, bucketMaxBytes, BUCKETS } from "../../contracts/buckets.ts";
import { FleetError } from "../../contracts/errors.ts";
import { bytes, text } from "../conformance/bus_world.ts";
import { startNatsServer } from "./nats_server.ts";
import { openTestBus, type TestBus } from "./test_bus.ts";

async function withBus(body: (bus: TestBus) => Promise<void>): Promise<void> {
  const server = await startNatsServer();
  const bus = await openTestBus(server);
  try {
    await body(bus);
  } finally {
    await bus.close();
    await server.stop();
  }
}

async function configOf(bus: TestBus, bucket: string): Promise<Record<string, unknown>> {
  const { config } = await bus.rawRequest(`$JS.API.STREAM.INFO.KV_${bucket}`, null);
  return config as Record<string, unknown>;
}

Deno.test("ensureBuckets() brings a bucket in line that another client made, and keeps its values", async () => {
  await withBus(async (bus) => {
    // As the tools make one: history, roll-ups, no bound.
    await bus.rawRequest("$JS.API.STREAM.CREATE.KV_device-info", {
      name: "KV_device-info",
      subjects: ["$KV.device-info.>"],
      storage: "file",
      max_msgs_per_subject: 5,
      max_bytes: -1,
      discard: "old",
      allow_rollup_hdrs: true,
      deny_delete: true,
      description: "by hand",
    });
    await bus.core.request({ subject: "$KV.device-info.a", what: "write", data: bytes("1"), isWrite: true });
    await bus.core.request({ subject: "$KV.device-info.a", what: "write", data: bytes("2"), isWrite: true });
    await bus.ensureBuckets(BUCKET_SPECS, 100, 1);
    const config = await configOf(bus, BUCKETS.deviceInfo);
    const spec = BUCKET_SPECS.find(({ name }) => name === BUCKETS.deviceInfo);
    assert(spec !== undefined);
    assertEquals(
      [config.max_msgs_per_subject, config.max_bytes, config.discard, config.allow_direct, config.description],
      [1, bucketMaxBytes(spec, 100), "new", true, "by hand"],
    );
    assertEquals(config.allow_rollup_hdrs ?? false, false);
    const bucket = await bus.bucket(BUCKETS.deviceInfo);
    assertEquals(text(await bucket.get("a")), "2");
    assertEquals(await bucket.snapshot(">", () => {}), { entries: 1, lastRevision: 2 });
  });
});

Deno.test("ensureBuckets() changes nothing at all when one bucket cannot be made right", async () => {
  await withBus(async (bus) => {
    await bus.ensureBuckets(BUCKET_SPECS, 10, 1);
    const before = await configOf(bus, BUCKETS.desiredState);
    const specs = BUCKET_SPECS.map((spec) =>
      spec.name === BUCKETS.resources ? { ...spec, storage: "memory" as const } : spec
    );
    const error = await assertRejects(() => bus.ensureBuckets(specs, 20, 1), FleetError);
    assertEquals([error.code, error.retry], ["E_BUS_BUCKET_CONFLICT", "permanent"]);
    assertEquals(
      error.message,
      'Cannot use bucket fleet-resources: its storage is "file", want "memory", and it cannot change',
    );
    assertEquals(await configOf(bus, BUCKETS.desiredState), before);
  });
});

Deno.test("ensureBuckets() says what the server has no room for, and that one server makes no copies", async () => {
  await withBus(async (bus) => {
    const full = await assertRejects(() => bus.ensureBuckets(BUCKET_SPECS, 100_000_000, 1), FleetError);
    assertEquals(full.code, "E_BUS_FULL");
    const copies = await assertRejects(() => bus.ensureBuckets(BUCKET_SPECS, 10, 3), FleetError);
    assert(copies.message.startsWith("Cannot create bucket"), copies.message);
  });
});

Deno.test("ensureBuckets() on a server without JetStream says so", async () => {
  const server = await startNatsServer({ jetStream: false });
  const bus = await openTestBus(server);
  const error = await assertRejects(() => bus.ensureBuckets(BUCKET_SPECS, 10, 1), FleetError);
  assertEquals(error.code, "E_BUS_NO_BUCKET");
  assert(error.message.includes("no JetStream"), error.message);
  await bus.close();
  await server.stop();
});
