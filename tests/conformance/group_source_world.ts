/**
 * What the conformance suite of group sources runs in.
 *
 * @module
 */
import { BUCKETS, deviceKey } from "../../contracts/buckets.ts";
import type { Device } from "../../contracts/device_resource.ts";
import type { Bus, BusAdmin, KvBucket } from "../../lib/bus/port.ts";
import { createLogger, type Logger } from "../../lib/log.ts";
import type { GroupSource } from "../../operator/groups/port.ts";
import { EmbeddedStore } from "../../operator/stores/embedded.ts";
import { type BusWorld, bytes } from "./bus_world.ts";

/** A document with groups, filled up with blanks to a size. */
export function documentOf(groups: readonly string[], sizeBytes = 0): Uint8Array {
  return bytes(JSON.stringify({ schema: 1, groups }).padEnd(sizeBytes));
}

/** Devices whose groups stand in their resources, or in the bucket. */
export class GroupsWorld {
  /** What was logged. */
  readonly lines: string[] = [];
  readonly log: Logger = createLogger({ sink: (line) => this.lines.push(line), format: "json" });
  readonly #world: BusWorld;
  readonly #store: EmbeddedStore;

  private constructor(world: BusWorld, store: EmbeddedStore) {
    this.#world = world;
    this.#store = store;
  }

  static async open(world: BusWorld): Promise<GroupsWorld> {
    return new GroupsWorld(world, new EmbeddedStore(await world.bus.bucket(BUCKETS.resources)));
  }

  get bus(): Bus & BusAdmin {
    return this.#world.bus;
  }

  deleteBucket: BusWorld["deleteBucket"] = (name) => this.#world.deleteBucket(name);
  beginOutage: BusWorld["beginOutage"] = () => this.#world.beginOutage();
  endOutage: BusWorld["endOutage"] = () => this.#world.endOutage();

  /** The resource of a device, made when there is none. */
  async device(id: string): Promise<Device> {
    const device = await this.#store.get("Device", id);
    if (device !== null) return device;
    const created = await this.#store.create("Device", { name: id, labels: {}, spec: { groups: [] } });
    if (!created.ok) throw new Error(`the device ${id} was not made: ${created.why}`);
    return created.resource;
  }

  /** Puts a device into groups, where a source takes them from. */
  async setGroups(where: "device-spec" | "bucket", id: string, groups: string[]): Promise<void> {
    if (where === "bucket") return await this.put(id, documentOf(groups));
    const { metadata } = await this.device(id);
    await this.#store.replace("Device", { name: id, labels: {}, spec: { groups } }, metadata.resourceVersion);
  }

  async put(id: string, document: Uint8Array): Promise<void> {
    await (await this.#bucket()).put(deviceKey(id), document);
  }

  async delete(id: string): Promise<void> {
    await (await this.#bucket()).delete(deviceKey(id));
  }

  #bucket(): Promise<KvBucket> {
    return this.bus.bucket(BUCKETS.deviceGroups);
  }
}

/** Follows a source while a test runs; `told` are the devices whose change was told. */
export async function followed<S extends GroupSource>(
  source: S,
  body: (use: { source: S; told: string[] }) => Promise<void>,
): Promise<void> {
  const ending = new AbortController();
  const told: string[] = [];
  const unlisten = source.onChange((id) => told.push(id));
  const running = source.run(ending.signal);
  try {
    await body({ source, told });
  } finally {
    unlisten();
    ending.abort();
    await running;
  }
}
