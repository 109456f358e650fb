import { assertEquals } from "@std/assert";
import type { Device } from "../../contracts/device_resource.ts";
import { DESIRED_ENTRIES_MAX } from "../../contracts/limits.ts";
import { API_VERSION } from "../../contracts/resource.ts";
import { createLogger } from "../../lib/log.ts";
import { deployment } from "../../tests/fakes/operator_samples.ts";
import { DeploymentFeeds } from "./deployment_feeds.ts";
import { DeploymentView } from "./deployment_view.ts";
import { FleetView } from "./fleet_view.ts";
import { Interner } from "./interner.ts";

const UID = "5d0c2b0e-6c2e-4a39-8f51-0d3a4b6f7a21";
const OTHER_UID = "5d0c2b0e-6c2e-4a39-8f51-0d3a4b6f7a22";

/** Feeds whose requests are listed. */
class World {
  readonly fleet = new FleetView();
  readonly view = new DeploymentView();
  readonly lines: string[] = [];
  readonly feeds: DeploymentFeeds;
  #asked: string[] = [];
  #revision = 0;

  constructor() {
    const ask = (what: string) => (name: string) => void this.#asked.push(`${what} ${name}`);
    this.feeds = new DeploymentFeeds({
      view: this.view,
      fleet: this.fleet,
      interner: new Interner(),
      look: {
        device: ask("device"),
        deviceLater: ask("deviceLater"),
        deployment: ask("deployment"),
        deploymentLater: ask("deploymentLater"),
        placed: ask("placed"),
      },
      onDeployment: () => {},
      log: createLogger({ sink: (line) => this.lines.push(line), format: "json" }),
    });
  }

  /** What was asked for since the last call. */
  asked(): string[] {
    const asked = this.#asked;
    this.#asked = [];
    return asked;
  }

  device(name: string, groups: string[]): void {
    const { metadata } = deployment({ name });
    const device: Device = { apiVersion: API_VERSION, kind: "Device", metadata, spec: { groups } };
    this.fleet.putDevice(device);
    this.fleet.putGroups(name, groups);
  }

  put(changes: { generation?: number; resourceVersion?: string; uid?: string } = {}): void {
    const resource = deployment({ name: "web" });
    this.feeds.takeDeployment({
      kind: "put",
      resource: { ...resource, metadata: { ...resource.metadata, ...changes } },
    });
  }

  desired(key: string, document: unknown, revision = ++this.#revision): void {
    const value = new TextEncoder().encode(document === null ? "" : JSON.stringify(document));
    const entry = { key, value, revision, receivedAtMs: revision, deleted: document === null };
    this.feeds.takeDesired({ kind: "entry", entry });
  }

  report(id: string, uid: string, changes: Record<string, unknown> | null = {}, revision = ++this.#revision): void {
    const at = "2026-06-01T00:00:00.000Z";
    const document = {
      schema: 1,
      deviceId: id,
      deploymentId: uid,
      generation: 1,
      phase: "ready",
      containers: [],
      since: at,
      updatedAt: at,
      ...changes,
    };
    const value = new TextEncoder().encode(changes === null ? "" : JSON.stringify(document));
    const entry = { key: `${id}.${uid}`, value, revision, receivedAtMs: revision, deleted: changes === null };
    this.feeds.takeReport({ kind: "entry", entry });
  }

  entry(id: string, uid = UID, generation = 1): void {
    this.desired(`${id}.${uid}`, { schema: 1, deploymentId: uid, name: "web", generation });
  }
}

Deno.test("a deployment looks at the devices in its groups and at those that have it, and is placed after them", () => {
  const world = new World();
  for (const [id, group] of [["d1", "edge"], ["d2", "core"], ["d3", "core"]] as const) world.device(id, [group]);
  world.entry("d3");
  assertEquals(world.asked(), ["deviceLater d3"]);
  world.put();
  assertEquals(world.asked(), ["deployment web", "device d1", "device d3", "placed web"]);
  assertEquals([...world.view.placing], ["web"]);
  world.put();
  assertEquals(world.asked(), []);
  world.put({ resourceVersion: "2" });
  assertEquals(world.asked(), ["deploymentLater web"]);
});

Deno.test("a deletion that was seen looks at the holders, one that was not leaves them alone", () => {
  const world = new World();
  world.put();
  world.entry("d1");
  world.asked();
  world.feeds.takeDeployment({ kind: "delete", name: "web", vanished: true });
  assertEquals([world.asked(), world.view.isDeleted("web"), world.view.named("web")], [[], false, undefined]);
  world.put();
  world.asked();
  world.feeds.takeDeployment({ kind: "malformed", name: "web", problem: "spec: is missing" });
  assertEquals([world.asked(), world.view.isDeleted("web")], [[], false]);
  world.put();
  world.asked();
  world.feeds.takeDeployment({ kind: "delete", name: "web" });
  assertEquals([world.asked(), world.view.isDeleted("web")], [["device d1"], true]);
  // Deleted while nobody watched: its marker comes at the next start, before anything is known of it.
  const next = new World();
  next.entry("d1");
  next.feeds.takeDeployment({ kind: "delete", name: "web" });
  assertEquals(next.asked(), ["deviceLater d1", "device d1"]);
  next.put();
  assertEquals(next.view.isDeleted("web"), false);
});

Deno.test("a watch of the deployments that begins again drops what does not come, without taking it for deleted", () => {
  const world = new World();
  world.put();
  world.entry("d1");
  world.asked();
  world.feeds.restartDeployments();
  world.feeds.takeDeployment({ kind: "current" });
  assertEquals([world.view.named("web"), world.view.isDeleted("web"), world.asked()], [undefined, false, []]);
  world.put();
  world.feeds.restartDeployments();
  world.put();
  world.feeds.takeDeployment({ kind: "current" });
  assertEquals(world.view.named("web")?.uid, UID);
});

Deno.test("what was written by this operator comes back by the watch and is no news", () => {
  const world = new World();
  world.put();
  world.asked();
  world.view.putEntry("d1", UID, { revision: 5, name: "web", digest: "x", generation: 1 });
  world.desired(`d1.${UID}`, { schema: 1, deploymentId: UID, name: "web", generation: 1 }, 5);
  assertEquals(world.asked(), []);
  world.desired(`d1.${UID}`, null, 6);
  assertEquals(world.asked(), ["deployment web", "deviceLater d1"]);
  world.desired(`d1.${UID}`, null, 6);
  assertEquals(world.asked(), []);
});

Deno.test("a bucket that comes back without documents makes every device be looked at", () => {
  const world = new World();
  world.put();
  for (const id of ["d1", "d2"]) {
    world.entry(id);
    world.desired(`${id}._generation`, { schema: 1, generation: 9, entries: 1, updatedAt: "2026-06-01T00:00:00.000Z" });
    world.report(id, UID);
  }
  assertEquals(world.view.counts.countsOf(UID, 1), { targets: 2, ready: 2, failed: 0, pending: 0 });
  world.asked();
  world.feeds.takeDesired({ kind: "restarted" });
  world.entry("d2");
  world.asked();
  world.feeds.takeDesired({ kind: "current" });
  assertEquals(world.asked().filter((line) => line.startsWith("device ")), ["device d1", "device d1", "device d2"]);
  assertEquals([world.view.held("d1").entries.size, world.view.held("d1").generation], [0, null]);
  assertEquals([world.view.held("d2").entries.size, world.view.held("d2").generation], [1, null]);
  world.feeds.takeReport({ kind: "restarted" });
  world.report("d2", UID, {}, 99);
  world.feeds.takeReport({ kind: "current" });
  assertEquals([world.view.reports("d1").size, world.view.reports("d2").size], [0, 1]);
});

Deno.test("reports move the figures once, and those of nobody's deployment move none", () => {
  const world = new World();
  world.put();
  world.entry("d1");
  world.asked();
  world.report("d1", UID);
  // Without a generation, what it reports of decides whether it gets one.
  assertEquals(world.asked(), ["deployment web", "deviceLater d1"]);
  world.view.putGeneration("d1", { revision: 1, value: { generation: 1, entries: 1 } });
  world.report("d1", UID);
  world.report("d1", OTHER_UID);
  assertEquals(world.asked(), []);
  world.report("d1", UID, { phase: "failed", error: "app: no" });
  assertEquals(world.asked(), ["deployment web"]);
  world.report("d1", UID, null);
  assertEquals([world.asked(), world.view.counts.countsOf(UID, 1)], [
    ["deployment web"],
    { targets: 1, ready: 0, failed: 0, pending: 1 },
  ]);
});

for (const count of [DESIRED_ENTRIES_MAX - 1, DESIRED_ENTRIES_MAX, DESIRED_ENTRIES_MAX + 1]) {
  Deno.test(`of ${count} reports without an entry a device may fill the memory with ${DESIRED_ENTRIES_MAX}`, () => {
    const world = new World();
    const uid = (index: number) => `5d0c2b0e-6c2e-4a39-8f51-${String(index).padStart(12, "0")}`;
    for (let index = 0; index < count; index++) world.report("d1", uid(index));
    assertEquals(world.view.reports("d1").size, Math.min(count, DESIRED_ENTRIES_MAX));
    assertEquals(world.feeds.malformed, Math.max(0, count - DESIRED_ENTRIES_MAX));
    // One that the device was told of is taken all the same.
    world.entry("d1");
    world.report("d1", UID);
    assertEquals(world.view.reports("d1").has(UID), true);
  });
}

Deno.test("keys that nobody should have written are told, and those of a device count", () => {
  const world = new World();
  world.desired("Not A Device.x", {});
  world.desired("d1", {});
  world.report("d1", "no-uuid");
  assertEquals([world.feeds.malformed, [...world.view.deviceIds]], [3, []]);
  world.desired("d1.notes", { by: "hand" });
  assertEquals([...world.view.held("d1").entries.keys()], ["notes"]);
  assertEquals(world.feeds.malformed, 4);
});
