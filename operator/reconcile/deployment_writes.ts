/**
 * Everything that the operator writes for deployments, as a port, so that observe mode can tell it instead of doing it.
 *
 * @module
 */
import {
  type BucketName,
  BUCKETS,
  deploymentStatusKey,
  desiredEntryKey,
  generationKey,
} from "../../contracts/buckets.ts";
import { canonicalJson } from "../../contracts/canonical_json.ts";
import type { DesiredGeneration } from "../../contracts/desired_state.ts";
import type { FleetDeployment, FleetDeploymentStatus } from "../../contracts/fleet_deployment.ts";
import type { KvBucket, WriteResult } from "../../lib/bus/port.ts";
import type { NextGeneration } from "../policy/desired_plan.ts";
import type { ResourceStore, StoreWrite } from "../stores/port.ts";
import type { KnownDeployment } from "./deployment_view.ts";
import { OBSERVED, type Observer } from "./observer.ts";

/** Schema version of the generation that is written. */
const GENERATION_SCHEMA = 1;

/** The writes. Each is a compare-and-set; `observed` means that nothing was written, on purpose. */
export interface DeploymentWrites {
  /** Whether every write is only observed. */
  readonly observing: boolean;
  /** Writes an entry of a device over a revision; null for none. */
  putEntry(id: string, of: KnownDeployment, revision: number | null): Promise<WriteResult | typeof OBSERVED>;
  deleteEntry(id: string, token: string, revision: number): Promise<WriteResult | typeof OBSERVED>;
  /** Writes the generation that counts the entries, over a revision; null for none. */
  putGeneration(id: string, next: NextGeneration, revision: number | null): Promise<WriteResult | typeof OBSERVED>;
  /** Deletes what a device says of a deployment; for devices that are gone. */
  deleteReport(id: string, uid: string, revision: number): Promise<WriteResult | typeof OBSERVED>;
  writeStatus(
    deployment: FleetDeployment,
    status: FleetDeploymentStatus,
  ): Promise<StoreWrite<"FleetDeployment"> | typeof OBSERVED>;
}

/** Writes into the store and the buckets of the devices. */
export class StoredDeploymentWrites implements DeploymentWrites {
  readonly observing = false;
  readonly #store: Pick<ResourceStore, "replaceStatus">;
  readonly #bucket: (name: BucketName) => Promise<KvBucket>;
  readonly #nowMs: () => number;

  /**
   * @param store Resources
   * @param bucket Binds a bucket
   * @param nowMs The present for `updatedAt`, in ms since the epoch. Default the system's
   */
  constructor(
    store: Pick<ResourceStore, "replaceStatus">,
    bucket: (name: BucketName) => Promise<KvBucket>,
    nowMs: () => number = Date.now,
  ) {
    this.#store = store;
    this.#bucket = bucket;
    this.#nowMs = nowMs;
  }

  async putEntry(id: string, { entryBytes, uid }: KnownDeployment, revision: number | null): Promise<WriteResult> {
    return await this.#put(desiredEntryKey(id, uid), entryBytes, revision);
  }

  async deleteEntry(id: string, token: string, revision: number): Promise<WriteResult> {
    return await (await this.#bucket(BUCKETS.desiredState)).delete(desiredEntryKey(id, token), revision);
  }

  async putGeneration(id: string, next: NextGeneration, revision: number | null): Promise<WriteResult> {
    const document: DesiredGeneration = {
      schema: GENERATION_SCHEMA,
      ...next,
      updatedAt: new Date(this.#nowMs()).toISOString(),
    };
    return await this.#put(generationKey(id), new TextEncoder().encode(canonicalJson(document)), revision);
  }

  async deleteReport(id: string, uid: string, revision: number): Promise<WriteResult> {
    return await (await this.#bucket(BUCKETS.deploymentStatus)).delete(deploymentStatusKey(id, uid), revision);
  }

  async writeStatus(
    { metadata }: FleetDeployment,
    status: FleetDeploymentStatus,
  ): Promise<StoreWrite<"FleetDeployment">> {
    return await this.#store.replaceStatus("FleetDeployment", metadata.name, status, metadata.resourceVersion);
  }

  async #put(key: string, value: Uint8Array, revision: number | null): Promise<WriteResult> {
    const bucket = await this.#bucket(BUCKETS.desiredState);
    return revision === null ? await bucket.create(key, value) : await bucket.update(key, value, revision);
  }
}

/** Tells what it would write, once for each thing that it would write. */
export class ObservedDeploymentWrites implements DeploymentWrites {
  readonly observing = true;
  readonly #observer: Observer;

  /** @param observer Takes what would be written */
  constructor(observer: Observer) {
    this.#observer = observer;
  }

  putEntry(id: string, { generation, name, uid }: KnownDeployment): Promise<typeof OBSERVED> {
    return this.#observer.tell("putEntry", desiredEntryKey(id, uid), { deployment: name, generation });
  }

  deleteEntry(id: string, token: string, revision: number): Promise<typeof OBSERVED> {
    return this.#observer.tell("deleteEntry", desiredEntryKey(id, token), { revision });
  }

  putGeneration(id: string, { entries }: NextGeneration): Promise<typeof OBSERVED> {
    return this.#observer.tell("putGeneration", generationKey(id), { entries });
  }

  deleteReport(id: string, uid: string, revision: number): Promise<typeof OBSERVED> {
    return this.#observer.tell("deleteReport", deploymentStatusKey(id, uid), { revision });
  }

  writeStatus({ metadata }: FleetDeployment, status: FleetDeploymentStatus): Promise<typeof OBSERVED> {
    return this.#observer.tell("writeDeploymentStatus", metadata.name, { status });
  }
}
