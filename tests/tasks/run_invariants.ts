/**
 * The invariants of `Fleet tasks`, looked at on every write that the broker takes.
 *
 * @module
 */
import { BUCKETS, splitSystemUpgradeKey } from "../../contracts/buckets.ts";
import { decodeBytes } from "../../contracts/codec.ts";
import { RESOURCE_MAX_BYTES } from "../../contracts/limits.ts";
import { systemUpgradeAttempt, systemUpgradeStatus } from "../../contracts/system_upgrade.ts";
import {
  type TaskPlanChunk,
  taskPlanChunk,
  type TaskPlanManifest,
  taskPlanManifest,
} from "../../contracts/task_plan.ts";
import { isTerminalRun, type TaskRun, type TaskRunStatus } from "../../contracts/task_run.ts";
import type { BusEntry } from "../../lib/bus/port.ts";
import { planDocuments } from "../../operator/policy/task_plan_documents.ts";
import { decodeDocument } from "../../operator/stores/resource_document.ts";
import { assert, assertEquals } from "../assert/mod.ts";
import type { MemoryBroker } from "../fakes/memory_bus.ts";

/** Bytes that the status of a run has at most, whatever the fleet. */
const STATUS_BYTES_MAX = 8_192;

/** What is true outside of the operator. */
export interface Truth {
  /** Groups of a device now; null when it is gone. */
  groupsOf(deviceId: string): readonly string[] | null;
  /** Whether operators work at the same time, so that one may write what it decided a moment before another's write. */
  readonly isConcurrent: boolean;
}

/** Watches a broker. */
export class RunInvariants {
  readonly #broker: MemoryBroker;
  readonly #truth: Truth;
  readonly #manifests = new Map<string, string>();
  readonly #ended = new Map<string, TaskRunStatus>();
  /** Every key of an intent that was ever written. */
  readonly #intents = new Set<string>();
  readonly #endings: (() => void)[] = [];
  /** What was broken; a listener must not throw. */
  readonly broken: unknown[] = [];
  intentsWritten = 0;

  constructor(broker: MemoryBroker, truth: Truth) {
    this.#broker = broker;
    this.#truth = truth;
    this.#listen(BUCKETS.resources, (entry) => this.#onRun(entry));
    this.#listen(BUCKETS.taskPlan, (entry) => this.#onPlan(entry));
    this.#listen(BUCKETS.systemUpgradeIntent, (entry) => this.#onIntent(entry));
  }

  /** Ends it. */
  close(): void {
    for (const end of this.#endings) end();
  }

  /** The status with which a run has ended; undefined for one that has not. */
  endOf(runId: string): TaskRunStatus | undefined {
    return this.#ended.get(runId);
  }

  #listen(bucket: Parameters<MemoryBroker["stream"]>[0], onEntry: (entry: BusEntry) => void): void {
    const end = this.#broker.stream(bucket)?.listen({
      onEntry: (entry) => {
        try {
          onEntry(entry);
        } catch (error) {
          this.broken.push(error);
        }
      },
      onEnd: () => {},
    });
    if (end !== undefined) this.#endings.push(end);
  }

  /** A run UID identifies one immutable plan; it is written once. */
  #onPlan({ deleted, key, value }: BusEntry): void {
    if (key.includes(".")) return;
    assert(!deleted && !this.#manifests.has(key), `the manifest of ${key} is written a second time`);
    this.#manifests.set(key, new TextDecoder().decode(value));
  }

  /** A terminal run never advances; a status never grows with the fleet; complete means that all succeeded. */
  #onRun(entry: BusEntry): void {
    if (entry.deleted || !entry.key.startsWith("taskrun.")) return;
    const run = decodeDocument("TaskRun", entry.key, entry.value, entry.revision).resource;
    const { status } = run;
    if (status === undefined) return;
    assert(JSON.stringify(status).length <= STATUS_BYTES_MAX, "a status that has grown");
    assert(entry.value.length < RESOURCE_MAX_BYTES);
    const { uid } = run.metadata;
    const end = this.#ended.get(uid);
    if (end !== undefined) assertEquals(status, end, `run ${uid} has advanced after its end`);
    if (isTerminalRun(status.phase)) this.#ended.set(uid, status);
    assert(status.succeeded + status.failed <= status.released, "more results than releases");
    assert(status.released <= status.targets, "more releases than targets");
    if (status.phase === "Running") assert(this.#manifests.has(uid), "a run without its plan");
    if (status.phase === "Complete") this.#checkComplete(run, status);
  }

  #checkComplete(run: TaskRun, status: TaskRunStatus): void {
    assertEquals([status.succeeded, status.failed], [status.targets, 0]);
    const { canaries, others } = this.plan(run.metadata.uid);
    for (const id of [...canaries, ...others]) {
      assert(this.#hasSucceeded(run.metadata.uid, id), `complete without ${id}`);
    }
  }

  #onIntent(entry: BusEntry): void {
    if (entry.deleted) return;
    this.intentsWritten++;
    const { deviceId, runId } = splitSystemUpgradeKey(entry.key) ?? { deviceId: "", runId: "" };
    assert(!this.#intents.has(entry.key), `a second intent for ${entry.key}`);
    this.#intents.add(entry.key);
    const attempt = decodeBytes(systemUpgradeAttempt, entry.value, 10_000);
    assertEquals([attempt.attemptId, attempt.runId, attempt.deviceId], [runId, runId, deviceId]);
    const run = this.#run(runId);
    const manifest = this.#manifest(runId);
    assertEquals(attempt.expiresAt, manifest.expiresAt);
    assert(entry.receivedAtMs < Date.parse(manifest.expiresAt), "an intent after the deadline");
    const plan = this.plan(runId);
    assert(plan.canaries.includes(deviceId) || plan.others.includes(deviceId), `${deviceId} is no target`);
    // Which operator writes when is only known while one works at a time.
    if (this.#truth.isConcurrent) return;
    assertEquals(run?.status?.phase, "Running", "an intent of a run that does not run");
    const groups = this.#truth.groupsOf(deviceId);
    assert(
      run?.spec.allowedGroups.some((group) => groups?.includes(group) ?? false),
      `${deviceId} is not authorized any more`,
    );
    if (plan.canaries.includes(deviceId)) return;
    for (const canary of plan.canaries) {
      assert(this.#hasSucceeded(runId, canary), `${deviceId} before canary ${canary}`);
    }
  }

  #hasSucceeded(runId: string, deviceId: string): boolean {
    const entry = this.#broker.stream(BUCKETS.systemUpgradeStatus)?.newest(`${deviceId}.${runId}`);
    if (entry === undefined || entry.deleted) return false;
    const status = decodeBytes(systemUpgradeStatus, entry.value, 100_000);
    const inTime = entry.receivedAtMs < Date.parse(this.#manifest(runId).expiresAt);
    return status.phase === "succeeded" && status.firstHeartbeat !== undefined && inTime;
  }

  #run(runId: string): TaskRun | undefined {
    for (const entry of this.#broker.stream(BUCKETS.resources)?.matching("taskrun.>") ?? []) {
      if (entry.deleted) continue;
      const run = decodeDocument("TaskRun", entry.key, entry.value, entry.revision).resource;
      if (run.metadata.uid === runId) return run;
    }
    return undefined;
  }

  #manifest(runId: string): TaskPlanManifest {
    const text = this.#manifests.get(runId);
    assert(text !== undefined, `${runId} has no plan`);
    return taskPlanManifest(JSON.parse(text), "");
  }

  /** The devices of a run, as its plan has them. */
  plan(runId: string): { readonly canaries: readonly string[]; readonly others: readonly string[] } {
    const manifest = this.#manifest(runId);
    const chunks = manifest.chunks.map((_, index): TaskPlanChunk => {
      const entry = this.#broker.stream(BUCKETS.taskPlan)?.newest(`${runId}.${manifest.nonce}.${index}`);
      assert(entry !== undefined, "a manifest before its chunks");
      return decodeBytes(taskPlanChunk, entry.value, 300_000);
    });
    const canaries = chunks.flatMap((chunk) => chunk.canaries);
    const others = chunks.flatMap((chunk) => chunk.others);
    const again = planDocuments({
      runId,
      nonce: manifest.nonce,
      targets: { canaries, others, incapable: manifest.incapable },
      createdAtMs: Date.parse(manifest.createdAt),
      expiresAtMs: Date.parse(manifest.expiresAt),
    });
    assertEquals(again.manifest.chunks, manifest.chunks, "a plan that has changed");
    return { canaries, others };
  }
}
