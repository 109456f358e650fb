/**
 * Counts of every release, kept up to date by what each device contributes: one device's change costs the same
 * whatever the fleet's size (DESIGN 1, promise 5).
 *
 * @module
 */
import type { DeviceStatus } from "../../contracts/device_resource.ts";
import { type LatestError, LatestErrors } from "./latest_errors.ts";
import { TARGET_STATES, type TargetState, targetState } from "./target_state.ts";

/** Counts of one release. */
export type TargetCounts = Readonly<Record<TargetState, number>> & { readonly targets: number };

/** What a device adds to its release. */
interface Contribution {
  readonly release: string | undefined;
  readonly state: TargetState | undefined;
  readonly error: string | undefined;
  readonly at: string;
  readonly tied: readonly string[];
}

interface Tally {
  readonly counts: Record<TargetState, number>;
  targets: number;
  /** Devices for which this release is tied. */
  ties: number;
  readonly errors: LatestErrors;
}

const NOTHING: readonly string[] = [];
const FAILING_STATES: ReadonlySet<TargetState> = new Set(["failed", "rolledBack", "quarantined", "lost"]);

/** Counts of every release. */
export class ReleaseCounts {
  readonly #contributions = new Map<string, Contribution>();
  readonly #tallies = new Map<string, Tally>();

  /**
   * Takes a device's status in place of its last one.
   *
   * @param deviceId The device
   * @param status Its status; undefined when it has none or is gone
   * @returns the releases whose figures have changed
   */
  set(deviceId: string, status: DeviceStatus | undefined): string[] {
    const before = this.#contributions.get(deviceId);
    const after = status === undefined ? undefined : contributionOf(status);
    if (sameContribution(before, after)) return [];
    const changed = new Set<string>();
    if (before !== undefined) this.#count(deviceId, before, -1, changed);
    if (after === undefined) this.#contributions.delete(deviceId);
    else {
      this.#contributions.set(deviceId, after);
      this.#count(deviceId, after, 1, changed);
    }
    return [...changed];
  }

  /** Counts of a release. */
  countsOf(release: string): TargetCounts {
    const tally = this.#tallies.get(release);
    return tally === undefined ? { ...zeroes(), targets: 0 } : { ...tally.counts, targets: tally.targets };
  }

  /** Number of devices for which a release is tied with others. */
  tiesOf(release: string): number {
    return this.#tallies.get(release)?.ties ?? 0;
  }

  /** The latest error among a release's targets, the same for whoever asks. */
  latestErrorOf(release: string): LatestError | null {
    return this.#tallies.get(release)?.errors.latest ?? null;
  }

  #count(deviceId: string, contribution: Contribution, by: 1 | -1, changed: Set<string>): void {
    for (const name of contribution.tied) {
      this.#tally(name).ties += by;
      this.#settle(name, changed);
    }
    const { release, state } = contribution;
    if (release === undefined || state === undefined) return;
    const tally = this.#tally(release);
    tally.targets += by;
    tally.counts[state] += by;
    tally.errors.set(deviceId, by < 0 ? undefined : contribution.error, contribution.at);
    this.#settle(release, changed);
  }

  #tally(release: string): Tally {
    let tally = this.#tallies.get(release);
    if (tally === undefined) {
      tally = { counts: zeroes(), targets: 0, ties: 0, errors: new LatestErrors() };
      this.#tallies.set(release, tally);
    }
    return tally;
  }

  #settle(release: string, changed: Set<string>): void {
    changed.add(release);
    const tally = this.#tallies.get(release);
    if (tally !== undefined && tally.targets === 0 && tally.ties === 0) this.#tallies.delete(release);
  }
}

function zeroes(): Record<TargetState, number> {
  return Object.fromEntries(TARGET_STATES.map((state) => [state, 0])) as Record<TargetState, number>;
}

function contributionOf(status: DeviceStatus): Contribution {
  const state = targetState(status);
  const failing = state !== undefined && FAILING_STATES.has(state);
  return {
    release: status.desiredRelease,
    state,
    error: failing ? status.upgrade?.error : undefined,
    at: failing ? status.upgrade?.updatedAt ?? "" : "",
    tied: status.tiedReleases ?? NOTHING,
  };
}

function sameContribution(a: Contribution | undefined, b: Contribution | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.release === b.release && a.state === b.state && a.error === b.error && a.at === b.at &&
    a.tied.length === b.tied.length && a.tied.every((name, index) => name === b.tied[index]);
}
