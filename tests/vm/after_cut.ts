/**
 * What a device must be and become after its power was cut, by the recovery table of `Fleet agent upgrades`: stated here
 * once more, and not taken from the updater.
 *
 * @module
 */
import type { UpgradePhase } from "../../contracts/agent_upgrade.ts";
import type { DurablePhase } from "../../contracts/updater_protocol.ts";
import type { Cut } from "./cut_plan.ts";

/** Where the journal stands: `none` when it does not know the attempt. */
export type JournalState = "none" | `${DurablePhase}/${string}`;

/** What the disk of a device held when it was booted after a cut. */
export interface FoundState {
  readonly journal: JournalState;
  /** Version that the link selects. */
  readonly link: string;
  /** Phase of the attempt that the device had published last; null when it had published none. */
  readonly published: UpgradePhase | null;
}

/** The versions of an attempt. */
export interface Versions {
  readonly previous: string;
  readonly target: string;
}

/** How an attempt must end. */
export interface ExpectedEnd {
  readonly phase: "complete" | "failed";
  readonly version: string;
  /** Absent where more than one is right. */
  readonly reason?: string;
}

/** What an attempt leads to that nothing interrupts. */
function undisturbed(release: Cut["release"], { previous, target }: Versions): ExpectedEnd {
  return release === "good"
    ? { phase: "complete", version: target }
    : { phase: "failed", version: previous, reason: "ExitedBeforeReady" };
}

/**
 * How the attempt must end, from what the disk held.
 *
 * @param found What it held
 * @param release Whether the release was a good one
 * @param versions Of the attempt
 */
export function expectedEnd(found: FoundState, release: Cut["release"], versions: Versions): ExpectedEnd | null {
  switch (found.journal.split("/")[0]) {
    // The intent is still there: the agent finds it when it is back.
    case "none":
      return undisturbed(release, versions);
    case "preparing":
    case "activating":
      return { phase: "failed", version: versions.previous, reason: "Interrupted" };
    case "rolling-back":
    case "failed":
      return { phase: "failed", version: versions.previous };
    case "committed":
      return release === "good" ? { phase: "complete", version: versions.target } : null;
    default:
      return null;
  }
}

/** Which versions the link may select, by durable phase. */
const LINKS: Readonly<Record<string, readonly (keyof Versions)[]>> = {
  none: ["previous"],
  preparing: ["previous"],
  activating: ["previous", "target"],
  "rolling-back": ["previous", "target"],
  failed: ["previous"],
  committed: ["target"],
};

/** Durable phases that may be found once a phase has been published. */
const DURABLE_AFTER: Readonly<Record<UpgradePhase, readonly string[]>> = {
  // The agent says this before it asks the updater.
  preparing: ["none", "preparing", "activating", "rolling-back", "failed", "committed"],
  stopping: ["activating", "rolling-back", "failed", "committed"],
  starting: ["activating", "rolling-back", "failed", "committed"],
  complete: ["committed"],
  "rolling-back": ["rolling-back", "failed"],
  failed: ["failed"],
  "rollback-failed": [],
};

/**
 * What is wrong with what a cut has left on the disk; null when it is one of the states that the table knows.
 *
 * @param found What the disk held
 * @param versions Of the attempt
 */
export function foundProblem(found: FoundState, versions: Versions): string | null {
  const phase = found.journal.split("/")[0] ?? "";
  const links = (LINKS[phase] ?? []).map((name) => versions[name]);
  if (!links.includes(found.link)) return `the link selects ${found.link} while the journal is ${found.journal}`;
  if (found.published !== null && !DURABLE_AFTER[found.published].includes(phase)) {
    return `${found.published} was published, and the journal is ${found.journal}`;
  }
  return null;
}
