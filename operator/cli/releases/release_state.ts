/**
 * What a release is about, in a word and a colour.
 *
 * @module
 */
import type { AgentRelease, AgentReleaseStatus } from "../../../contracts/agent_release.ts";
import type { Tone } from "../render/paint.ts";

/** States of a release, as its table shows them. */
export type ReleaseState =
  | "New"
  | "NotAccepted"
  | "Conflict"
  | "NoTargets"
  | "Complete"
  | "Paused"
  | "Upgrading"
  | "Waiting"
  | "Stuck";

/**
 * The state of a release.
 *
 * @param release The release
 */
export function releaseState({ spec, status }: AgentRelease): ReleaseState {
  if (status === undefined) return "New";
  const holds = (type: string, value: string) =>
    status.conditions?.some((condition) => condition.type === type && condition.status === value) === true;
  if (holds("Accepted", "False")) return "NotAccepted";
  if (holds("Conflict", "True")) return "Conflict";
  if (status.targets === 0) return "NoTargets";
  if (status.current === status.targets) return "Complete";
  if (spec.paused) return "Paused";
  if (status.upgrading > 0) return "Upgrading";
  return pendingCount(status) > 0 ? "Waiting" : "Stuck";
}

/**
 * Targets that stand in no count: they wait for their attempt, or for the device to take it.
 *
 * @param status The status of a release
 */
export function pendingCount(status: AgentReleaseStatus): number {
  const { targets, current, upgrading, failed, rolledBack, quarantined, lost, ineligible } = status;
  return Math.max(0, targets - current - upgrading - failed - rolledBack - quarantined - lost - ineligible);
}

const TONES: Readonly<Record<ReleaseState, Tone>> = {
  New: "faint",
  NotAccepted: "bad",
  Conflict: "bad",
  NoTargets: "faint",
  Complete: "good",
  Paused: "busy",
  Upgrading: "busy",
  Waiting: "busy",
  Stuck: "bad",
};

/** Colour of a state. */
export function releaseTone(state: ReleaseState): Tone {
  return TONES[state];
}

/**
 * Counts of targets that are not well: `1 failed, 2 rolled-back`; empty when there are none.
 *
 * @param status The status of a release
 */
export function problemText(status: AgentReleaseStatus): string {
  const { failed, rolledBack, quarantined, lost, ineligible } = status;
  return Object.entries({ failed, "rolled-back": rolledBack, quarantined, lost, ineligible })
    .filter(([, count]) => count > 0).map(([name, count]) => `${count} ${name}`).join(", ");
}
