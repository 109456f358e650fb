/**
 * The part of the operator that runs tasks: its view, its watches, and the queue of runs that must be looked at.
 *
 * @module
 */
import { BUCKETS } from "../../contracts/buckets.ts";
import type { WatchEvent } from "../../lib/bus/port.ts";
import type { FollowSource } from "../reconcile/watch_source.ts";
import type { WorkQueue } from "../runtime/work_queue.ts";
import { WriteThrottle } from "../runtime/write_throttle.ts";
import type { ResourceStore, StoreEvent } from "../stores/port.ts";
import { EndedRuns } from "./ended_runs.ts";
import { IntentIndex } from "./intent_index.ts";
import { RunView } from "./run_view.ts";
import type { TaskContext } from "./task_context.ts";
import { TaskRunReconciler } from "./task_run_reconciler.ts";

/** What it works with. */
export interface TasksOptions extends Omit<TaskContext, "runs" | "intents" | "look" | "store"> {
  readonly store: ResourceStore;
  /** Pause between two status writes of one run, in ms. */
  readonly statusWriteIntervalMs: number;
  /** Makes a queue with the operator's bounds. */
  readonly queue: (what: string, handle: (key: string) => Promise<number | null>) => WorkQueue;
}

/** Names of what it reads, in this order: an intent's run is known before it. */
export const TASK_SOURCES = ["TaskRun", BUCKETS.systemUpgradeIntent] as const;

/** Runs tasks. */
export class Tasks {
  readonly #options: TasksOptions;
  readonly #runs = new RunView();
  readonly #intents: IntentIndex;
  readonly #reconciler: TaskRunReconciler;
  readonly #endedRuns: EndedRuns;
  readonly #queue: WorkQueue;
  readonly #ending = new AbortController();

  constructor(options: TasksOptions) {
    this.#options = options;
    const { clock, fleet, log, statusWriteIntervalMs } = options;
    this.#intents = new IntentIndex({
      onIntent: (runId, deviceId) => {
        this.#endedRuns.takeIntent(runId, deviceId);
        this.#queue.addAfter(runId, this.#reconciler.takeIntent(runId, deviceId));
      },
      share: (deviceId) => fleet.device(deviceId)?.id ?? deviceId,
      log,
    });
    const context: TaskContext = {
      ...options,
      runs: this.#runs,
      intents: this.#intents,
      look: (runId) => this.#queue.add(runId),
    };
    const throttle = new WriteThrottle(statusWriteIntervalMs, clock);
    const recordThrottle = new WriteThrottle(statusWriteIntervalMs, clock);
    this.#endedRuns = new EndedRuns(context, recordThrottle, this.#ending.signal);
    this.#reconciler = new TaskRunReconciler(context, throttle, this.#endedRuns, this.#ending.signal);
    this.#queue = options.queue("run", (runId) => this.#reconciler.reconcile(runId));
  }

  /** Figures for logs and measurements. */
  get figures(): Readonly<Record<"waiting" | "failing", number>> {
    return { waiting: this.#queue.size, failing: this.#queue.failing };
  }

  /**
   * Follows what it reads.
   *
   * @param follow Follows one source; each waits for its turn in the order of {@link TASK_SOURCES}
   */
  watches(follow: FollowSource): Promise<void>[] {
    const { bucket, store } = this.#options;
    return [
      follow<StoreEvent<"TaskRun">>({
        name: "TaskRun",
        open: (signal) => store.watch("TaskRun", signal),
        onReopen: () => {},
        onEvent: (event) => {
          for (const runId of this.#runs.takeEvent(event)) this.#queue.add(runId);
        },
      }),
      follow<WatchEvent>({
        name: BUCKETS.systemUpgradeIntent,
        open: async (signal) => (await bucket(BUCKETS.systemUpgradeIntent)).watch("*.*", signal),
        onReopen: () => this.#intents.restart(),
        onEvent: (event) => this.#intents.takeEvent(event),
      }),
    ];
  }

  /** Starts no more work until {@link resume}. */
  pause(): void {
    this.#queue.pause();
  }

  /** Ends a {@link pause}, and looks at everything anew: nobody knows what happened meanwhile. */
  resume(): void {
    this.#queue.resume();
    for (const runId of this.#runs.runIds) this.#queue.add(runId);
    for (const runId of this.#intents.runIds) this.#queue.add(runId);
  }

  /** Works until the signal aborts, and then ends what it has begun. */
  async run(signal: AbortSignal): Promise<void> {
    try {
      await this.#queue.run(signal);
    } finally {
      this.#ending.abort();
      await Promise.all([this.#reconciler.close(), this.#endedRuns.close()]);
    }
  }
}
