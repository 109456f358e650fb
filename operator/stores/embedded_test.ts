import { assert, assertEquals, assertRejects } from "@std/assert";
import { BUCKET_SPECS, BUCKETS } from "../../contracts/buckets.ts";
import { FleetError } from "../../contracts/errors.ts";
import { RESOURCE_MAX_BYTES } from "../../contracts/limits.ts";
import type { KvBucket } from "../../lib/bus/port.ts";
import { MemoryBroker } from "../../tests/fakes/memory_bus.ts";
import { EventTaker } from "../../tests/conformance/resource_store_world.ts";
import { EmbeddedStore } from "./embedded.ts";
import { encodeDocument, resourceKey } from "./resource_document.ts";

const UID = "3f1d7a52-1f0e-4c77-9f5e-6d6a4f0c9b11";

interface World {
  readonly broker: MemoryBroker;
  readonly bucket: KvBucket;
  readonly store: EmbeddedStore;
}

async function open(): Promise<World> {
  const broker = new MemoryBroker();
  const bus = broker.connect();
  await bus.ensureBuckets(BUCKET_SPECS, 10, 1);
  const bucket = await bus.bucket(BUCKETS.resources);
  return { broker, bucket, store: new EmbeddedStore(bucket, { nowMs: () => 0, newUid: () => UID }) };
}

const DOCUMENT = {
  schema: 1,
  apiVersion: "fleet.nationtech.io/v1alpha1",
  kind: "Device",
  metadata: {
    name: "d1",
    labels: { "device-id": "d1" },
    uid: UID,
    generation: 1,
    creationTimestamp: "1970-01-01T00:00:00.000Z",
  },
  spec: { groups: [] },
};

const encode = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const read = async (bucket: KvBucket, key: string): Promise<Record<string, unknown>> =>
  JSON.parse(new TextDecoder().decode((await bucket.get(key))?.value));

Deno.test("a resource stands under its kind and name, with its schema version and without resourceVersion", async () => {
  const { bucket, store } = await open();
  await store.create("Device", { name: "d1", labels: {}, spec: { groups: [] } });
  assertEquals(await read(bucket, "device.d1"), DOCUMENT);
  assertEquals(resourceKey("AgentRelease", "a.b"), "agentrelease.a.b");
});

Deno.test("resourceVersion is the revision of the key", async () => {
  const { bucket, store } = await open();
  const revision = await bucket.put("device.d1", encode(DOCUMENT));
  assertEquals((await store.get("Device", "d1"))?.metadata.resourceVersion, String(revision));
});

Deno.test("what a newer version stored beside the known members survives a write of the other part", async () => {
  const { bucket, store } = await open();
  const newer = {
    ...DOCUMENT,
    metadata: { ...DOCUMENT.metadata, annotations: { note: "kept" } },
    spec: { groups: ["edge"], future: 1 },
  };
  const revision = await bucket.put("device.d1", encode(newer));
  const status = { liveness: "Online", livenessSince: "2026-06-01T00:00:00.000Z" } as const;
  const full = { ...status, quarantined: false, failedIdentities: [] };
  const written = await store.replaceStatus("Device", "d1", full, String(revision));
  assert(written.ok);
  const { status: stored, ...rest } = await read(bucket, "device.d1");
  assertEquals(rest, newer);
  assertEquals(stored, full);
  assertEquals(written.resource.spec, { groups: ["edge"] });
});

const MALFORMED: readonly [name: string, document: unknown][] = [
  ["a newer schema", { ...DOCUMENT, schema: 2 }],
  ["no schema", { ...DOCUMENT, schema: undefined }],
  ["another API", { ...DOCUMENT, apiVersion: "v1" }],
  ["another kind", { ...DOCUMENT, kind: "AgentRelease" }],
  ["another name", { ...DOCUMENT, metadata: { ...DOCUMENT.metadata, name: "d2", labels: { "device-id": "d2" } } }],
  ["a wrong device-id label", { ...DOCUMENT, metadata: { ...DOCUMENT.metadata, labels: { "device-id": "d2" } } }],
  ["no labels", { ...DOCUMENT, metadata: { ...DOCUMENT.metadata, labels: undefined } }],
  ["a bad uid", { ...DOCUMENT, metadata: { ...DOCUMENT.metadata, uid: "1" } }],
  ["generation 0", { ...DOCUMENT, metadata: { ...DOCUMENT.metadata, generation: 0 } }],
  ["a bad spec", { ...DOCUMENT, spec: { groups: "edge" } }],
  ["no spec", { ...DOCUMENT, spec: undefined }],
  ["a bad status", { ...DOCUMENT, status: { liveness: "Fine" } }],
  ["a list", [DOCUMENT]],
  ["null", null],
];

for (const [name, document] of MALFORMED) {
  Deno.test(`a document with ${name} is not read`, async () => {
    const { bucket, store } = await open();
    await bucket.put("device.d1", encode(document));
    const { code, message } = await assertRejects(() => store.get("Device", "d1"), FleetError);
    assertEquals(code, "E_STORE_MALFORMED");
    assert(message.startsWith("Cannot read device.d1 in the resource store: "), message);
    assertEquals(await store.list("Device"), []);
  });
}

Deno.test("a key that is no name of the kind is malformed, not fatal", async () => {
  const { bucket, store } = await open();
  await bucket.put("device.with.dots", encode(DOCUMENT));
  await bucket.put("device.d1", encode(DOCUMENT));
  assertEquals((await store.list("Device")).length, 1);
  const events = new EventTaker(store, "Device");
  assertEquals(await events.takeUntil("current"), ["malformed with.dots", "put d1 1", "current"]);
  await events.end();
});

for (const excess of [-1, 0, 1]) {
  Deno.test(`a document of ${RESOURCE_MAX_BYTES} bytes ${excess < 0 ? "less 1" : `and ${excess}`}`, async () => {
    const { bucket } = await open();
    const parts = { kind: "Device", metadata: DOCUMENT.metadata, spec: { groups: [], padding: "" } } as const;
    const room = RESOURCE_MAX_BYTES - encodeDocument(parts).byteLength + excess;
    const padded = { ...parts, spec: { groups: [], padding: "x".repeat(room) } };
    if (excess > 0) {
      await assertRejects(() => Promise.resolve().then(() => encodeDocument(padded)), FleetError, "at most");
    } else {
      await bucket.put("device.d1", encodeDocument(padded));
    }
  });
}

Deno.test("a bucket that comes back without a resource tells its deletion", async () => {
  const { broker, store } = await open();
  await store.create("Device", { name: "d1", labels: {}, spec: { groups: [] } });
  await store.create("Device", { name: "d2", labels: {}, spec: { groups: [] } });
  const events = new EventTaker(store, "Device");
  assertEquals(await events.takeUntil("current"), ["put d1 1", "put d2 1", "current"]);
  broker.deleteBucket(BUCKETS.resources);
  await broker.connect().ensureBuckets(BUCKET_SPECS, 10, 1);
  await store.create("Device", { name: "d2", labels: {}, spec: { groups: [] } });
  const rest = await events.takeUntil("current");
  assertEquals(
    rest.filter((event) => event.startsWith("delete")),
    rest.includes("put d2 1") ? ["delete d1"] : ["delete d1", "delete d2"],
  );
  await events.end();
});
