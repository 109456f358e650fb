import { assertEquals } from "@std/assert";
import { BUCKETS } from "../../contracts/buckets.ts";
import type { Device } from "../../contracts/device_resource.ts";
import { silentLogger } from "../../lib/log.ts";
import { sampleDeviceStatus, sampleHeartbeat } from "../../tests/fakes/memory_fleet.ts";
import { release } from "../../tests/fakes/operator_samples.ts";
import type { DeviceBucket } from "./bus_documents.ts";
import { FleetFeeds } from "./fleet_feeds.ts";
import { FleetView } from "./fleet_view.ts";
import { Interner } from "./interner.ts";

/** Feeds whose requests are listed. */
class World {
  readonly view = new FleetView();
  readonly feeds: FleetFeeds;
  /** Devices whose placement was asked for, ever. */
  readonly placements: string[] = [];
  #asked: string[] = [];
  #revision = 0;

  constructor() {
    const ask = (what: string) => (name: string) => void this.#asked.push(`${what} ${name}`);
    const look = {
      device: ask("device"),
      deviceLater: ask("deviceLater"),
      placement: (id: string) => void this.placements.push(id),
      release: ask("release"),
      releaseLater: ask("releaseLater"),
    };
    this.feeds = new FleetFeeds({ view: this.view, interner: new Interner(), look, log: silentLogger });
  }

  /** What was asked for since the last call. */
  asked(): string[] {
    const asked = this.#asked;
    this.#asked = [];
    return asked;
  }

  entry(bucket: DeviceBucket, key: string, document: unknown, changes: { deleted?: boolean; revision?: number } = {}) {
    const { deleted = false, revision = ++this.#revision } = changes;
    const value = new TextEncoder().encode(deleted ? "" : JSON.stringify(document));
    this.feeds.takeDocument(bucket, {
      kind: "entry",
      entry: { key, value, revision, receivedAtMs: revision, deleted },
    });
  }

  device(name: string, changes: Partial<Device> & { groups?: string[]; version?: string } = {}): void {
    const { groups = ["edge"], version = `v${++this.#revision}`, ...rest } = changes;
    const { apiVersion, metadata } = release({ name });
    const labels = { "device-id": name };
    const resource: Device = {
      apiVersion,
      kind: "Device",
      metadata: { ...metadata, labels, resourceVersion: version },
      spec: { groups },
      ...rest,
    };
    this.feeds.takeDevice({ kind: "put", resource });
    this.view.putGroups(name, groups);
  }

  release(name: string, changes: Parameters<typeof release>[0] = { name }, generation = 1): void {
    const made = release({ ...changes, name });
    const metadata = { ...made.metadata, generation, resourceVersion: `v${++this.#revision}` };
    this.feeds.takeRelease({ kind: "put", resource: { ...made, metadata } });
  }
}

Deno.test("a release asks for the devices in its groups, before and after a change, and for no other", () => {
  const world = new World();
  world.device("d1", { groups: ["edge"] });
  world.device("d2", { groups: ["core", "edge"] });
  world.device("d3", { groups: ["core"] });
  world.device("d4", { groups: ["lab"] });
  world.asked();
  world.release("r");
  assertEquals(world.asked().sort(), ["device d1", "device d2", "release r"]);
  world.release("r", { name: "r", allowedGroups: ["core"] }, 2);
  assertEquals(world.asked().sort(), ["device d1", "device d2", "device d3", "release r"]);
  world.feeds.takeRelease({ kind: "delete", name: "r" });
  assertEquals(world.asked().sort(), ["device d2", "device d3"]);
});

Deno.test("one event asks for one look, however many devices there are", () => {
  const world = new World();
  for (let index = 0; index < 1_000; index++) world.device(`d${index}`);
  world.asked();
  world.entry(BUCKETS.deviceInfo, "d7", {});
  world.entry(BUCKETS.upgradeStatus, "d8", {});
  world.device("d9");
  assertEquals(world.asked(), ["device d7", "device d8", "deviceLater d9"]);
});

Deno.test("a status that somebody wrote is answered later, a spec or labels at once, a known version never", () => {
  const world = new World();
  world.device("d1", { version: "a" });
  assertEquals(world.asked(), ["device d1"]);
  world.device("d1", { version: "a" });
  assertEquals(world.asked(), []);
  world.device("d1", { version: "b", status: sampleDeviceStatus() });
  assertEquals(world.asked(), ["deviceLater d1"]);
  const { apiVersion, metadata } = release({ name: "d1" });
  const labels = { "device-id": "d1", site: "x" };
  const resource: Device = {
    apiVersion,
    kind: "Device",
    metadata: { ...metadata, labels, resourceVersion: "c" },
    spec: { groups: ["edge"] },
  };
  world.feeds.takeDevice({ kind: "put", resource });
  assertEquals(world.asked(), ["device d1"]);
  world.feeds.takeDevice({
    kind: "put",
    resource: { ...resource, metadata: { ...resource.metadata, generation: 2, resourceVersion: "d" } },
  });
  assertEquals(world.asked(), ["device d1"]);
  world.release("r");
  world.asked();
  world.release("r");
  assertEquals(world.asked(), ["releaseLater r"]);
});

Deno.test("figures of a release follow the statuses of its devices", () => {
  const world = new World();
  const status = sampleDeviceStatus({ desiredRelease: "r", desiredReason: "UpToDate" });
  world.device("d1", { status });
  assertEquals(world.asked(), ["release r", "device d1"]);
  assertEquals(world.view.counts.countsOf("r").current, 1);
  world.feeds.takeDevice({ kind: "malformed", name: "d1", problem: "not JSON" });
  assertEquals(world.view.counts.countsOf("r").current, 1);
  world.feeds.takeDevice({ kind: "delete", name: "d1" });
  assertEquals(world.view.counts.countsOf("r").targets, 0);
});

Deno.test("a heartbeat asks for a look only when it says something new", () => {
  const world = new World();
  const beat = (changes = {}) => world.entry(BUCKETS.deviceHeartbeat, "d1", sampleHeartbeat("d1", changes));
  beat();
  assertEquals(world.asked(), [], "nothing is known of the device");
  world.device("d1");
  world.asked();
  beat();
  assertEquals(world.asked(), ["device d1"], "it is not online yet");
  world.device("d1", { status: sampleDeviceStatus() });
  world.asked();
  beat({ sequence: 432 });
  assertEquals(world.asked(), []);
  assertEquals(world.view.device("d1")?.documents[BUCKETS.deviceHeartbeat]?.receivedAtMs, 5);
  beat({ blocked: "podman is away" });
  assertEquals(world.asked(), ["device d1"]);
  beat({ blocked: "podman is away" });
  assertEquals(world.asked(), []);
  beat();
  assertEquals(world.asked(), ["device d1"]);
  world.entry(BUCKETS.deviceHeartbeat, "d1", "junk");
  assertEquals(world.asked(), ["device d1"]);
});

Deno.test("an entry that comes again asks for nothing; a bucket that was made anew tells what is gone", () => {
  const world = new World();
  for (const id of ["d1", "d2"]) world.entry(BUCKETS.deviceInfo, id, {}, { revision: id === "d1" ? 1 : 2 });
  world.feeds.takeDocument(BUCKETS.deviceInfo, { kind: "current" });
  world.asked();
  world.feeds.takeDocument(BUCKETS.deviceInfo, { kind: "restarted" });
  world.entry(BUCKETS.deviceInfo, "d1", {}, { revision: 1 });
  assertEquals(world.asked(), []);
  world.feeds.takeDocument(BUCKETS.deviceInfo, { kind: "current" });
  assertEquals(world.asked(), ["device d2"]);
  assertEquals([world.view.device("d2"), world.view.size], [undefined, 1]);
});

Deno.test("a store that was watched anew tells what is gone", () => {
  const world = new World();
  world.device("d1");
  world.device("d2");
  world.release("r");
  world.release("s");
  world.asked();
  world.feeds.restart("Device");
  world.feeds.restart("AgentRelease");
  world.device("d2");
  world.release("s");
  world.asked();
  world.feeds.takeDevice({ kind: "current" });
  world.feeds.takeRelease({ kind: "current" });
  assertEquals([world.view.device("d1"), world.view.release("r")], [undefined, undefined]);
  assertEquals(world.asked(), ["device d1", "device d2"]);
});

Deno.test("an unreadable release asks for its devices, and for those that it held when it is gone", () => {
  const world = new World();
  world.device("d1", { groups: ["edge"] });
  world.device("d2", { groups: ["core"], status: sampleDeviceStatus({ desiredRelease: "r" }) });
  world.release("r");
  world.asked();
  world.feeds.takeRelease({ kind: "malformed", name: "r", problem: "not JSON" });
  assertEquals([world.asked(), [...world.view.unreadableReleases]], [["device d1"], ["r"]]);
  world.feeds.takeRelease({ kind: "delete", name: "r" });
  assertEquals([world.asked(), [...world.view.unreadableReleases]], [["device d2"], []]);
});

Deno.test("keys that are no device ids are counted and lead to nothing", () => {
  const world = new World();
  for (const key of ["a.b", "UPPER", "x".repeat(64)]) world.entry(BUCKETS.deviceInfo, key, {});
  assertEquals([world.asked(), world.view.size, world.feeds.malformed], [[], 0, 3]);
});

Deno.test("what was deleted is forgotten, and takes no memory", () => {
  const world = new World();
  world.device("d1");
  world.entry(BUCKETS.deviceInfo, "d1", {});
  world.feeds.takeDevice({ kind: "delete", name: "d1" });
  assertEquals(world.view.devicesIn(["edge"]).size, 0);
  world.entry(BUCKETS.deviceInfo, "d1", null, { deleted: true });
  assertEquals(world.view.size, 0);
});
