/**
 * Brings what the watches tell of deployments into the view, and says what must be looked at again for it.
 *
 * @module
 */
import { BUCKETS } from "../../contracts/buckets.ts";
import { GENERATION_TOKEN } from "../../contracts/desired_state.ts";
import { FleetError } from "../../contracts/errors.ts";
import { deviceId, uuid } from "../../contracts/formats.ts";
import type { FleetDeployment } from "../../contracts/fleet_deployment.ts";
import type { BusEntry, WatchEvent } from "../../lib/bus/port.ts";
import type { Logger } from "../../lib/log.ts";
import type { StoreEvent } from "../stores/port.ts";
import type { DeploymentView, ReplayedBucket } from "./deployment_view.ts";
import { readEntry, readGeneration, readReport } from "./desired_documents.ts";
import type { FleetView } from "./fleet_view.ts";
import type { Interner } from "./interner.ts";

/** Who is told what to look at. */
export interface LookAtDeployments {
  /** What a device is told. */
  device(id: string): void;
  /** The same after a pause: somebody else has written, who may have seen more. */
  deviceLater(id: string): void;
  deployment(name: string): void;
  deploymentLater(name: string): void;
  /** Every device that a deployment concerns has been asked for: it is placed once all of them have been looked at. */
  placed(name: string): void;
}

/** What the feeds work with. */
export interface DeploymentFeedsOptions {
  readonly view: DeploymentView;
  readonly fleet: FleetView;
  readonly interner: Interner;
  readonly look: LookAtDeployments;
  /** Told of a deployment of which an event came. */
  readonly onDeployment: (name: string) => void;
  readonly log: Logger;
}

const BUCKET_OF: Readonly<Record<ReplayedBucket, string>> = {
  desired: BUCKETS.desiredState,
  reports: BUCKETS.deploymentStatus,
};

/** Takes the events of every watch. */
export class DeploymentFeeds {
  readonly #options: DeploymentFeedsOptions;
  /** Names of deployments that came since their watch began again; undefined for one that goes on. */
  #replay: Set<string> | undefined;
  #malformed = 0;

  constructor(options: DeploymentFeedsOptions) {
    this.#options = options;
  }

  /** Documents that came and could not be read, since the start. */
  get malformed(): number {
    return this.#malformed;
  }

  /** The watch of the deployments begins again: what does not come by `current` is gone. */
  restartDeployments(): void {
    this.#replay = new Set();
  }

  /** The watch of a bucket begins again. */
  restartBucket(source: ReplayedBucket): void {
    this.#options.view.beginReplay(source);
  }

  /** Takes an event of the deployments. */
  takeDeployment(event: StoreEvent<"FleetDeployment">): void {
    if (event.kind === "current") return this.#endDeployments();
    const { onDeployment } = this.#options;
    if (event.kind === "put") {
      const { name } = event.resource.metadata;
      this.#replay?.add(name);
      onDeployment(name);
      return this.#putDeployment(event.resource);
    }
    onDeployment(event.name);
    if (event.kind === "delete") return this.#dropDeployment(event.name, event.vanished !== true);
    this.#replay?.add(event.name);
    this.#tellMalformed(BUCKETS.resources, event.name, event.problem);
    this.#dropDeployment(event.name, false);
  }

  /** Takes an event of `desired-state`. */
  takeDesired(event: WatchEvent): void {
    if (event.kind !== "entry") return this.#takeReading("desired", event.kind);
    const place = this.#placeOf("desired", event.entry);
    if (place === null) return;
    const [id, text] = place;
    const token = text === GENERATION_TOKEN ? null : text;
    const { view } = this.#options;
    if (event.entry.deleted) return this.#dropDesired(id, token);
    if (view.keep("desired", id, token, event.entry.revision)) return;
    this.#putDesired(id, token, event.entry);
    this.#options.look.deviceLater(id);
  }

  /** Takes an event of `deployment-status`. */
  takeReport(event: WatchEvent): void {
    if (event.kind !== "entry") return this.#takeReading("reports", event.kind);
    const place = this.#placeOf("reports", event.entry);
    if (place === null) return;
    const [id, uid] = place;
    const { interner, view } = this.#options;
    if (event.entry.deleted) return this.#dropReport(id, uid);
    if (view.keep("reports", id, uid, event.entry.revision)) return;
    const { held, problem } = readReport(event.entry, id, uid, interner);
    const moved = view.putReport(id, uid, held);
    if (moved === null) return this.#tellMalformed(BUCKETS.deploymentStatus, event.entry.key, "is one too many");
    if (problem !== undefined) this.#tellMalformed(BUCKETS.deploymentStatus, event.entry.key, problem);
    if (moved) this.#lookAtDeployment(uid);
    this.#lookAtUncounted(id);
  }

  #putDeployment(resource: FleetDeployment): void {
    const { fleet, look, view } = this.#options;
    const { name, uid } = resource.metadata;
    const before = view.named(name);
    const change = view.putDeployment(resource);
    if (change === "status") return look.deploymentLater(name);
    if (change === "none") return;
    view.placing.add(name);
    look.deployment(name);
    const groups = [...before?.spec.allowedGroups ?? [], ...resource.spec.allowedGroups];
    for (const id of fleet.devicesIn(groups)) look.device(id);
    for (const id of view.holders({ uid, name })) look.device(id);
    look.placed(name);
  }

  #dropDeployment(name: string, isDeleted: boolean): void {
    const { log, look, view } = this.#options;
    const before = view.named(name);
    view.dropDeployment(name, isDeleted);
    if (!isDeleted) {
      if (before === undefined) return;
      const fields = { deployment: name };
      log.state(
        `deployment ${name}`,
        "a deployment cannot be read any more: what devices run of it stays",
        fields,
        "warn",
      );
      return;
    }
    for (const id of view.holders({ name, ...(before === undefined ? {} : { uid: before.uid }) })) look.device(id);
  }

  #endDeployments(): void {
    const seen = this.#replay;
    this.#replay = undefined;
    if (seen === undefined) return;
    const known = [...this.#options.view.deployments].map(({ name }) => name);
    for (const name of known) if (!seen.has(name)) this.#dropDeployment(name, false);
  }

  #takeReading(source: ReplayedBucket, kind: "restarted" | "current"): void {
    if (kind === "restarted") return this.restartBucket(source);
    const { look, view } = this.#options;
    for (const [id, token] of view.endReplay(source)) {
      if (source === "reports" && token !== null) this.#dropReport(id, token);
      else if (source === "desired") {
        this.#dropDesired(id, token);
        // Nobody deleted it: the bucket has lost it, and every operator knows.
        look.device(id);
      }
    }
  }

  #putDesired(id: string, token: string | null, entry: BusEntry): void {
    const { interner, view } = this.#options;
    if (token === null) {
      const { held, problem } = readGeneration(entry);
      if (problem !== undefined) this.#tellMalformed(BUCKETS.desiredState, entry.key, problem);
      return view.putGeneration(id, held);
    }
    const { held, problem } = readEntry(entry, token, interner);
    if (problem !== undefined) this.#tellMalformed(BUCKETS.desiredState, entry.key, problem);
    if (view.putEntry(id, interner.text(token), held)) this.#lookAtDeployment(token);
  }

  #dropDesired(id: string, token: string | null): void {
    const { look, view } = this.#options;
    const { entries, generation } = view.held(id);
    if (token === null ? generation === null : !entries.has(token)) return;
    if (token === null) view.putGeneration(id, null);
    else if (view.putEntry(id, token, null)) this.#lookAtDeployment(token);
    look.deviceLater(id);
  }

  #dropReport(id: string, uid: string): void {
    if (this.#options.view.putReport(id, uid, null) === true) this.#lookAtDeployment(uid);
    this.#lookAtUncounted(id);
  }

  /** Whether a device gets its first generation depends on what it reports of. */
  #lookAtUncounted(id: string): void {
    const { look, view } = this.#options;
    if (view.held(id).generation === null) look.deviceLater(id);
  }

  #lookAtDeployment(uid: string): void {
    const name = this.#options.view.nameOf(uid);
    if (name !== undefined) this.#options.look.deployment(name);
  }

  /** Device and last token of a key; null for a key that nobody should have written. */
  #placeOf(source: ReplayedBucket, { key }: BusEntry): readonly [id: string, token: string] | null {
    const dot = key.indexOf(".");
    try {
      const id = deviceId(dot < 0 ? key : key.slice(0, dot), "key");
      const token = dot < 0 ? "" : key.slice(dot + 1);
      // A device counts whatever stands under its name, so that the operator must too.
      return [id, source === "desired" && token !== "" ? token : this.#options.interner.text(uuid(token, "key"))];
    } catch (error) {
      if (!(error instanceof FleetError)) throw error;
      this.#tellMalformed(BUCKET_OF[source], key, error.message);
      return null;
    }
  }

  #tellMalformed(bucket: string, key: string, problem: string): void {
    this.#malformed++;
    const fields = { bucket, key: key.slice(0, 128), problem };
    // Once per document and problem: a state that stays is not said again.
    this.#options.log.state(`malformed ${bucket}/${fields.key}`, "a document cannot be read", fields, "warn");
  }
}
