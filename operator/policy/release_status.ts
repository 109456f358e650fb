/**
 * The next status of an `AgentRelease`: counts, the latest error, and conditions that say in a line what is stuck.
 *
 * @module
 */
import type { AgentReleaseSpec, AgentReleaseStatus } from "../../contracts/agent_release.ts";
import { bounded } from "../../contracts/formats.ts";
import { acceptedCondition } from "./accepted_condition.ts";
import { type ConditionInput, nextConditions } from "./conditions.ts";
import type { LatestError } from "./latest_errors.ts";
import type { TargetCounts } from "./release_counts.ts";

/** What a release's status is made of. */
export interface ReleaseStatusFacts {
  readonly nowMs: number;
  readonly generation: number;
  readonly spec: AgentReleaseSpec;
  readonly counts: TargetCounts;
  /** Devices for which the release is tied with another of the same priority. */
  readonly ties: number;
  readonly latestError: LatestError | null;
}

/**
 * Makes the next status.
 *
 * @param previous What was written last
 * @param facts What is known now
 */
export function nextReleaseStatus(
  previous: AgentReleaseStatus | undefined,
  facts: ReleaseStatusFacts,
): AgentReleaseStatus {
  const { counts, latestError } = facts;
  return {
    targets: counts.targets,
    current: counts.current,
    upgrading: counts.upgrading,
    failed: counts.failed,
    rolledBack: counts.rolledBack,
    quarantined: counts.quarantined,
    lost: counts.lost,
    ineligible: counts.ineligible,
    ...(latestError === null ? {} : { lastError: bounded(`${latestError.deviceId}: ${latestError.error}`) }),
    conditions: nextConditions(previous?.conditions, releaseConditions(facts), facts.nowMs, facts.generation),
    observedGeneration: facts.generation,
  };
}

function releaseConditions(facts: ReleaseStatusFacts): ConditionInput[] {
  return [acceptedCondition(facts.spec, "release"), ready(facts), progressing(facts), degraded(facts), conflict(facts)];
}

function ready({ spec, counts }: ReleaseStatusFacts): ConditionInput {
  const done = counts.targets > 0 && counts.current === counts.targets;
  const reason = counts.targets === 0 ? "NoTargets" : done ? "AllCurrent" : "NotAllCurrent";
  const message = counts.targets === 0
    ? "the release decides for no device"
    : `${counts.current} of ${counts.targets} targets run ${spec.version}`;
  return { type: "Ready", status: done ? "True" : "False", reason, message };
}

function progressing({ spec, counts }: ReleaseStatusFacts): ConditionInput {
  const { upgrading, pending } = counts;
  const message = `${upgrading} upgrading, ${pending} waiting`;
  if (upgrading > 0) return { type: "Progressing", status: "True", reason: "Upgrading", message };
  if (spec.paused) return { type: "Progressing", status: "False", reason: "Paused", message };
  if (pending > 0) return { type: "Progressing", status: "True", reason: "Waiting", message };
  return { type: "Progressing", status: "False", reason: "NothingLeft", message };
}

function degraded({ counts }: ReleaseStatusFacts): ConditionInput {
  const { failed, rolledBack, quarantined, lost, ineligible } = counts;
  const parts = Object.entries({ failed, "rolled back": rolledBack, quarantined, lost, ineligible })
    .filter(([, count]) => count > 0).map(([what, count]) => `${count} ${what}`);
  const broken = failed + rolledBack + quarantined + lost > 0;
  const reason = broken ? "DevicesFailed" : ineligible > 0 ? "DevicesIneligible" : "NoFailures";
  const message = parts.length === 0 ? "no target has failed" : parts.join(", ");
  return { type: "Degraded", status: parts.length === 0 ? "False" : "True", reason, message };
}

function conflict({ spec, ties }: ReleaseStatusFacts): ConditionInput {
  if (ties === 0) {
    return { type: "Conflict", status: "False", reason: "NoConflict", message: "no release competes with it" };
  }
  const message =
    `on ${ties} ${ties === 1 ? "device" : "devices"} another release has priority ${spec.priority} too: ` +
    "neither decides";
  return { type: "Conflict", status: "True", reason: "PriorityTie", message };
}
