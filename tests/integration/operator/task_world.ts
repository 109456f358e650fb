/**
 * Devices that can upgrade their system, and runs on them, in an {@link OperatorWorld}.
 *
 * @module
 */
import { BUCKETS, runFilter, runKey, splitSystemUpgradeKey } from "../../../contracts/buckets.ts";
import { decodeBytes } from "../../../contracts/codec.ts";
import { type TaskHistoryRecord, taskHistoryRecord } from "../../../contracts/task_plan.ts";
import type { TaskRun, TaskRunSpec, TaskRunStatus } from "../../../contracts/task_run.ts";
import { EmbeddedStore } from "../../../operator/stores/embedded.ts";
import { runSpec } from "../../fakes/task_samples.ts";
import { ScriptedSystem, type SystemScript } from "../../fakes/scripted_system.ts";
import { waitUntil } from "../../nats/wait_until.ts";
import type { OperatorWorld } from "./operator_world.ts";

/** Capabilities of a device that can upgrade its system. */
export const CAPABLE = ["https", "AptFullUpgradeV1"];

/** One intent that was ever written. */
export interface WrittenIntent {
  readonly runId: string;
  readonly deviceId: string;
}

/** Tasks in a world. */
export class TaskWorld {
  readonly world: OperatorWorld;
  readonly systems = new Map<string, ScriptedSystem>();
  /** Every intent that was ever written, in order. */
  readonly written: WrittenIntent[] = [];
  readonly #ending = new AbortController();
  readonly #running: Promise<void>[] = [];

  constructor(world: OperatorWorld) {
    this.world = world;
    this.#running.push(this.#record());
  }

  /** Starts devices in the group `edge`; the first `canaries` of them are canaries. */
  async devices(ids: readonly string[], script: SystemScript = {}, canaries = 0): Promise<void> {
    for (const [index, id] of ids.entries()) {
      this.world.device(id, { capabilities: CAPABLE, heartbeatMs: 500 });
      this.system(id, script);
      const labels: Record<string, string> = index < canaries ? { canary: "true" } : {};
      await this.world.groups(id, ["edge"], labels);
      await this.world.untilDevice(id, ({ capabilities }) => capabilities?.includes("AptFullUpgradeV1") === true);
    }
  }

  /** Starts the system side of a device. */
  system(id: string, script: SystemScript = {}): ScriptedSystem {
    const system = new ScriptedSystem(this.world.bus, id, script);
    this.systems.set(id, system);
    this.#running.push(system.run(this.#ending.signal));
    return system;
  }

  /** Creates a run, as if some time ago: its deadline counts from then. */
  async create(name: string, spec: Partial<TaskRunSpec> = {}, agoMs = 0): Promise<TaskRun> {
    const resources = await this.world.bus.bucket(BUCKETS.resources);
    const store = new EmbeddedStore(resources, { nowMs: () => Date.now() - agoMs });
    const created = await store.create("TaskRun", { name, labels: {}, spec: runSpec(spec) });
    if (!created.ok) throw new Error(`Cannot make run ${name}: ${created.why}`);
    return created.resource;
  }

  /** Waits until a run is as a test wants it. */
  async until(name: string, wanted: Partial<TaskRunStatus>, timeoutMs?: number): Promise<TaskRun> {
    return await this.world.until(
      "TaskRun",
      name,
      ({ status }) =>
        Object.entries(wanted).every(([member, value]) => status?.[member as keyof TaskRunStatus] === value),
      timeoutMs,
    );
  }

  /** Devices that have an intent of a run now. */
  async intents(runId: string): Promise<string[]> {
    const devices: string[] = [];
    const intents = await this.world.bus.bucket(BUCKETS.systemUpgradeIntent);
    await intents.snapshot(runFilter(runId), ({ deleted, key }) => {
      if (!deleted) devices.push(splitSystemUpgradeKey(key)?.deviceId ?? key);
    });
    return devices.sort();
  }

  /** Waits until a run has intents for these devices, and no others. */
  async untilIntents(runId: string, devices: readonly string[]): Promise<void> {
    const wanted = [...devices].sort().join();
    await waitUntil(`intents for ${wanted || "nobody"}`, async () => (await this.intents(runId)).join() === wanted);
  }

  /** Waits for the record of a run. */
  async history(
    runId: string,
    isWanted: (record: TaskHistoryRecord) => boolean = () => true,
  ): Promise<TaskHistoryRecord> {
    const history = await this.world.bus.bucket(BUCKETS.taskHistory);
    return await waitUntil(`the record of ${runId}`, async () => {
      const entry = await history.get(runKey(runId));
      if (entry === null) return null;
      const record = decodeBytes(taskHistoryRecord, entry.value, 200_000);
      return isWanted(record) ? record : null;
    }) as TaskHistoryRecord;
  }

  /** Ends what it started; the world is ended by its test. */
  async close(): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#running);
  }

  async #record(): Promise<void> {
    const intents = await this.world.bus.bucket(BUCKETS.systemUpgradeIntent);
    for await (const event of intents.watch("*.*", this.#ending.signal)) {
      if (event.kind !== "entry" || event.entry.deleted) continue;
      const place = splitSystemUpgradeKey(event.entry.key);
      if (place !== null) this.written.push(place);
    }
  }
}
