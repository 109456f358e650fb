/**
 * Keeps the device's statuses of its deployments in NATS as they should be: written when they change, deleted when the
 * deployment is gone. It has a loop of its own, so that NATS is never in the way of a workload, and binds its bucket
 * when it can: an operator of an earlier version has not made it, which keeps no agent from READY.
 *
 * @module
 */
import { deploymentStatusFilter, deploymentStatusKey } from "../../contracts/buckets.ts";
import { type DeploymentStatus, deploymentStatus } from "../../contracts/deployment_status.ts";
import { errorText, FleetError, isFleetError } from "../../contracts/errors.ts";
import {
  DEPLOYMENT_STATUS_MAX_BYTES,
  HEARTBEAT_INTERVAL_MS,
  NATS_RECONNECT_MAX_MS,
  NATS_RECONNECT_MIN_MS,
} from "../../contracts/limits.ts";
import type { Bus, KvBucket } from "../../lib/bus/port.ts";
import { backoffMs, type Clock } from "../../lib/deadline.ts";
import type { Logger } from "../../lib/log.ts";
import type { Blockers } from "../blockers.ts";
import type { DeploymentView } from "../core/deployment_view.ts";
import { OwnDocument } from "../own_document.ts";
import { WakeUp } from "../wake_up.ts";

/** What the board works with. */
export interface StatusBoardOptions {
  readonly deviceId: string;
  readonly bus: Pick<Bus, "connected">;
  readonly bind: () => Promise<KvBucket>;
  readonly blockers: Blockers;
  /** Age at which what stands in NATS is read again, in ms. */
  readonly rereadMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called at each turn. */
  readonly turned: () => void;
}

const RETRY = { minMs: NATS_RECONNECT_MIN_MS, maxMs: NATS_RECONNECT_MAX_MS };

/** Keeps the device's statuses of its deployments in NATS as they should be. */
export class StatusBoard {
  readonly #options: StatusBoardOptions;
  readonly #documents = new Map<string, OwnDocument<DeploymentStatus>>();
  #views: readonly DeploymentView[] | null = null;
  #whole = false;
  #bucket: KvBucket | null = null;
  /** Deployments of which a status stands in NATS; null until they were looked for. */
  #standing: Set<string> | null = null;
  #dirty = false;
  readonly #wakeUp: WakeUp;

  constructor(options: StatusBoardOptions) {
    this.#options = options;
    this.#wakeUp = new WakeUp(options.clock);
  }

  /**
   * Shows how the deployments stand.
   *
   * @param views All deployments that are desired or of which something is left
   * @param whole Whether that is all: only then the status of any other one is deleted
   */
  show(views: readonly DeploymentView[], whole: boolean): void {
    if (this.#whole === whole && JSON.stringify(views) === JSON.stringify(this.#views)) return;
    this.#views = views;
    this.#whole = whole;
    this.#poke();
  }

  /** What was believed about NATS is looked at again. */
  forget(): void {
    this.#standing = null;
    for (const document of this.#documents.values()) document.forget();
    this.#poke();
  }

  #poke(): void {
    this.#dirty = true;
    this.#wakeUp.poke();
  }

  /** Writes what changes until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { blockers, bus, clock, log, rereadMs, turned } = this.#options;
    let readMs = clock.monotonicMs();
    for (let failures = 0; !signal.aborted;) {
      turned();
      if (clock.monotonicMs() - readMs >= rereadMs) {
        readMs = clock.monotonicMs();
        this.#dirty = true;
      }
      if (!this.#dirty || this.#views === null || !bus.connected) {
        await this.#wakeUp.pause(HEARTBEAT_INTERVAL_MS, signal);
        continue;
      }
      this.#dirty = false;
      try {
        await this.#publish(this.#views, this.#whole);
        failures = 0;
        blockers.set("deployment-status", null);
        log.state("deployment-status", "deployment statuses are published", {}, "debug");
      } catch (error) {
        if (!isFleetError(error)) throw error;
        this.#dirty = true;
        // Who has nothing to say misses nothing.
        const isMissed = this.#views.length > 0 || !isFleetError(error, "E_BUS_NO_BUCKET");
        if (bus.connected && isMissed) blockers.set("deployment-status", errorText(error));
        log.state("deployment-status", "deployment statuses cannot be published", { error: errorText(error) }, "warn");
        await clock.sleep(backoffMs(failures++, RETRY), signal).catch(() => {});
      }
    }
  }

  async #publish(views: readonly DeploymentView[], whole: boolean): Promise<void> {
    const bucket = this.#bucket ??= await this.#options.bind();
    const standing = this.#standing ??= await this.#find(bucket);
    for (const view of views) {
      this.#options.turned();
      await this.#write(bucket, view);
      standing.add(view.deploymentId);
    }
    if (!whole) return;
    const known = new Set(views.map(({ deploymentId }) => deploymentId));
    for (const deploymentId of [...standing].filter((id) => !known.has(id))) {
      await bucket.delete(deploymentStatusKey(this.#options.deviceId, deploymentId));
      standing.delete(deploymentId);
      this.#documents.delete(deploymentId);
    }
  }

  async #find(bucket: KvBucket): Promise<Set<string>> {
    const { deviceId } = this.#options;
    const found = new Set<string>();
    await bucket.snapshot(deploymentStatusFilter(deviceId), ({ deleted, key }) => {
      const deploymentId = key.slice(deploymentStatusKey(deviceId, "").length);
      if (deleted) found.delete(deploymentId);
      else found.add(deploymentId);
    });
    return found;
  }

  async #write(bucket: KvBucket, { deploymentId, ...view }: DeploymentView): Promise<void> {
    const { clock, deviceId, rereadMs } = this.#options;
    let document = this.#documents.get(deploymentId);
    if (document === undefined) {
      document = new OwnDocument({
        bucket,
        key: deploymentStatusKey(deviceId, deploymentId),
        decoder: deploymentStatus,
        maxBytes: DEPLOYMENT_STATUS_MAX_BYTES,
        rereadMs,
        clock,
      });
      this.#documents.set(deploymentId, document);
    }
    // The second try is for a write of an earlier life of this agent that arrived late.
    for (let tries = 0; tries < 2; tries++) {
      const present = await document.read();
      const at = new Date(clock.nowMs()).toISOString();
      const since = present?.phase === view.phase && present.generation === view.generation ? present.since : at;
      const next = {
        schema: 1,
        deviceId,
        deploymentId,
        ...view,
        containers: [...view.containers],
        since,
        updatedAt: at,
      };
      // The time alone is no change.
      const unchanged = { ...next, updatedAt: present?.updatedAt ?? at };
      if (await document.write(present === null ? next : changed(present, unchanged) ? next : present)) return;
    }
    throw new FleetError("Cannot publish a deployment status: somebody else writes it", {
      code: "E_BUS_CONFLICT",
      retry: "transient",
      failureClass: "environment",
    });
  }
}

function changed(present: DeploymentStatus, next: DeploymentStatus): boolean {
  return JSON.stringify(sorted(present)) !== JSON.stringify(sorted(next));
}

function sorted(value: object): [string, unknown][] {
  return Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1);
}
