/**
 * What every resource store does, tried on each adapter.
 *
 * @module
 */
import { assert, assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import { FleetError } from "../../contracts/errors.ts";
import { DEVICE_ID_MAX_CHARS, GROUPS_MAX, LABELS_MAX } from "../../contracts/limits.ts";
import type { ResourceStore, StoreWrite } from "../../operator/stores/port.ts";
import type { ResourceKind } from "../../contracts/resource.ts";
import { sampleDeviceStatus, sampleReleaseStatus } from "../fakes/memory_fleet.ts";
import { deployment, release } from "../fakes/operator_samples.ts";
import { testImmutableSpec } from "./immutable_spec.ts";
import { EventTaker, type StoreWorld } from "./resource_store_world.ts";

const SPEC = release({ name: "stable" }).spec;
const WORKLOAD = deployment({ name: "web" }).spec;

/**
 * Registers the suite.
 *
 * @param adapter Name of the adapter, for the tests' names
 * @param open Makes an empty store
 */
export function testResourceStore(adapter: string, open: () => Promise<StoreWorld>): void {
  const test: RegisterTest = (name, body) => {
    Deno.test(`${adapter}: ${name}`, async () => {
      const world = await open();
      try {
        await body(world.store, world);
      } finally {
        await world.close();
      }
    });
  };
  testWrites(test);
  testCompareAndSet(test);
  testValidation(test);
  testReads(test);
  testWatch(test);
  testImmutableSpec(test);
}

type RegisterTest = (name: string, body: (store: ResourceStore, world: StoreWorld) => Promise<void>) => void;

/** The resource that a write made. */
function made<K extends ResourceKind>(write: StoreWrite<K>): Extract<StoreWrite<K>, { ok: true }>["resource"] {
  assert(write.ok, write.ok ? "" : write.why);
  return write.resource;
}

async function problemOf(work: () => Promise<unknown>): Promise<[code: string, field: string | undefined]> {
  const { code, field } = await assertRejects(work, FleetError);
  return [code, field];
}

function device(name: string, groups: string[] = [], labels: Record<string, string> = {}) {
  return { name, labels, spec: { groups } };
}

function testWrites(test: RegisterTest): void {
  test("create() stores what was given and makes the rest", async (store) => {
    const created = made(await store.create("AgentRelease", { name: "stable", labels: { team: "edge" }, spec: SPEC }));
    const { uid, resourceVersion, creationTimestamp, ...metadata } = created.metadata;
    assertEquals(metadata, { name: "stable", labels: { team: "edge" }, generation: 1 });
    assert(uid.length === 36 && resourceVersion !== "" && !Number.isNaN(Date.parse(creationTimestamp)));
    assertEquals([created.kind, created.spec, created.status], ["AgentRelease", SPEC, undefined]);
    assertEquals(await store.get("AgentRelease", "stable"), created);
    assertEquals(await store.create("AgentRelease", { name: "stable", labels: {}, spec: SPEC }), {
      ok: false,
      why: "exists",
    });
    assertEquals(await store.get("AgentRelease", "stable"), created);
  });

  test("a name is free again after delete(), with another uid", async (store) => {
    const first = made(await store.create("Device", device("d1")));
    assertEquals(await store.delete("Device", "d1"), { ok: true });
    assertEquals(await store.get("Device", "d1"), null);
    assertEquals(await store.delete("Device", "d1"), { ok: false, why: "not-found" });
    const second = made(await store.create("Device", device("d1")));
    assertNotEquals(second.metadata.uid, first.metadata.uid);
    assertNotEquals(second.metadata.resourceVersion, first.metadata.resourceVersion);
    assertEquals(second.metadata.generation, 1);
  });

  test("kinds do not see one another, whatever the names", async (store) => {
    made(await store.create("Device", device("same")));
    made(await store.create("AgentRelease", { name: "same", labels: {}, spec: SPEC }));
    made(await store.create("AgentRelease", { name: "same.with.dots", labels: {}, spec: SPEC }));
    assertEquals((await store.list("Device")).map(({ metadata }) => metadata.name), ["same"]);
    assertEquals((await store.list("AgentRelease")).map(({ metadata }) => metadata.name), ["same", "same.with.dots"]);
    made(await store.create("FleetDeployment", { name: "same", labels: {}, spec: WORKLOAD }));
    assertEquals((await store.list("FleetDeployment")).map(({ spec }) => spec), [WORKLOAD]);
    assertEquals(await store.delete("Device", "same"), { ok: true });
    assertEquals((await store.list("AgentRelease")).length, 2);
    assertEquals((await store.list("FleetDeployment")).length, 1);
  });

  test("replace() raises the generation with the spec only, and keeps the status", async (store) => {
    const created = made(await store.create("Device", device("d1")));
    const status = sampleDeviceStatus();
    const reported = made(await store.replaceStatus("Device", "d1", status, created.metadata.resourceVersion));
    const labelled = made(
      await store.replace("Device", device("d1", [], { site: "x" }), reported.metadata.resourceVersion),
    );
    assertEquals([labelled.metadata.generation, labelled.status], [1, status]);
    const grouped = made(
      await store.replace("Device", device("d1", ["edge"], { site: "x" }), labelled.metadata.resourceVersion),
    );
    assertEquals([grouped.metadata.generation, grouped.status, grouped.spec], [2, status, { groups: ["edge"] }]);
    assertEquals(grouped.metadata.uid, created.metadata.uid);
    assertEquals(grouped.metadata.creationTimestamp, created.metadata.creationTimestamp);
    assertEquals(await store.get("Device", "d1"), grouped);
  });

  test("a replace() that changes nothing changes no version", async (store) => {
    const created = made(await store.create("Device", device("d1", ["edge"], { site: "x" })));
    const same = device("d1", ["edge"], { site: "x" });
    const again = made(await store.replace("Device", same, created.metadata.resourceVersion));
    assertEquals(again.metadata.resourceVersion, created.metadata.resourceVersion);
  });

  test("replaceStatus() leaves spec, labels and generation as they are", async (store) => {
    const created = made(await store.create("AgentRelease", { name: "stable", labels: { a: "b" }, spec: SPEC }));
    const status = sampleReleaseStatus({ targets: 3 });
    const { resourceVersion } = created.metadata;
    const reported = made(await store.replaceStatus("AgentRelease", "stable", status, resourceVersion));
    assertEquals({ ...reported, metadata: { ...reported.metadata, resourceVersion } }, { ...created, status });
    assertNotEquals(reported.metadata.resourceVersion, resourceVersion);
  });
}

function testCompareAndSet(test: RegisterTest): void {
  test("only the newest version may be written over or deleted", async (store) => {
    const created = made(await store.create("Device", device("d1")));
    const old = created.metadata.resourceVersion;
    const newest = made(await store.replace("Device", device("d1", ["edge"]), old));
    const conflict = { ok: false, why: "conflict" } as const;
    assertEquals(await store.replace("Device", device("d1", ["core"]), old), conflict);
    assertEquals(await store.replaceStatus("Device", "d1", sampleDeviceStatus(), old), conflict);
    assertEquals(await store.delete("Device", "d1", old), conflict);
    assertEquals(await store.replace("Device", device("d1", ["core"]), "no version"), conflict);
    assertEquals(await store.get("Device", "d1"), newest);
    assertEquals(await store.delete("Device", "d1", newest.metadata.resourceVersion), { ok: true });
  });

  test("what is not there is not found", async (store) => {
    const missing = { ok: false, why: "not-found" } as const;
    assertEquals(await store.replace("Device", device("d1"), "1"), missing);
    assertEquals(await store.replaceStatus("Device", "d1", sampleDeviceStatus(), "1"), missing);
    assertEquals(await store.delete("Device", "d1", "1"), missing);
    assertEquals(await store.get("Device", "d1"), null);
  });

  test("of many writers at once exactly one wins each version", async (store) => {
    const groups = Array.from({ length: 16 }, (_, index) => `g${index}`);
    const creations = await Promise.all(groups.map((group) => store.create("Device", device("d1", [group]))));
    const [winner, ...others] = creations.filter((write) => write.ok);
    assert(winner?.ok && others.length === 0);
    const { resourceVersion } = winner.resource.metadata;
    const other = groups.filter((group) => group !== winner.resource.spec.groups[0]);
    const writes = await Promise.all(
      other.map((group) => store.replace("Device", device("d1", [group]), resourceVersion)),
    );
    const won = writes.filter((write) => write.ok);
    assertEquals(won.length, 1);
    assertEquals(won[0]?.ok === true ? won[0].resource : null, await store.get("Device", "d1"));
  });
}

function testValidation(test: RegisterTest): void {
  test("a device is named by its id, and its label says so whatever was given", async (store) => {
    const created = made(await store.create("Device", device("d1", [], { "device-id": "other", site: "x" })));
    assertEquals(created.metadata.labels, { "device-id": "d1", site: "x" });
    const { resourceVersion } = created.metadata;
    const replaced = made(await store.replace("Device", device("d1", ["g"], {}), resourceVersion));
    assertEquals(replaced.metadata.labels, { "device-id": "d1" });
    const longest = "d".repeat(DEVICE_ID_MAX_CHARS);
    made(await store.create("Device", device(longest)));
    for (const name of [`${longest}d`, "with.dot", "Upper", "", "-a", "a-", "a b", ">", "*", "a/b"]) {
      assertEquals(await problemOf(() => store.create("Device", device(name))), ["E_DECODE", "metadata.name"], name);
      assertEquals(await problemOf(() => store.get("Device", name)), ["E_DECODE", "metadata.name"], name);
    }
  });

  test("a release's name is a resource name", async (store) => {
    for (const name of ["a..b", ".a", "a.", ">", "A", "a b"]) {
      const work = () => store.create("AgentRelease", { name, labels: {}, spec: SPEC });
      assertEquals(await problemOf(work), ["E_DECODE", "metadata.name"], name);
    }
  });

  test("bad spec, labels and status are refused with their field, and nothing is written", async (store) => {
    const created = made(await store.create("Device", device("d1")));
    const { resourceVersion } = created.metadata;
    const tooMany = Array.from({ length: GROUPS_MAX + 1 }, (_, index) => `g${index}`);
    const bad = { ...sampleDeviceStatus(), quarantined: "no" } as never;
    const cases: [() => Promise<unknown>, string][] = [
      [() => store.create("Device", device("d2", ["no group "])), "spec.groups[0]"],
      [() => store.replace("Device", device("d1", tooMany), resourceVersion), "spec.groups"],
      [() => store.create("Device", device("d2", [], { site: "no value!" })), "metadata.labels.site"],
      [() => store.replaceStatus("Device", "d1", bad, resourceVersion), "status.quarantined"],
      [
        () => store.create("AgentRelease", { name: "r", labels: {}, spec: { ...SPEC, version: "1.0" } }),
        "spec.version",
      ],
    ];
    for (const [work, field] of cases) assertEquals(await problemOf(work), ["E_DECODE", field]);
    assertEquals(await store.list("Device"), [created]);
    assertEquals(await store.list("AgentRelease"), []);
  });

  test("a deployment keeps the rules of every kind, and those of its containers", async (store) => {
    const created = made(await store.create("FleetDeployment", { name: "web.eu", labels: { a: "b" }, spec: WORKLOAD }));
    const status = { targets: 2, ready: 1, failed: 1, pending: 0, lastError: "d1: no image" };
    const { resourceVersion, uid } = created.metadata;
    const reported = made(await store.replaceStatus("FleetDeployment", "web.eu", status, resourceVersion));
    const [app] = WORKLOAD.podmanV0.containers;
    assert(app !== undefined);
    const next = { ...WORKLOAD, podmanV0: { containers: [{ ...app, image: "registry.example/app:2" }] } };
    const input = { name: "web.eu", labels: {}, spec: next };
    const replaced = made(await store.replace("FleetDeployment", input, reported.metadata.resourceVersion));
    assertEquals([replaced.metadata.generation, replaced.metadata.uid, replaced.status], [2, uid, status]);
    const bad: [unknown, string][] = [
      [{ ...WORKLOAD, allowedGroups: [] }, "spec.allowedGroups"],
      [{ ...WORKLOAD, podmanV0: { containers: [] } }, "spec.podmanV0.containers"],
      [{ ...WORKLOAD, podmanV0: { containers: [{ ...app, image: "app" }] } }, "spec.podmanV0.containers[0].image"],
      [{ ...WORKLOAD, podmanV0: { containers: [app, app] } }, "spec.podmanV0.containers[1].name"],
    ];
    for (const [spec, field] of bad) {
      const work = () => store.create("FleetDeployment", { name: "other", labels: {}, spec: spec as typeof WORKLOAD });
      assertEquals(await problemOf(work), ["E_DECODE", field]);
    }
    assertEquals((await store.list("FleetDeployment")).map(({ metadata }) => metadata.name), ["web.eu"]);
  });

  for (const extra of [LABELS_MAX - 2, LABELS_MAX - 1, LABELS_MAX]) {
    test(`${extra} labels beside the forced one keep the limit of ${LABELS_MAX}`, async (store) => {
      const labels = Object.fromEntries(Array.from({ length: extra }, (_, index) => [`l${index}`, ""]));
      const work = () => store.create("Device", device("d1", [], labels));
      if (extra < LABELS_MAX) made(await work());
      else assertEquals(await problemOf(work), ["E_DECODE", "metadata.labels"]);
    });
  }

  test("members that the contract does not know are not stored", async (store) => {
    const spec = { groups: ["edge"], shell: "rm -rf /" } as { groups: string[] };
    const created = made(await store.create("Device", { name: "d1", labels: {}, spec }));
    assertEquals(created.spec, { groups: ["edge"] });
    assertEquals((await store.get("Device", "d1"))?.spec, { groups: ["edge"] });
  });
}

function testReads(test: RegisterTest): void {
  test("list() gives everything in order of name", async (store) => {
    assertEquals(await store.list("Device"), []);
    for (const name of ["d2", "d10", "d1"]) made(await store.create("Device", device(name)));
    await store.delete("Device", "d10");
    made(await store.create("Device", device("a-device")));
    assertEquals((await store.list("Device")).map(({ metadata }) => metadata.name), ["a-device", "d1", "d2"]);
  });

  test(
    "a document that cannot be read is an error by name, left out of a list, and can be deleted",
    async (store, world) => {
      if (world.corrupt === undefined) return;
      made(await store.create("Device", device("d1")));
      await world.corrupt("Device", "d2");
      assertEquals((await problemOf(() => store.get("Device", "d2")))[0], "E_STORE_MALFORMED");
      const input = device("d2");
      assertEquals((await problemOf(() => store.replace("Device", input, "1")))[0], "E_STORE_MALFORMED");
      assertEquals((await store.list("Device")).map(({ metadata }) => metadata.name), ["d1"]);
      assertEquals(world.malformed, ["Device d2"]);
      assertEquals(await store.create("Device", input), { ok: false, why: "exists" });
      assertEquals(await store.delete("Device", "d2"), { ok: true });
      made(await store.create("Device", input));
    },
  );
}

function testWatch(test: RegisterTest): void {
  test("a watch tells what is there, then every change, of its own kind only", async (store) => {
    made(await store.create("Device", device("d1")));
    made(await store.create("Device", device("gone")));
    await store.delete("Device", "gone");
    made(await store.create("AgentRelease", { name: "stable", labels: {}, spec: SPEC }));
    const events = new EventTaker(store, "Device");
    const start = await events.takeUntil("current");
    assertEquals(start.filter((event) => event !== "delete gone"), ["put d1 1", "current"]);
    const created = made(await store.create("Device", device("d2")));
    assertEquals(await events.next(), "put d2 1");
    made(await store.replace("Device", device("d2", ["edge"]), created.metadata.resourceVersion));
    assertEquals(await events.next(), "put d2 2");
    await store.delete("Device", "d1");
    assertEquals(await events.next(), "delete d1");
    await events.end();
  });

  test("a watch of an empty store is current at once", async (store) => {
    const events = new EventTaker(store, "AgentRelease");
    assertEquals(await events.next(), "current");
    await events.end();
  });

  test("a watch tells of documents that cannot be read, and goes on", async (store, world) => {
    if (world.corrupt === undefined) return;
    await world.corrupt("Device", "d1");
    const events = new EventTaker(store, "Device");
    assertEquals(await events.takeUntil("current"), ["malformed d1", "current"]);
    made(await store.create("Device", device("d2")));
    assertEquals(await events.next(), "put d2 1");
    await world.corrupt("Device", "d2");
    assertEquals(await events.next(), "malformed d2");
    await store.delete("Device", "d2");
    assertEquals(await events.next(), "delete d2");
    await events.end();
  });
}
