/**
 * The part of the operator that places deployments: its view, its watches, and the queues of what must be looked at.
 *
 * @module
 */
import { type BucketName, BUCKETS } from "../../contracts/buckets.ts";
import { LOST_RACE_PAUSE_MS } from "../../contracts/limits.ts";
import type { KvBucket, WatchEvent } from "../../lib/bus/port.ts";
import type { Clock } from "../../lib/deadline.ts";
import type { Logger } from "../../lib/log.ts";
import type { GroupSource } from "../groups/port.ts";
import type { WatchedTime } from "../runtime/broker_time.ts";
import type { WorkQueue } from "../runtime/work_queue.ts";
import { WriteThrottle } from "../runtime/write_throttle.ts";
import type { ResourceStore, StoreEvent } from "../stores/port.ts";
import { DeploymentFeeds } from "./deployment_feeds.ts";
import { DeploymentReconciler } from "./deployment_reconciler.ts";
import { DeploymentView } from "./deployment_view.ts";
import type { DeploymentWrites } from "./deployment_writes.ts";
import { DesiredStateReconciler } from "./desired_state_reconciler.ts";
import type { FleetView } from "./fleet_view.ts";
import type { Interner } from "./interner.ts";
import type { FollowSource } from "./watch_source.ts";

/** What it works with. */
export interface DeploymentsOptions {
  readonly fleet: FleetView;
  readonly store: ResourceStore;
  readonly bucket: (name: BucketName) => Promise<KvBucket>;
  readonly writes: DeploymentWrites;
  readonly groups: GroupSource;
  readonly time: WatchedTime;
  readonly interner: Interner;
  /** Pause between two status writes of one deployment, in ms. */
  readonly statusWriteIntervalMs: number;
  /** Pause before what somebody else has written is answered, in ms. */
  readonly foreignWriteSettleMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  /** Makes a queue with the operator's bounds. */
  readonly queue: (what: string, handle: (key: string) => Promise<number | null>) => WorkQueue;
}

/** Names of what it reads, in this order: a deployment that comes last finds every device that it concerns. */
export const DEPLOYMENT_SOURCES = [BUCKETS.desiredState, BUCKETS.deploymentStatus, "FleetDeployment"] as const;

/**
 * Marks a key that stands for a deployment among those of devices, and no device's id can have. It comes after all
 * devices that were asked for before it: the deployment is placed when its turn has come.
 */
const PLACED_MARK = "=";

/** Places deployments. */
export class Deployments {
  readonly #options: DeploymentsOptions;
  readonly #view = new DeploymentView();
  readonly #feeds: DeploymentFeeds;
  readonly #desired: DesiredStateReconciler;
  readonly #devices: WorkQueue;
  readonly #deployments: WorkQueue;
  /** Deployments whose turn has come once; what ran at that moment has ended by the next one. */
  readonly #almostPlaced = new Set<string>();

  constructor(options: DeploymentsOptions) {
    this.#options = options;
    const { clock, fleet, foreignWriteSettleMs, groups, interner, log, statusWriteIntervalMs, store, time, writes } =
      options;
    const onDeployment = (name: string) => this.#deployments.add(name);
    const view = this.#view;
    this.#desired = new DesiredStateReconciler({ fleet, view, store, writes, groups, time, clock, onDeployment, log });
    const statuses = new DeploymentReconciler({
      view,
      writes,
      time,
      throttle: new WriteThrottle(statusWriteIntervalMs, clock),
    });
    this.#devices = options.queue("desired-state", (key) => this.#handle(key));
    this.#deployments = options.queue("deployment", (name) => statuses.reconcile(name));
    this.#feeds = new DeploymentFeeds({
      view,
      fleet,
      interner,
      look: {
        device: (id) => this.look(id),
        deviceLater: (id) => this.#devices.addAfter(id, foreignWriteSettleMs),
        deployment: onDeployment,
        deploymentLater: (name) => this.#deployments.addAfter(name, foreignWriteSettleMs),
        placed: (name) => this.#devices.add(PLACED_MARK + name),
      },
      onDeployment: (name) => this.#desired.forget(name),
      log,
    });
  }

  /**
   * Follows what it reads.
   *
   * @param follow Follows one source; each waits for its turn in the order of {@link DEPLOYMENT_SOURCES}
   */
  watches(follow: FollowSource): Promise<void>[] {
    const { bucket, store } = this.#options;
    const feeds = this.#feeds;
    return [
      follow<WatchEvent>({
        name: BUCKETS.desiredState,
        open: async (signal) => (await bucket(BUCKETS.desiredState)).watch(">", signal),
        onReopen: () => feeds.restartBucket("desired"),
        onEvent: (event) => feeds.takeDesired(event),
      }),
      follow<WatchEvent>({
        name: BUCKETS.deploymentStatus,
        open: async (signal) => (await bucket(BUCKETS.deploymentStatus)).watch(">", signal),
        onReopen: () => feeds.restartBucket("reports"),
        onEvent: (event) => feeds.takeReport(event),
      }),
      follow<StoreEvent<"FleetDeployment">>({
        name: "FleetDeployment",
        open: (signal) => store.watch("FleetDeployment", signal),
        onReopen: () => feeds.restartDeployments(),
        onEvent: (event) => feeds.takeDeployment(event),
      }),
    ];
  }

  /** Figures for logs and measurements. */
  get figures(): Readonly<Record<"waiting" | "failing" | "malformed", number>> {
    return {
      waiting: this.#devices.size + this.#deployments.size,
      failing: this.#devices.failing + this.#deployments.failing,
      malformed: this.#feeds.malformed,
    };
  }

  /** Looks at what a device is told. */
  look(id: string): void {
    this.#devices.add(id);
  }

  /** Starts no more work until {@link resume}. */
  pause(): void {
    this.#devices.pause();
    this.#deployments.pause();
  }

  /** Ends a {@link pause}, and looks at everything anew: nobody knows what happened meanwhile. */
  resume(): void {
    this.#devices.resume();
    this.#deployments.resume();
    for (const id of this.#options.fleet.deviceIds) this.look(id);
    // Those that are known by their entries only.
    for (const id of this.#view.deviceIds) this.look(id);
  }

  /** Works until the signal aborts, and then ends what it has begun. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#devices.run(signal), this.#deployments.run(signal)]);
  }

  async #handle(key: string): Promise<number | null> {
    return key.startsWith(PLACED_MARK) ? this.#markPlaced(key.slice(1)) : await this.#desired.reconcile(key);
  }

  #markPlaced(name: string): number | null {
    if (!this.#almostPlaced.delete(name)) {
      this.#almostPlaced.add(name);
      return LOST_RACE_PAUSE_MS;
    }
    if (this.#view.placing.delete(name)) this.#deployments.add(name);
    return null;
  }
}
