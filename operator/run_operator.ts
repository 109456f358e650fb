/**
 * Runs the operator for as long as the program lives, over as many connections as that takes.
 *
 * @module
 */
import { BUCKET_SPECS, BUCKETS } from "../contracts/buckets.ts";
import { BUILD_VERSION } from "../contracts/build_info.ts";
import { errorText, isFleetError } from "../contracts/errors.ts";
import { RECONCILE_RETRY_MAX_MS, RECONCILE_RETRY_MIN_MS } from "../contracts/limits.ts";
import type { Bus, BusAdmin } from "../lib/bus/port.ts";
import { backoffMs, systemClock } from "../lib/deadline.ts";
import type { Logger } from "../lib/log.ts";
import type { OperatorConfig } from "./config.ts";
import { BucketGroupSource } from "./groups/bucket_group_source.ts";
import { deviceSpecGroups } from "./groups/device_spec_groups.ts";
import { Operator } from "./operator.ts";
import {
  type DeploymentWrites,
  ObservedDeploymentWrites,
  StoredDeploymentWrites,
} from "./reconcile/deployment_writes.ts";
import { type FleetWrites, ObservedWrites, StoreWrites } from "./reconcile/fleet_writes.ts";
import { Observer } from "./reconcile/observer.ts";
import { BucketBinder } from "./runtime/bucket_binder.ts";
import { EmbeddedStore } from "./stores/embedded.ts";
import { ObservedTaskWrites, StoredTaskWrites, type TaskWrites } from "./tasks/task_writes.ts";

/** What the program works with. */
export interface RunOptions {
  readonly config: Pick<OperatorConfig, "bounds" | "fleetSize" | "groups" | "replicas">;
  /** Tells what would be written instead of writing; absent to write. */
  readonly observe?: (line: string) => void;
  /** Connects, however long that takes. Rejects with the signal's reason when it aborts. */
  readonly connect: (signal: AbortSignal) => Promise<Bus & BusAdmin>;
  readonly log: Logger;
}

/**
 * Runs until the signal aborts.
 *
 * @param options What it works with
 * @param signal Ends it; what was begun is done first
 * @throws {FleetError} what trying again does not change: a bucket whose configuration cannot be made right
 */
export async function runOperator(options: RunOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const bus = await options.connect(signal);
    const lifetime = new AbortController();
    const unlisten = bus.onStatus(({ kind }) => {
      if (kind === "closed") lifetime.abort();
    });
    try {
      await serve(bus, options, AbortSignal.any([signal, lifetime.signal]));
    } catch (error) {
      if (signal.aborted || !lifetime.signal.aborted) throw error;
    } finally {
      unlisten();
      await bus.close();
    }
    if (!signal.aborted) options.log.warn("the connection to NATS was given up: connecting anew");
  }
}

async function serve(bus: Bus & BusAdmin, options: RunOptions, signal: AbortSignal): Promise<void> {
  const { config: { bounds, fleetSize, groups, replicas }, log, observe } = options;
  const buckets = { specs: BUCKET_SPECS, fleetSize, replicas };
  if (observe === undefined) {
    const ensure = () => bus.ensureBuckets(buckets.specs, fleetSize, replicas);
    await persist("make the buckets", ensure, log, signal);
  }
  const binder = new BucketBinder(bus);
  const resources = await persist("open the resource store", () => binder.bucket(BUCKETS.resources), log, signal);
  const store = new EmbeddedStore(resources);
  const observer = observe === undefined ? null : new Observer(observe);
  const writes: FleetWrites = observer === null
    ? new StoreWrites(store, () => binder.bucket(BUCKETS.upgradeIntent))
    : new ObservedWrites(observer);
  const deploymentWrites: DeploymentWrites = observer === null
    ? new StoredDeploymentWrites(store, (name) => binder.bucket(name))
    : new ObservedDeploymentWrites(observer);
  const taskWrites: TaskWrites = observer === null
    ? new StoredTaskWrites(store, (name) => binder.bucket(name))
    : new ObservedTaskWrites(observer);
  const operator = new Operator({
    bus,
    ...(observe === undefined ? { admin: bus } : {}),
    buckets,
    store,
    writes,
    deploymentWrites,
    taskWrites,
    groups: groups.source === "bucket" ? new BucketGroupSource({ bus, log }) : deviceSpecGroups,
    bounds,
    statusWriteIntervalMs: bounds.statusWriteIntervalMs,
    foreignWriteSettleMs: bounds.foreignWriteSettleMs,
    log,
  });
  log.info("operator started", {
    version: BUILD_VERSION,
    observe: observe !== undefined,
    fleetSize,
    groups: groups.source,
  });
  await operator.run(signal);
  log.info("operator stopped");
}

/** Does something that needs the broker, again and again until it is done. */
async function persist<T>(what: string, work: () => Promise<T>, log: Logger, signal: AbortSignal): Promise<T> {
  for (let failures = 0;; failures++) {
    try {
      return await work();
    } catch (error) {
      if (!isFleetError(error) || error.code === "E_BUS_BUCKET_CONFLICT") throw error;
      log.state(what, `cannot ${what} yet`, { code: error.code, error: errorText(error) }, "warn");
      const pauseMs = backoffMs(failures, { minMs: RECONCILE_RETRY_MIN_MS, maxMs: RECONCILE_RETRY_MAX_MS });
      await systemClock.sleep(pauseMs, signal);
    }
  }
}
