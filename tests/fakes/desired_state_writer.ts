/**
 * Writes a device's desired state as the operator does: entries first, the generation last.
 *
 * @module
 */
import { BUCKETS, desiredEntryKey, desiredStateFilter, generationKey } from "../../contracts/buckets.ts";
import type { Bus } from "../../lib/bus/port.ts";
import { snapshotMap } from "../../lib/bus/snapshot_map.ts";
import { bytesOf, DEVICE_ID } from "./agent_samples.ts";

/** Writes a device's desired state. */
export class DesiredStateWriter {
  readonly #bus: Pick<Bus, "bucket">;
  readonly #deviceId: string;
  #generation = 0;

  constructor(bus: Pick<Bus, "bucket">, deviceId = DEVICE_ID) {
    this.#bus = bus;
    this.#deviceId = deviceId;
  }

  /** Writes a whole desired state. @param entries Documents with a `deploymentId` */
  async write(entries: readonly Readonly<Record<string, unknown>>[]): Promise<void> {
    const bucket = await this.#bus.bucket(BUCKETS.desiredState);
    const wanted = new Set(entries.map(({ deploymentId }) => desiredEntryKey(this.#deviceId, `${deploymentId}`)));
    for (const key of (await snapshotMap(bucket, desiredStateFilter(this.#deviceId))).keys()) {
      if (!wanted.has(key) && key !== generationKey(this.#deviceId)) await bucket.delete(key);
    }
    for (const entry of entries) await this.writeEntry(entry);
    await this.writeGeneration(entries.length);
  }

  /** Writes one entry alone. */
  async writeEntry(entry: Readonly<Record<string, unknown>>): Promise<void> {
    const bucket = await this.#bus.bucket(BUCKETS.desiredState);
    await bucket.put(desiredEntryKey(this.#deviceId, `${entry.deploymentId}`), bytesOf(entry));
  }

  /** Writes the generation alone. */
  async writeGeneration(entries: number): Promise<void> {
    const bucket = await this.#bus.bucket(BUCKETS.desiredState);
    const document = { schema: 1, generation: ++this.#generation, entries, updatedAt: new Date().toISOString() };
    await bucket.put(generationKey(this.#deviceId), bytesOf(document));
  }

  /** Deletes every key: what a bucket looks like that was lost, or emptied by mistake. */
  async empty(): Promise<void> {
    const bucket = await this.#bus.bucket(BUCKETS.desiredState);
    for (const key of (await snapshotMap(bucket, desiredStateFilter(this.#deviceId))).keys()) await bucket.delete(key);
  }
}
