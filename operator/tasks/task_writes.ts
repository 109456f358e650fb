/**
 * The operator's writes for tasks, as a port: the real ones, and those of observe mode, which tells what it would write.
 *
 * @module
 */
import { type BucketName, BUCKETS, runKey, systemUpgradeKey } from "../../contracts/buckets.ts";
import { canonicalJson } from "../../contracts/canonical_json.ts";
import { PLAN_CHUNKS_AT_ONCE } from "../../contracts/limits.ts";
import {
  APT_FULL_UPGRADE_V1,
  SYSTEM_UPGRADE_SCHEMA,
  type SystemUpgradeAttempt,
} from "../../contracts/system_upgrade.ts";
import type { TaskHistoryRecord, TaskPlanManifest } from "../../contracts/task_plan.ts";
import type { TaskRun, TaskRunStatus } from "../../contracts/task_run.ts";
import type { KvBucket, WriteResult } from "../../lib/bus/port.ts";
import type { PlanDocuments } from "../policy/task_plan_documents.ts";
import { OBSERVED, type Observer } from "../reconcile/observer.ts";
import type { ResourceStore, StoreWrite } from "../stores/port.ts";

/** Writes of tasks. Each may be repeated after a crash or an unknown outcome; `observed` means that nothing was written. */
export interface TaskWrites {
  /** Writes the chunks, and then the manifest if there is none: not `ok` means that another plan is the frozen one. */
  writePlan(documents: PlanDocuments): Promise<WriteResult | typeof OBSERVED>;
  writeRunStatus(run: TaskRun, status: TaskRunStatus): Promise<StoreWrite<"TaskRun"> | typeof OBSERVED>;
  /** Creates a device's intent; not `ok` when there was ever one under its key. */
  createIntent(manifest: TaskPlanManifest, deviceId: string): Promise<WriteResult | typeof OBSERVED>;
  /** Removes the intent of a revision. */
  removeIntent(deviceId: string, runId: string, revision: number): Promise<WriteResult | typeof OBSERVED>;
  /** Writes the record of an ended run over that of a revision; null for none. */
  writeHistory(record: TaskHistoryRecord, revision: number | null): Promise<WriteResult | typeof OBSERVED>;
}

function encode(document: unknown): Uint8Array {
  return new TextEncoder().encode(canonicalJson(document));
}

/**
 * The attempt of a device: the same whoever writes it, so that a repeated one has the same digest.
 *
 * @param manifest The frozen plan
 * @param deviceId The device
 */
export function attemptOf({ createdAt, expiresAt, runId }: TaskPlanManifest, deviceId: string): SystemUpgradeAttempt {
  return {
    schema: SYSTEM_UPGRADE_SCHEMA,
    attemptId: runId,
    runId,
    deviceId,
    operation: APT_FULL_UPGRADE_V1,
    createdAt,
    expiresAt,
  };
}

/** Writes into the store and the buckets of tasks. */
export class StoredTaskWrites implements TaskWrites {
  readonly #store: ResourceStore;
  readonly #bucket: (name: BucketName) => Promise<KvBucket>;

  /**
   * @param store Resources
   * @param bucket Binds a bucket
   */
  constructor(store: ResourceStore, bucket: (name: BucketName) => Promise<KvBucket>) {
    this.#store = store;
    this.#bucket = bucket;
  }

  async writePlan({ chunks, manifest }: PlanDocuments): Promise<WriteResult> {
    const plans = await this.#bucket(BUCKETS.taskPlan);
    for (let from = 0; from < chunks.length; from += PLAN_CHUNKS_AT_ONCE) {
      const some = chunks.slice(from, from + PLAN_CHUNKS_AT_ONCE);
      // Nobody else writes under this nonce, and what is written twice is the same.
      await Promise.all(some.map(({ bytes, key }) => plans.put(key, bytes)));
    }
    // Revision 0, not a create: a key that was ever written is never used again (DESIGN 4).
    return await plans.update(runKey(manifest.runId), encode(manifest), 0);
  }

  async writeRunStatus({ metadata }: TaskRun, status: TaskRunStatus): Promise<StoreWrite<"TaskRun">> {
    return await this.#store.replaceStatus("TaskRun", metadata.name, status, metadata.resourceVersion);
  }

  async createIntent(manifest: TaskPlanManifest, deviceId: string): Promise<WriteResult> {
    const intents = await this.#bucket(BUCKETS.systemUpgradeIntent);
    const key = systemUpgradeKey(deviceId, manifest.runId);
    return await intents.update(key, encode(attemptOf(manifest, deviceId)), 0);
  }

  async removeIntent(deviceId: string, runId: string, revision: number): Promise<WriteResult> {
    return await (await this.#bucket(BUCKETS.systemUpgradeIntent)).delete(systemUpgradeKey(deviceId, runId), revision);
  }

  async writeHistory(record: TaskHistoryRecord, revision: number | null): Promise<WriteResult> {
    const history = await this.#bucket(BUCKETS.taskHistory);
    return await history.update(runKey(record.runId), encode(record), revision ?? 0);
  }
}

/** Tells what it would write, once for each thing that it would write. */
export class ObservedTaskWrites implements TaskWrites {
  readonly #observer: Observer;

  /** @param observer Takes what would be written */
  constructor(observer: Observer) {
    this.#observer = observer;
  }

  writePlan({ manifest: { canaries, expiresAt, incapable, runId, targets } }: PlanDocuments): Promise<typeof OBSERVED> {
    return this.#observer.tell("writePlan", runId, { targets, canaries, incapable, expiresAt });
  }

  writeRunStatus({ metadata }: TaskRun, status: TaskRunStatus): Promise<typeof OBSERVED> {
    const { completedAt: _, ...shown } = status;
    return this.#observer.tell("writeRunStatus", metadata.name, { status: shown });
  }

  createIntent(manifest: TaskPlanManifest, deviceId: string): Promise<typeof OBSERVED> {
    const key = systemUpgradeKey(deviceId, manifest.runId);
    return this.#observer.tell("createIntent", key, { attempt: attemptOf(manifest, deviceId) });
  }

  removeIntent(deviceId: string, runId: string, revision: number): Promise<typeof OBSERVED> {
    return this.#observer.tell("removeIntent", systemUpgradeKey(deviceId, runId), { revision });
  }

  writeHistory(record: TaskHistoryRecord): Promise<typeof OBSERVED> {
    return this.#observer.tell("writeHistory", record.runId, { record });
  }
}
