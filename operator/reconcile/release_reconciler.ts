/**
 * Reconciles one release: its status says how many targets it has, where they stand, and what is stuck.
 *
 * @module
 */
import { nextReleaseStatus } from "../policy/release_status.ts";
import type { WatchedTime } from "../runtime/broker_time.ts";
import type { WriteThrottle } from "../runtime/write_throttle.ts";
import type { FleetView } from "./fleet_view.ts";
import type { FleetWrites } from "./fleet_writes.ts";
import { writeStatus } from "./status_write.ts";

/** What the reconciler works with. */
export interface ReleaseReconcilerOptions {
  readonly view: FleetView;
  readonly writes: FleetWrites;
  readonly time: Pick<WatchedTime, "nowMs">;
  readonly throttle: WriteThrottle;
}

/** Reconciles releases. */
export class ReleaseReconciler {
  readonly #options: ReleaseReconcilerOptions;

  constructor(options: ReleaseReconcilerOptions) {
    this.#options = options;
  }

  /**
   * Reconciles a release.
   *
   * @param name Its name
   * @returns when to look again without an event, in ms from now; null for never
   * @throws {FleetError} when it must be tried again
   */
  async reconcile(name: string): Promise<number | null> {
    const { throttle, time, view, writes } = this.#options;
    const release = view.release(name);
    if (release === undefined) return null;
    const status = nextReleaseStatus(release.status, {
      nowMs: time.nowMs(),
      generation: release.metadata.generation,
      spec: release.spec,
      counts: view.counts.countsOf(name),
      ties: view.counts.tiesOf(name),
      latestError: view.counts.latestErrorOf(name),
    });
    return await writeStatus<"AgentRelease">({
      name,
      stored: release.status,
      next: status,
      throttle,
      write: () => writes.writeReleaseStatus(release, status),
      onWritten: (written) => view.putRelease(written),
    });
  }
}
