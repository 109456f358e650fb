/**
 * The operator: watches, queues and reconcilers put together. It keeps no state of its own; whatever it knows it reads
 * again at the next start, and any number of operators may run at once.
 *
 * @module
 */
import type { BucketSpec } from "../contracts/buckets.ts";
import { errorText, isFleetError } from "../contracts/errors.ts";
import {
  ORPHAN_SETTLE_MS,
  RECONCILE_CONCURRENCY,
  RECONCILE_RETRY_MAX_MS,
  RECONCILE_RETRY_MIN_MS,
  RECONCILE_SLICE_MS,
} from "../contracts/limits.ts";
import { BucketBinder } from "./runtime/bucket_binder.ts";
import type { Bus, BusAdmin, WatchEvent } from "../lib/bus/port.ts";
import { type Clock, systemClock } from "../lib/deadline.ts";
import type { Logger } from "../lib/log.ts";
import type { GroupSource } from "./groups/port.ts";
import type { LivenessBounds } from "./policy/liveness.ts";
import { DEVICE_BUCKETS } from "./reconcile/bus_documents.ts";
import type { DeploymentWrites } from "./reconcile/deployment_writes.ts";
import { DEPLOYMENT_SOURCES, Deployments } from "./reconcile/deployments.ts";
import { DeviceReconciler } from "./reconcile/device_reconciler.ts";
import { FleetFeeds } from "./reconcile/fleet_feeds.ts";
import { FleetView } from "./reconcile/fleet_view.ts";
import type { FleetWrites } from "./reconcile/fleet_writes.ts";
import { Interner } from "./reconcile/interner.ts";
import { ReleaseReconciler } from "./reconcile/release_reconciler.ts";
import type { WatchSource } from "./reconcile/watch_source.ts";
import { BrokerTime } from "./runtime/broker_time.ts";
import { ConnectionKeeper } from "./runtime/connection_keeper.ts";
import { runWatchLoop } from "./runtime/watch_loop.ts";
import { WorkQueue } from "./runtime/work_queue.ts";
import { WriteThrottle } from "./runtime/write_throttle.ts";
import type { ResourceStore, StoreEvent } from "./stores/port.ts";
import { TASK_SOURCES, Tasks } from "./tasks/tasks.ts";
import type { TaskWrites } from "./tasks/task_writes.ts";

/** What an operator works with. */
export interface OperatorOptions {
  readonly bus: Bus;
  /** Makes the buckets; absent in observe mode, which changes nothing. */
  readonly admin?: BusAdmin;
  readonly buckets: { readonly specs: readonly BucketSpec[]; readonly fleetSize: number; readonly replicas: number };
  readonly store: ResourceStore;
  readonly writes: FleetWrites;
  readonly deploymentWrites: DeploymentWrites;
  readonly taskWrites: TaskWrites;
  readonly groups: GroupSource;
  readonly bounds: LivenessBounds;
  /** Pause between two status writes of one resource, in ms. */
  readonly statusWriteIntervalMs: number;
  /** Pause before a resource that somebody else has written is answered, in ms. */
  readonly foreignWriteSettleMs: number;
  /** How long what is missing of a run may only not be there yet, in ms. Default {@link ORPHAN_SETTLE_MS}. */
  readonly taskSettleMs?: number;
  /** Default the system's. */
  readonly clock?: Clock;
  readonly log: Logger;
}

/** What the operator reads, in this order at its start: what decides before what is decided about. */
const SOURCES: readonly string[] = [
  "AgentRelease",
  "Device",
  ...DEVICE_BUCKETS,
  ...DEPLOYMENT_SOURCES,
  ...TASK_SOURCES,
];

const RETRY = { minMs: RECONCILE_RETRY_MIN_MS, maxMs: RECONCILE_RETRY_MAX_MS };

/** One operator. */
export class Operator {
  readonly #options: OperatorOptions;
  readonly #clock: Clock;
  readonly #view = new FleetView();
  readonly #time: BrokerTime;
  readonly #devices: WorkQueue;
  readonly #releases: WorkQueue;
  readonly #deployments: Deployments;
  readonly #tasks: Tasks;
  readonly #feeds: FleetFeeds;
  readonly #binder: BucketBinder;
  /** Resolved when a source has told everything that is there for the first time. */
  readonly #read = new Map(SOURCES.map((name) => [name, Promise.withResolvers<void>()]));

  constructor(options: OperatorOptions) {
    this.#options = options;
    const { bounds, bus, foreignWriteSettleMs, groups, log, statusWriteIntervalMs, store, writes } = options;
    this.#clock = options.clock ?? systemClock;
    this.#binder = new BucketBinder(bus);
    this.#time = new BrokerTime(bus, this.#clock);
    const interner = new Interner();
    const devices = new DeviceReconciler({
      view: this.#view,
      store,
      bucket: (name) => this.#binder.bucket(name),
      writes,
      groups,
      time: this.#time,
      throttle: new WriteThrottle(statusWriteIntervalMs, this.#clock),
      bounds,
      interner,
      onRelease: (name) => this.#releases.add(name),
      onPlacement: (id) => this.#deployments.look(id),
      log,
    });
    const releases = new ReleaseReconciler({
      view: this.#view,
      writes,
      time: this.#time,
      throttle: new WriteThrottle(statusWriteIntervalMs, this.#clock),
    });
    this.#devices = this.#queue("device", (id) => devices.reconcile(id));
    this.#releases = this.#queue("release", (name) => releases.reconcile(name));
    this.#deployments = new Deployments({
      fleet: this.#view,
      store,
      bucket: (name) => this.#binder.bucket(name),
      writes: options.deploymentWrites,
      groups,
      time: this.#time,
      interner,
      statusWriteIntervalMs,
      foreignWriteSettleMs,
      clock: this.#clock,
      log,
      queue: (what, handle) => this.#queue(what, handle),
    });
    this.#tasks = new Tasks({
      fleet: this.#view,
      store,
      bucket: (name) => this.#binder.bucket(name),
      writes: options.taskWrites,
      groups,
      time: this.#time,
      statusWriteIntervalMs,
      settleMs: options.taskSettleMs ?? ORPHAN_SETTLE_MS,
      retry: RETRY,
      clock: this.#clock,
      log,
      queue: (what, handle) => this.#queue(what, handle),
    });
    this.#feeds = new FleetFeeds({
      view: this.#view,
      interner,
      look: {
        device: (id) => this.#devices.add(id),
        deviceLater: (id) => this.#devices.addAfter(id, foreignWriteSettleMs),
        placement: (id) => this.#deployments.look(id),
        release: (name) => this.#releases.add(name),
        releaseLater: (name) => this.#releases.addAfter(name, foreignWriteSettleMs),
      },
      log,
    });
  }

  /** Figures for logs and measurements. */
  get figures(): Readonly<Record<"devices" | "waiting" | "failing" | "malformed", number>> {
    const { failing, malformed, waiting } = this.#deployments.figures;
    const tasks = this.#tasks.figures;
    return {
      devices: this.#view.size,
      waiting: this.#devices.size + this.#releases.size + waiting + tasks.waiting,
      failing: this.#devices.failing + this.#releases.failing + failing + tasks.failing,
      malformed: this.#feeds.malformed + malformed,
    };
  }

  /**
   * Works until the signal aborts, and then ends what it has begun.
   *
   * @param signal Ends it
   */
  async run(signal: AbortSignal): Promise<void> {
    const { groups, log } = this.#options;
    this.#pause();
    const keeper = new ConnectionKeeper({
      bus: this.#options.bus,
      time: this.#time,
      ensureBuckets: () => this.#ensureBuckets(),
      onReady: () => this.#resume(),
      onAway: () => this.#pause(),
      retry: RETRY,
      clock: this.#clock,
      log,
    });
    const unlisten = groups.onChange((id) => {
      this.#devices.add(id);
      this.#deployments.look(id);
    });
    try {
      const watching = [keeper.run(signal), groups.run(signal), ...this.#watches(signal)];
      // A decision on half of what is known would be a wrong one.
      await Promise.race([Promise.all([...this.#read.values()].map(({ promise }) => promise)), aborted(signal)]);
      if (!signal.aborted) log.info("the fleet is read", this.figures);
      await Promise.all([
        this.#devices.run(signal),
        this.#releases.run(signal),
        this.#deployments.run(signal),
        this.#tasks.run(signal),
      ]);
      await Promise.all(watching);
    } finally {
      unlisten();
    }
  }

  #pause(): void {
    this.#devices.pause();
    this.#releases.pause();
    this.#deployments.pause();
    this.#tasks.pause();
  }

  #resume(): void {
    this.#devices.resume();
    this.#releases.resume();
    // What silence means depends on the watch, which has begun anew.
    for (const id of this.#view.deviceIds) this.#devices.add(id);
    this.#deployments.resume();
    this.#tasks.resume();
  }

  async #ensureBuckets(): Promise<void> {
    const { admin, buckets: { fleetSize, replicas, specs } } = this.#options;
    if (admin !== undefined) await admin.ensureBuckets(specs, fleetSize, replicas);
  }

  #watches(signal: AbortSignal): Promise<void>[] {
    const documents = DEVICE_BUCKETS.map((name) =>
      this.#watch<WatchEvent>({
        name,
        open: async (ending) => (await this.#binder.bucket(name)).watch("*", ending),
        onReopen: () => this.#feeds.restart(name),
        onEvent: (event) => this.#feeds.takeDocument(name, event),
      }, signal)
    );
    return [
      this.#watch<StoreEvent<"AgentRelease">>({
        name: "AgentRelease",
        open: (ending) => this.#options.store.watch("AgentRelease", ending),
        onReopen: () => this.#feeds.restart("AgentRelease"),
        onEvent: (event) => this.#feeds.takeRelease(event),
      }, signal),
      this.#watch<StoreEvent<"Device">>({
        name: "Device",
        open: (ending) => this.#options.store.watch("Device", ending),
        onReopen: () => this.#feeds.restart("Device"),
        onEvent: (event) => this.#feeds.takeDevice(event),
      }, signal),
      ...documents,
      ...this.#deployments.watches((source) => this.#watch(source, signal)),
      ...this.#tasks.watches((source) => this.#watch(source, signal)),
    ];
  }

  async #watch<E extends { readonly kind: string }>(source: WatchSource<E>, signal: AbortSignal): Promise<void> {
    const { name, open, onEvent } = source;
    await runWatchLoop<E>({
      ...source,
      open: async (ending) => {
        await this.#turn(name, ending);
        return await open(ending);
      },
      onEvent: (event) => {
        onEvent(event);
        if (event.kind === "current") this.#read.get(name)?.resolve();
      },
      retry: RETRY,
      log: this.#options.log,
      clock: this.#clock,
    }, signal);
  }

  /**
   * Waits until the sources before this one have been read for the first time. One after the other: what the broker
   * sends ahead for all of them at once would be more than it keeps for a connection.
   */
  async #turn(name: string, signal: AbortSignal): Promise<void> {
    const before = SOURCES.slice(0, SOURCES.indexOf(name)).map((earlier) => this.#read.get(earlier)?.promise);
    await Promise.race([Promise.all(before), aborted(signal)]);
  }

  #queue(what: string, handle: (key: string) => Promise<number | null>): WorkQueue {
    const { log } = this.#options;
    return new WorkQueue({
      handle,
      onError: (key, error) => {
        const code = isFleetError(error) ? error.code : undefined;
        const retry = isFleetError(error) ? error.retry : "permanent";
        // An outage is one state of all keys; anything else is told of the key that it concerns.
        if (retry === "transient") log.state(`reconcile ${what}`, "cannot reconcile now", { what, code }, "warn");
        else {log.state(
            `reconcile ${what} ${key}`,
            "cannot reconcile",
            { [what]: key, code, error: errorText(error) },
            "error",
          );}
      },
      concurrency: RECONCILE_CONCURRENCY,
      retry: RETRY,
      sliceMs: RECONCILE_SLICE_MS,
      clock: this.#clock,
    });
  }
}

/** Resolves when the signal aborts. */
function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
