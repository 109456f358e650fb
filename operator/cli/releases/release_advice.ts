/**
 * What the person on call does next about a release.
 *
 * @module
 */
import type { AgentRelease, AgentReleaseSpec, AgentReleaseStatus } from "../../../contracts/agent_release.ts";
import type { Advice } from "../advice.ts";
import { selectorFlags } from "../render/selector.ts";
import { releaseState } from "./release_state.ts";

/**
 * Lists what is not well about a release; empty when there is nothing to do.
 *
 * @param release The release
 */
export function releaseAdvice(release: AgentRelease): Advice[] {
  const { metadata: { name }, spec, status } = release;
  if (status === undefined) {
    return [{
      code: "NoStatus",
      problem: "The operator has not looked at it yet",
      steps: ["is fleet-operator running? it writes a status within seconds"],
    }];
  }
  return [...placement(release), ...failures(name, status), ...paused(name, spec, status)];
}

function placement(release: AgentRelease): Advice[] {
  const { spec } = release;
  switch (releaseState(release)) {
    case "NotAccepted":
      return [{
        code: "NotAccepted",
        problem: "The operator does not understand the whole spec, and so places it nowhere: see its conditions",
        steps: ["use targetSelector.matchLabels, and apply it again"],
      }];
    case "Conflict":
      return [{
        code: "Conflict",
        problem: `Another release has priority ${spec.priority} too, on devices of both: neither is installed there`,
        steps: [
          "fleetctl get releases   # which one has the same PRIORITY",
          "give the one that shall win a higher spec.priority, or narrow a targetSelector, and apply it",
        ],
      }];
    case "NoTargets":
      return [{
        code: "NoTargets",
        problem:
          "It decides for no device: none is in an allowed group and has its labels, or all have a release of higher priority",
        steps: [
          `compare allowedGroups and targetSelector with the devices: fleetctl get devices${
            selectorFlags(spec.targetSelector.matchLabels ?? {})
          }`,
        ],
      }];
    default:
      return [];
  }
}

function failures(name: string, status: AgentReleaseStatus): Advice[] {
  const { failed, rolledBack, quarantined, lost, ineligible } = status;
  const list = (phase: string) => `fleetctl release devices ${name} --phase ${phase}`;
  const advice: Advice[] = [];
  if (quarantined > 0) {
    advice.push({
      code: "Quarantined",
      problem: `${devices(quarantined)} could not get the previous agent back: root must repair each on the spot`,
      steps: [
        list("quarantined"),
        `fleetctl release pause ${name}   # before more follow`,
        "on each, as root: fleet-updater repair",
      ],
    });
  }
  if (lost > 0) {
    advice.push({
      code: "Lost",
      problem: `${devices(lost)} fell silent in the middle of the upgrade`,
      steps: [list("lost"), "give them power and network: each updater recovers by itself at boot"],
    });
  }
  if (rolledBack > 0) {
    advice.push({
      code: "RolledBack",
      problem: `${devices(rolledBack)} started it and went back to the previous agent`,
      steps: [list("rolled-back"), "fleetctl describe device NAME   # its post-mortem says why", retryStep(name)],
    });
  }
  if (failed > 0) {
    advice.push({
      code: "Failed",
      problem: `${devices(failed)} refused or could not prepare it; their agent never stopped`,
      steps: [list("failed"), "fleetctl describe device NAME   # says why", retryStep(name)],
    });
  }
  if (ineligible > 0) {
    advice.push({
      code: "Ineligible",
      problem: `${devices(ineligible)} cannot take it: no artifact that fits, or no updater that can fetch it`,
      steps: [`${list("ineligible")}   # REASON or STATE says which`],
    });
  }
  return advice;
}

function retryStep(name: string): string {
  return `mend the cause; then a higher version is tried at once, and this one with: fleetctl release retry ${name}`;
}

function devices(count: number): string {
  return count === 1 ? "1 device" : `${count} devices`;
}

function paused(name: string, spec: AgentReleaseSpec, { targets, current }: AgentReleaseStatus): Advice[] {
  if (!spec.paused || current === targets) return [];
  return [{
    code: "Paused",
    problem: "It is paused: what runs finishes, and no new attempt is written",
    steps: [`fleetctl release resume ${name}`],
  }];
}
