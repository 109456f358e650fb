/**
 * Counts of every deployment, kept up to date by what each device contributes: one document's change costs the same
 * whatever the fleet's size (DESIGN 1, promise 5).
 *
 * A device is a target while its entry stands in `desired-state`. What it reports is counted under the generation of that
 * entry, so that a changed spec needs no look at the targets: all that were told another generation are pending.
 *
 * @module
 */
import { type DeploymentTargetState, deploymentTargetState, type ReportFacts } from "./deployment_target.ts";
import { type LatestError, LatestErrors } from "./latest_errors.ts";

/** What a device says of a deployment. */
export interface ReportedState extends ReportFacts {
  readonly error?: string;
  /** Receipt at the broker, in ms since the epoch. */
  readonly receivedAtMs: number;
}

/** What a device adds to a deployment: that it was told a generation, and what it says of it. */
export interface Contribution {
  /** Generation of the entry; 0 for an entry that cannot be read. */
  readonly generation: number;
  readonly report: ReportedState | null;
}

/** Counts of one deployment. */
export type DeploymentFigures = Readonly<Record<DeploymentTargetState, number>> & { readonly targets: number };

interface Tally {
  targets: number;
  ready: number;
  failed: number;
  readonly errors: LatestErrors;
}

/** Counts of every deployment. */
export class DeploymentCounts {
  /** By the deployment's UID, and the generation that its targets were told. */
  readonly #tallies = new Map<string, Map<number, Tally>>();

  /**
   * Takes what a device adds to a deployment in place of what it added before.
   *
   * @param uid UID of the deployment
   * @param deviceId The device
   * @param before What it added; undefined for nothing
   * @param after What it adds
   * @returns whether any figure may have changed
   */
  move(uid: string, deviceId: string, before: Contribution | undefined, after: Contribution | undefined): boolean {
    if (sameContribution(before, after)) return false;
    if (before !== undefined) this.#count(uid, deviceId, before, -1);
    if (after !== undefined) this.#count(uid, deviceId, after, 1);
    return true;
  }

  /**
   * Counts of a deployment.
   *
   * @param uid Its UID
   * @param generation Generation that its targets shall run
   */
  countsOf(uid: string, generation: number): DeploymentFigures {
    const tallies = this.#tallies.get(uid);
    let targets = 0;
    for (const tally of tallies?.values() ?? []) targets += tally.targets;
    const { ready, failed } = tallies?.get(generation) ?? { ready: 0, failed: 0 };
    return { targets, ready, failed, pending: targets - ready - failed };
  }

  /** The latest error among the targets that failed a generation. */
  latestErrorOf(uid: string, generation: number): LatestError | null {
    return this.#tallies.get(uid)?.get(generation)?.errors.latest ?? null;
  }

  #count(uid: string, deviceId: string, { generation, report }: Contribution, by: 1 | -1): void {
    let tallies = this.#tallies.get(uid);
    if (tallies === undefined) this.#tallies.set(uid, tallies = new Map());
    let tally = tallies.get(generation);
    if (tally === undefined) {
      tally = { targets: 0, ready: 0, failed: 0, errors: new LatestErrors() };
      tallies.set(generation, tally);
    }
    tally.targets += by;
    const state = deploymentTargetState(generation, generation, report);
    if (state !== "pending") tally[state] += by;
    const hasFailed = by > 0 && state === "failed" && report !== null;
    const error = hasFailed ? report.error : undefined;
    tally.errors.set(deviceId, error, error === undefined ? "" : new Date(report?.receivedAtMs ?? 0).toISOString());
    if (tally.targets === 0) tallies.delete(generation);
    if (tallies.size === 0) this.#tallies.delete(uid);
  }
}

function sameContribution(a: Contribution | undefined, b: Contribution | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  if (a.generation !== b.generation || (a.report === null) !== (b.report === null)) return false;
  const [left, right] = [a.report, b.report];
  return left?.generation === right?.generation && left?.phase === right?.phase && left?.error === right?.error;
}
