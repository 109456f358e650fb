/**
 * Reconciles what one device is told to run: gathers what is known, plans (pure), applies.
 *
 * Guarantees: every write is a compare-and-set on what the plan looked at, and happens only if the device and the
 * deployments are in the store as the plan saw them, so that any number of operators may run. Entries go first and the
 * generation that counts them last: whatever is cut off in between makes a snapshot that removes nothing (DESIGN 4).
 *
 * @module
 */
import { BUCKETS } from "../../contracts/buckets.ts";
import { DEPLOYMENT_REREAD_MS, DESIRED_ENTRIES_MAX, LOST_RACE_PAUSE_MS } from "../../contracts/limits.ts";
import type { PlacementSubject } from "../../contracts/placement.ts";
import type { ResourceKind } from "../../contracts/resource.ts";
import type { WriteResult } from "../../lib/bus/port.ts";
import type { Clock } from "../../lib/deadline.ts";
import type { Logger } from "../../lib/log.ts";
import type { GroupSource } from "../groups/port.ts";
import {
  type DesiredPlan,
  firstGeneration,
  type HeldDesired,
  nextGeneration,
  planEntries,
} from "../policy/desired_plan.ts";
import type { WatchedTime } from "../runtime/broker_time.ts";
import { RecentReads } from "../runtime/recent_reads.ts";
import type { ResourceOf, ResourceStore } from "../stores/port.ts";
import type { DeploymentView } from "./deployment_view.ts";
import type { DeploymentWrites } from "./deployment_writes.ts";
import { type FleetView, resourceChange } from "./fleet_view.ts";
import { OBSERVED } from "./observer.ts";

/** What the reconciler works with. */
export interface DesiredStateReconcilerOptions {
  readonly fleet: FleetView;
  readonly view: DeploymentView;
  readonly store: Pick<ResourceStore, "get">;
  readonly writes: DeploymentWrites;
  readonly groups: Pick<GroupSource, "groupsOf">;
  readonly time: Pick<WatchedTime, "nowMs">;
  readonly clock: Clock;
  /** Told of deployments whose figures have changed. */
  readonly onDeployment: (name: string) => void;
  readonly log: Logger;
}

/** Thrown inside to look again when somebody else was faster; never leaves the reconciler. */
const LOST_RACE = Symbol("lost race");

/** Reconciles what devices are told. */
export class DesiredStateReconciler {
  readonly #options: DesiredStateReconcilerOptions;
  readonly #deployments: RecentReads<ResourceOf["FleetDeployment"] | null>;

  constructor(options: DesiredStateReconcilerOptions) {
    this.#options = options;
    const read = (name: string) => options.store.get("FleetDeployment", name);
    this.#deployments = new RecentReads(read, DEPLOYMENT_REREAD_MS, options.clock);
  }

  /** An event of a deployment came: what was read of it may be old. */
  forget(name: string): void {
    this.#deployments.forget(name);
  }

  /**
   * Reconciles a device.
   *
   * @param id Its id
   * @returns when to look again without an event, in ms from now; null for never
   * @throws {FleetError} when it must be tried again; nothing is removed until then
   */
  async reconcile(id: string): Promise<number | null> {
    const { view } = this.#options;
    const subject = await this.#subject(id);
    if (subject === undefined) return null;
    const plan = planEntries(subject, view, view.held(id));
    this.#tell(id, plan);
    const hasChanged = plan.puts.length + plan.deletes.length > 0;
    try {
      if (hasChanged) await this.#change(id, plan);
      await this.#count(id, hasChanged);
      if (subject === null) await this.#forgetDevice(id);
      return null;
    } catch (error) {
      if (error === LOST_RACE) return LOST_RACE_PAUSE_MS;
      throw error;
    }
  }

  /**
   * What placement looks at: null for a device that was deleted, undefined while nothing may be decided.
   *
   * A resource that is not there and was not seen to be deleted may have been lost with the store. One that was deleted
   * while its device lives is made again, without groups.
   */
  async #subject(id: string): Promise<PlacementSubject | null | undefined> {
    const { fleet, groups } = this.#options;
    const record = fleet.device(id);
    const device = record?.device ?? null;
    if (device !== null) {
      const names = await groups.groupsOf(device);
      fleet.putGroups(id, names);
      return { groups: names, labels: device.metadata.labels ?? {} };
    }
    const lives = record !== undefined && record.documents[BUCKETS.deviceInfo] !== null;
    return !lives && fleet.isDeleted(id) ? null : undefined;
  }

  async #change(id: string, plan: DesiredPlan): Promise<void> {
    const { view, writes } = this.#options;
    if (!await this.#isAsSeen(id, plan)) throw LOST_RACE;
    for (const { deployment: { uid, name }, revision } of plan.puts) {
      const deployment = view.named(name);
      if (deployment?.uid !== uid) throw LOST_RACE;
      const { entryDigest: digest, generation } = deployment;
      const written = await writes.putEntry(id, deployment, revision);
      this.#take(written, (at) => this.#putEntry(id, uid, { revision: at, name, digest, generation }));
    }
    for (const { token, revision } of plan.deletes) {
      const written = await writes.deleteEntry(id, token, revision);
      this.#take(written, () => this.#putEntry(id, token, null));
    }
  }

  /** Writes the generation that counts the entries, if the one that stands there is not right. */
  async #count(id: string, hasChanged: boolean): Promise<void> {
    const { time, view, writes } = this.#options;
    // Entries that were only told of stand nowhere to be counted.
    if (writes.observing && hasChanged) return;
    const held = view.held(id);
    if (held.generation === null && !this.#mayBegin(id, held)) return;
    const next = nextGeneration(held, hasChanged, time.nowMs());
    if (next === null) return;
    const written = await writes.putGeneration(id, next, held.generation?.revision ?? null);
    this.#take(written, (revision) => view.putGeneration(id, { revision, value: next }));
  }

  #mayBegin(id: string, held: HeldDesired): boolean {
    const { log, view } = this.#options;
    const first = firstGeneration(held, view.reports(id), view);
    if (first === "wait") {
      const fields = { device: id, reports: view.reports(id).size };
      log.state(`uncounted ${id}`, "a device runs deployments that nobody knows: it removes nothing", fields, "warn");
    }
    return first === "due";
  }

  /** Nobody reads what is left of a device that is gone. Its generation stays: it may come back, and must run nothing. */
  async #forgetDevice(id: string): Promise<void> {
    const { view, writes } = this.#options;
    for (const [uid, { revision }] of [...view.reports(id)]) {
      this.#take(await writes.deleteReport(id, uid, revision), () => view.putReport(id, uid, null));
    }
  }

  /** Whether device and deployments are in the store as the plan saw them: watches do not keep step. */
  async #isAsSeen(id: string, plan: DesiredPlan): Promise<boolean> {
    const { fleet, store, view } = this.#options;
    if (!isSame(fleet.device(id)?.device ?? null, await store.get("Device", id))) return false;
    const names = new Set(plan.puts.map(({ deployment }) => deployment.name));
    for (const { name, token } of plan.deletes) {
      const concerned = view.nameOf(token) ?? name;
      if (concerned !== null) names.add(concerned);
    }
    for (const name of names) {
      if (!isSame(view.named(name)?.resource ?? null, await this.#deployments.get(name))) return false;
    }
    return true;
  }

  /** @throws when a compare-and-set was lost */
  #take(written: WriteResult | typeof OBSERVED, onWritten: (revision: number) => void): void {
    if (written === OBSERVED) return;
    if (!written.ok) throw LOST_RACE;
    onWritten(written.revision);
  }

  #putEntry(id: string, token: string, entry: Parameters<DeploymentView["putEntry"]>[2]): void {
    const { onDeployment, view } = this.#options;
    if (!view.putEntry(id, token, entry)) return;
    const name = view.nameOf(token);
    if (name !== undefined) onDeployment(name);
  }

  #tell(id: string, { refused, unknown }: DesiredPlan): void {
    const { log } = this.#options;
    if (refused > 0) {
      const fields = { device: id, refused, most: DESIRED_ENTRIES_MAX };
      log.state(`refused ${id}`, "more deployments are placed on a device than it takes", fields, "error");
    }
    if (unknown > 0) {
      const fields = { device: id, entries: unknown };
      log.state(`unknown ${id}`, "entries of deployments that nobody knows stay", fields, "warn");
    }
  }
}

function isSame(seen: ResourceOf[ResourceKind] | null, stored: ResourceOf[ResourceKind] | null): boolean {
  return seen === null || stored === null ? seen === stored : resourceChange(seen, stored) !== "spec";
}
