/**
 * Reconciles one deployment: its status says how many targets it has, where they stand, and what is stuck.
 *
 * @module
 */
import type { FleetDeployment } from "../../contracts/fleet_deployment.ts";
import { nextDeploymentStatus } from "../policy/deployment_status.ts";
import type { WatchedTime } from "../runtime/broker_time.ts";
import type { WriteThrottle } from "../runtime/write_throttle.ts";
import type { DeploymentView } from "./deployment_view.ts";
import type { DeploymentWrites } from "./deployment_writes.ts";
import { writeStatus } from "./status_write.ts";

/** What the reconciler works with. */
export interface DeploymentReconcilerOptions {
  readonly view: DeploymentView;
  readonly writes: Pick<DeploymentWrites, "writeStatus">;
  readonly time: Pick<WatchedTime, "nowMs">;
  readonly throttle: WriteThrottle;
}

/** Reconciles deployments. */
export class DeploymentReconciler {
  readonly #options: DeploymentReconcilerOptions;

  constructor(options: DeploymentReconcilerOptions) {
    this.#options = options;
  }

  /**
   * Reconciles a deployment.
   *
   * @param name Its name
   * @returns when to look again without an event, in ms from now; null for never
   * @throws {FleetError} when it must be tried again
   */
  async reconcile(name: string): Promise<number | null> {
    const { throttle, time, view, writes } = this.#options;
    const deployment = view.named(name);
    if (deployment === undefined) return null;
    const { generation, resource, uid } = deployment;
    const placing = view.placing.has(name);
    // A start of the operator is no news: what was written for this very spec stands until its devices were looked at.
    if (placing && isPlacedBefore(resource)) return null;
    const status = nextDeploymentStatus(resource.status, {
      nowMs: time.nowMs(),
      generation,
      spec: resource.spec,
      counts: view.counts.countsOf(uid, generation),
      placing,
      latestError: view.counts.latestErrorOf(uid, generation),
    });
    return await writeStatus<"FleetDeployment">({
      name,
      stored: resource.status,
      next: status,
      throttle,
      write: () => writes.writeStatus(resource, status),
      onWritten: (written) => view.putDeployment(written),
    });
  }
}

/** Whether what is written is of this very spec, and says that its devices have been told. */
function isPlacedBefore({ metadata, status }: FleetDeployment): boolean {
  if (status?.observedGeneration !== metadata.generation) return false;
  return status.conditions?.some(({ type, reason }) => type === "Ready" && reason !== "Placing") === true;
}
