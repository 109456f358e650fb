/**
 * An operator's part for tasks that a test moves step by step: it sees what is there when it is told to look, and works
 * when it is told to work.
 *
 * @module
 */
import { type BucketName, BUCKETS } from "../../contracts/buckets.ts";
import { isFleetError } from "../../contracts/errors.ts";
import { RECONCILE_RETRY_MAX_MS, RECONCILE_RETRY_MIN_MS } from "../../contracts/limits.ts";
import { silentLogger } from "../../lib/log.ts";
import type { GroupSource } from "../../operator/groups/port.ts";
import { FleetView } from "../../operator/reconcile/fleet_view.ts";
import { WriteThrottle } from "../../operator/runtime/write_throttle.ts";
import { EmbeddedStore } from "../../operator/stores/embedded.ts";
import { EndedRuns } from "../../operator/tasks/ended_runs.ts";
import { IntentIndex } from "../../operator/tasks/intent_index.ts";
import { RunView } from "../../operator/tasks/run_view.ts";
import type { TaskContext } from "../../operator/tasks/task_context.ts";
import { TaskRunReconciler } from "../../operator/tasks/task_run_reconciler.ts";
import { StoredTaskWrites } from "../../operator/tasks/task_writes.ts";
import { type FakeClock, settle } from "../fakes/fake_clock.ts";
import type { MemoryBroker, MemoryBus } from "../fakes/memory_bus.ts";

const SETTLE_MS = 1_000;

/** One life of an operator. */
export class ModelOperator {
  readonly bus: MemoryBus;
  readonly #store: EmbeddedStore;
  readonly #fleet = new FleetView();
  readonly #runs = new RunView();
  readonly #intents: IntentIndex;
  readonly #ending = new AbortController();
  readonly #ended: EndedRuns;
  readonly #reconciler: TaskRunReconciler;
  #known = new Map<string, string>();

  private constructor(bus: MemoryBus, store: EmbeddedStore, groups: GroupSource, clock: FakeClock) {
    this.bus = bus;
    this.#store = store;
    const bucket = (name: BucketName) => bus.bucket(name);
    this.#intents = new IntentIndex({
      onIntent: (runId, deviceId) => {
        this.#ended.takeIntent(runId, deviceId);
        this.#reconciler.takeIntent(runId, deviceId);
      },
      share: (id) => id,
      log: silentLogger,
    });
    const context: TaskContext = {
      fleet: this.#fleet,
      runs: this.#runs,
      intents: this.#intents,
      store,
      bucket,
      writes: new StoredTaskWrites(store, bucket),
      groups,
      time: { nowMs: () => clock.nowMs() },
      clock,
      log: silentLogger,
      retry: { minMs: RECONCILE_RETRY_MIN_MS, maxMs: RECONCILE_RETRY_MAX_MS },
      settleMs: SETTLE_MS,
      look: () => {},
    };
    this.#ended = new EndedRuns(context, new WriteThrottle(0, clock), this.#ending.signal);
    this.#reconciler = new TaskRunReconciler(context, new WriteThrottle(0, clock), this.#ended, this.#ending.signal);
  }

  /** A new life. */
  static async start(broker: MemoryBroker, groups: GroupSource, clock: FakeClock): Promise<ModelOperator> {
    const bus = broker.connect({ nowMs: () => clock.nowMs() });
    return new ModelOperator(bus, new EmbeddedStore(await bus.bucket(BUCKETS.resources)), groups, clock);
  }

  /** Looks at devices, runs and intents; without it, it goes on with what it saw last. */
  async look(capabilities: (deviceId: string) => readonly string[]): Promise<void> {
    await this.#lookAtDevices(capabilities);
    const runs = await this.#store.list("TaskRun");
    const names = new Map(runs.map(({ metadata }) => [metadata.name, metadata.uid]));
    for (const name of this.#known.keys()) {
      if (!names.has(name)) this.#runs.takeEvent({ kind: "delete", name });
    }
    for (const run of runs) this.#runs.takeEvent({ kind: "put", resource: run });
    this.#known = names;
    this.#intents.takeEvent({ kind: "restarted" });
    const intents = await this.bus.bucket(BUCKETS.systemUpgradeIntent);
    await intents.snapshot("*.*", (entry) => this.#intents.takeEvent({ kind: "entry", entry }));
    this.#intents.takeEvent({ kind: "current" });
  }

  async #lookAtDevices(capabilities: (deviceId: string) => readonly string[]): Promise<void> {
    const there = new Set<string>();
    for (const device of await this.#store.list("Device")) {
      const id = device.metadata.name;
      there.add(id);
      this.#fleet.putDevice(device);
      this.#fleet.putDocument(BUCKETS.deviceInfo, id, {
        revision: 1,
        receivedAtMs: 0,
        value: {
          agentVersion: "1.0.0",
          arch: "x86_64",
          form: "script",
          os: { name: "Debian", version: "12", kernel: "6.1" },
          updater: { version: "1.0.0", capabilities: [...capabilities(id)] },
          step: "ready",
          receivedAtMs: 0,
        },
      });
    }
    for (const id of [...this.#fleet.deviceIds]) if (!there.has(id)) this.#fleet.dropDevice(id, null);
  }

  /** Reconciles everything that it knows once. Errors are what an operator would try again. */
  async work(): Promise<void> {
    const runIds = new Set([...this.#runs.runIds, ...this.#intents.runIds, ...this.#known.values()]);
    for (const runId of runIds) {
      try {
        await this.#reconciler.reconcile(runId);
      } catch (error) {
        if (!isFleetError(error)) throw error;
      }
      await settle();
    }
  }

  /** Ends this life, wherever it is. */
  async stop(): Promise<void> {
    this.#ending.abort();
    await Promise.all([this.#reconciler.close(), this.#ended.close()]);
    await this.bus.close();
  }
}
