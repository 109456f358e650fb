/**
 * What every source of groups does, and what one does beyond it that is read from the broker.
 *
 * @module
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { BUCKET_SPECS, BUCKETS } from "../../contracts/buckets.ts";
import { FleetError } from "../../contracts/errors.ts";
import { DEVICE_GROUPS_MAX_BYTES, GROUPS_MAX } from "../../contracts/limits.ts";
import { createLogger } from "../../lib/log.ts";
import { BucketGroupSource } from "../../operator/groups/bucket_group_source.ts";
import { deviceSpecGroups } from "../../operator/groups/device_spec_groups.ts";
import { waitUntil } from "../nats/wait_until.ts";
import { type BusWorld, bytes } from "./bus_world.ts";
import { documentOf, followed, GroupsWorld } from "./group_source_world.ts";

/**
 * Registers the suite.
 *
 * @param adapter Name of the bus, for the tests' names
 * @param open Makes an empty broker
 */
export function testGroupSources(adapter: string, open: () => Promise<BusWorld>): void {
  const test = (name: string, body: (world: GroupsWorld) => Promise<void>) =>
    Deno.test(`groups, ${adapter}: ${name}`, async () => {
      const bus = await open();
      try {
        await bus.bus.ensureBuckets(BUCKET_SPECS, 10, 1);
        await body(await GroupsWorld.open(bus));
      } finally {
        await bus.close();
      }
    });
  testBothSources(test);
  testWhatIsNotKnown(test);
  testMalformed(test);
  testLoss(test);
}

type RegisterTest = (name: string, body: (world: GroupsWorld) => Promise<void>) => void;

function testBothSources(test: RegisterTest): void {
  for (const kind of ["device-spec", "bucket"] as const) {
    const make = (world: GroupsWorld) =>
      kind === "bucket" ? new BucketGroupSource({ bus: world.bus, log: world.log }) : deviceSpecGroups;

    test(`${kind} tells the groups that a device was given, and those that it is given then`, async (world) => {
      await world.setGroups(kind, "d1", ["edge", "site:b/2"]);
      await followed(make(world), async ({ source }) => {
        assertEquals(await source.groupsOf(await world.device("d1")), ["edge", "site:b/2"]);
        for (const groups of [["lab"], [], Array.from({ length: GROUPS_MAX }, (_, index) => `g${index}`)]) {
          await world.setGroups(kind, "d1", groups);
          const expected = groups.join();
          await waitUntil(
            expected,
            async () => (await source.groupsOf(await world.device("d1"))).join() === expected,
          );
        }
      });
    });

    test(`${kind} gives a device that nobody put into a group none`, async (world) => {
      await followed(make(world), async ({ source }) => {
        assertEquals(await source.groupsOf(await world.device("d1")), []);
      });
    });

    test(`${kind} tells nobody who does not listen any more`, async (world) => {
      await followed(make(world), async ({ source, told }) => {
        await source.groupsOf(await world.device("d1"));
        const other: string[] = [];
        const end = source.onChange((id) => other.push(id));
        end();
        await world.setGroups(kind, "d1", ["edge"]);
        await waitUntil("the change", async () => (await source.groupsOf(await world.device("d1"))).length === 1);
        assertEquals(other, []);
        // A change of the resource is seen as such.
        assertEquals(told, kind === "bucket" ? ["d1"] : []);
      });
    });
  }
}

async function codeOf(source: BucketGroupSource, world: GroupsWorld, id = "d1"): Promise<string> {
  const device = await world.device(id);
  const error = await assertRejects(() => source.groupsOf(device), FleetError);
  return `${error.code} ${error.retry}`;
}

function testWhatIsNotKnown(test: RegisterTest): void {
  test("before the bucket is read there is an error, and the device is told of when it is", async (world) => {
    await world.setGroups("bucket", "d1", ["edge"]);
    const source = new BucketGroupSource({ bus: world.bus, log: world.log, catchUpMs: 0 });
    assertEquals(await codeOf(source, world), "E_GROUPS_NOT_READ transient");
    assertEquals(await codeOf(source, world, "d2"), "E_GROUPS_NOT_READ transient");
    await followed(source, async ({ told }) => {
      await waitUntil("the news", () => told.length === 2);
      assertEquals(told.sort(), ["d1", "d2"]);
      assertEquals(await source.groupsOf(await world.device("d1")), ["edge"]);
      assertEquals(await source.groupsOf(await world.device("d2")), []);
    });
  });

  test("without the bucket there is an error for as long as it is not there", async (world) => {
    await world.deleteBucket(BUCKETS.deviceGroups);
    const source = new BucketGroupSource({ bus: world.bus, log: world.log, catchUpMs: 50 });
    await followed(source, async () => {
      assertEquals(await codeOf(source, world), "E_GROUPS_NOT_READ transient");
      await waitUntil("the log", () => world.lines.some((line) => line.includes("E_BUS_NO_BUCKET")));
      await world.bus.ensureBuckets(BUCKET_SPECS, 10, 1);
      await world.setGroups("bucket", "d1", ["edge"]);
      const device = await world.device("d1");
      await waitUntil("the groups", async () => (await source.groupsOf(device).catch(() => [])).join() === "edge");
    });
  });

  test("an end of the program ends a wait", async (world) => {
    const silent = { bucket: () => new Promise<never>(() => {}), onStatus: () => () => {} };
    const source = new BucketGroupSource({ bus: silent, log: world.log, catchUpMs: 60_000 });
    const ending = new AbortController();
    void source.run(ending.signal);
    const device = await world.device("d1");
    const asked = assertRejects(() => source.groupsOf(device), FleetError);
    ending.abort();
    assertEquals((await asked).code, "E_GROUPS_NOT_READ");
  });
}

const MALFORMED: Readonly<Record<string, string>> = {
  "no JSON": "{",
  "another schema": '{"schema":2,"groups":["edge"]}',
  "no groups": '{"schema":1}',
  "a member that is not known": '{"schema":1,"groups":["edge"],"until":"2027-01-01"}',
  "a group that is none": '{"schema":1,"groups":["edge "]}',
  "too many groups": JSON.stringify({ schema: 1, groups: Array(GROUPS_MAX + 1).fill("edge") }),
};

function testMalformed(test: RegisterTest): void {
  test("a document that cannot be read holds its device alone, and is told once", async (world) => {
    await world.setGroups("bucket", "d2", ["edge"]);
    const log = createLogger({ sink: (line) => world.lines.push(line), format: "json" });
    await followed(new BucketGroupSource({ bus: world.bus, log }), async ({ source, told }) => {
      for (const [what, document] of Object.entries(MALFORMED)) {
        await world.setGroups("bucket", "d1", ["edge"]);
        const device = await world.device("d1");
        await waitUntil("the groups", async () => (await source.groupsOf(device).catch(() => [])).length === 1);
        await world.put("d1", bytes(document));
        const error = await waitUntil(what, () => source.groupsOf(device).then(() => null, (error) => error));
        assert(error instanceof FleetError);
        assertEquals([error.code, error.retry], ["E_GROUPS_MALFORMED", "permanent"], what);
        assertEquals(await source.groupsOf(await world.device("d2")), ["edge"], what);
        const problem = error.message.slice(error.message.indexOf(": ") + 2);
        const lines = () => world.lines.map((line) => JSON.parse(line)).filter((line) => line.problem === problem);
        assertEquals(lines().length, 1, `${what}: ${problem}`);
        await assertRejects(() => source.groupsOf(device), FleetError);
        assertEquals(lines().length, 1, what);
      }
      assert(told.includes("d1"));
      await world.delete("d1");
      const device = await world.device("d1");
      await waitUntil("none", async () => (await source.groupsOf(device).catch(() => ["held"])).length === 0);
    });
  });

  for (const extra of [-1, 0, 1]) {
    const sizeBytes = DEVICE_GROUPS_MAX_BYTES + extra;
    test(`a document of ${sizeBytes} bytes`, async (world) => {
      const source = new BucketGroupSource({ bus: world.bus, log: world.log });
      await followed(source, async () => {
        const written = world.put("d1", documentOf(["edge"], sizeBytes));
        // The memory bus has the document's bound itself, where the server has room for headers.
        const isWritten = await written.then(() => true, () => false);
        const device = await world.device("d1");
        if (!isWritten) return assertEquals(extra, 1);
        await waitUntil("the document", () => source.groupsOf(device).then((groups) => groups.length > 0, () => true));
        if (extra > 0) assertEquals(await codeOf(source, world), "E_GROUPS_MALFORMED permanent");
        else assertEquals(await source.groupsOf(device), ["edge"]);
      });
    });
  }
}

function testLoss(test: RegisterTest): void {
  test("an outage is an error, never what was known before it; then what changed meanwhile is told", async (world) => {
    await world.setGroups("bucket", "d1", ["edge"]);
    await world.setGroups("bucket", "d2", ["edge"]);
    const [d1, d2] = [await world.device("d1"), await world.device("d2")];
    await followed(new BucketGroupSource({ bus: world.bus, log: world.log }), async ({ source, told }) => {
      assertEquals(await source.groupsOf(d1), ["edge"]);
      told.length = 0;
      await world.beginOutage();
      const error = await waitUntil("the error", () => source.groupsOf(d1).then(() => null, (error) => error));
      assertEquals((error as FleetError).code, "E_GROUPS_NOT_READ");
      await world.endOutage();
      // Waits until it is read again, and tells who asked in vain.
      assertEquals(await source.groupsOf(d1), ["edge"]);
      assertEquals(await source.groupsOf(d2), ["edge"]);
      assertEquals(told, ["d1"]);
    });
  });

  test("a bucket that is lost is an error; one that is made anew is what it holds", async (world) => {
    await world.setGroups("bucket", "d1", ["edge"]);
    await world.setGroups("bucket", "d2", ["edge"]);
    const [d1, d2] = [await world.device("d1"), await world.device("d2")];
    const source = new BucketGroupSource({ bus: world.bus, log: world.log, catchUpMs: 1_000 });
    await followed(source, async ({ told }) => {
      assertEquals(await source.groupsOf(d2), ["edge"]);
      told.length = 0;
      await world.deleteBucket(BUCKETS.deviceGroups);
      await waitUntil("the error", () => source.groupsOf(d1).then(() => false, () => true));
      await world.bus.ensureBuckets(BUCKET_SPECS, 10, 1);
      await world.setGroups("bucket", "d1", ["lab"]);
      await waitUntil("the groups", async () => (await source.groupsOf(d1).catch(() => [])).join() === "lab");
      assertEquals(await source.groupsOf(d2), []);
      assert(told.includes("d1") && told.includes("d2"), told.join());
    });
  });
}
