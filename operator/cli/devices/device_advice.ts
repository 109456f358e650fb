/**
 * What the person on call does next about a device. An ordered list of checks: what needs a visit comes first.
 *
 * @module
 */
import { isTerminalPhase } from "../../../contracts/agent_upgrade.ts";
import type { Heartbeat } from "../../../contracts/device.ts";
import type { DeviceStatus, DeviceUpgrade } from "../../../contracts/device_resource.ts";
import {
  CLOCK_SKEW_MAX_MS,
  CREDENTIALS_EXPIRY_WARNING_MS,
  INSTALL_RESERVE_BYTES,
  STALE_AFTER_HEARTBEATS,
} from "../../../contracts/limits.ts";
import type { ReadinessStep } from "../../../contracts/readiness.ts";
import type { Advice } from "../advice.ts";
import { age, duration } from "../render/age.ts";
import { byteSize } from "../render/byte_size.ts";
import { releaseStepsFor } from "./desired_advice.ts";
import type { DeviceView } from "./device_view.ts";
import { workloadAdvice } from "./workload_advice.ts";

/**
 * Lists what is not well about a device, what needs a hand most first; empty when there is nothing to do.
 *
 * @param view Everything that is known of it
 */
export function deviceAdvice(view: DeviceView): Advice[] {
  const { status } = view.device;
  if (status === undefined) return [noStatus()];
  return [
    ...quarantined(status),
    ...silent(view, status),
    ...starting(status),
    ...failedUpgrade(status),
    ...runningUpgrade(view, status),
    ...releaseStepsFor(view, status),
    ...workloadAdvice(view),
    ...vitals(view),
  ];
}

function noStatus(): Advice {
  return {
    code: "NoStatus",
    problem: "The operator has not looked at this device yet, or no agent has ever reported under its name",
    steps: [
      "is fleet-operator running? it writes a status within seconds",
      "does the name equal deviceId in the device's /etc/harmony-fleet/agent.json?",
    ],
  };
}

function quarantined({ quarantined: refuses, upgrade }: DeviceStatus): Advice[] {
  if (!refuses) return [];
  return [{
    code: "Quarantined",
    problem:
      "The updater could not bring the previous agent back after a failed upgrade; it refuses every attempt until " +
      "root repairs the device on the spot. There is no remote way out" +
      (upgrade?.reason === undefined ? "" : ` (${upgrade.reason})`),
    steps: [
      "on the device, as root: fleet-updater status",
      "on the device, as root: fleet-updater repair   # selects the previous agent, starts it, lifts the quarantine",
      "here, until it is Online: fleetctl watch devices",
    ],
  }];
}

function silent({ heartbeat, nowMs }: DeviceView, { liveness, livenessSince, upgrade }: DeviceStatus): Advice[] {
  const seen = heartbeat.kind === "value"
    ? `${age(nowMs - heartbeat.receivedAtMs)} ago`
    : "not since the broker started";
  if (liveness === "Lost") {
    return [{
      code: "Lost",
      problem:
        `It fell silent in the middle of an upgrade (${upgrade?.phase ?? "phase unknown"}), last heartbeat ${seen}, ` +
        "and all bounds of the upgrade have passed",
      steps: [
        "give it power and network: the updater recovers by itself at boot, from its journal",
        "on its console, as root: fleet-updater status",
        "on its console, as root: journalctl -u fleet-updater -u fleet-agent --since -1h",
      ],
    }];
  }
  if (liveness === "Stale") {
    return [{
      code: "Stale",
      problem: `More than ${STALE_AFTER_HEARTBEATS} heartbeats are missing since ${livenessSince}, last one ${seen}`,
      steps: [
        "are many devices stale at once? then look at NATS and the network first: fleetctl get devices",
        "else at its power and its link; its containers go on without NATS, and it takes its intents when it is back",
        "on its console: systemctl status fleet-agent",
      ],
    }];
  }
  return [];
}

const STEP_HELP: Readonly<Partial<Record<ReadinessStep, readonly string[]>>> = {
  lock: [
    "another fleet-agent runs on the device: systemctl status fleet-agent, and end the one that was started by hand",
  ],
  config: ["on the device: fleet-agent --self-test   # names every wrong field of /etc/harmony-fleet/agent.json"],
  podman: ["on the device: systemctl status podman.socket"],
  clock: ["set the device's clock: timedatectl status, and check its time server"],
  tls: ["compare the server's certificate with caFile in /etc/harmony-fleet/agent.json, and the device's clock"],
  nats: ["check the device's login in /etc/harmony-fleet/agent.json, and its permissions on the server"],
  buckets: ["is fleet-operator running? it makes the buckets; may the device's login read them?"],
  updater: [
    "on the device, as root: systemctl status fleet-updater",
    "a corrupt journal keeps its socket closed and says so: fleet-updater status, then fleet-updater repair",
  ],
  version: ["the running binary is not the one that the updater is activating; on the device: fleet-updater status"],
  snapshot: ["NATS answers slowly: look at the server's load; the agent tries again by itself"],
};

function starting({ step, blocked }: DeviceStatus): Advice[] {
  if (step === undefined || step === "ready") {
    if (blocked === undefined) return [];
    return [{
      code: "Blocked",
      problem: `The agent runs, and something keeps it from its work: ${blocked}`,
      steps: [],
    }];
  }
  return [{
    code: step === "updater" ? "UpdaterUnavailable" : "NotReady",
    problem: `The agent is not ready: it waits at step ${step}${blocked === undefined ? "" : `: ${blocked}`}`,
    steps: STEP_HELP[step] ?? ["on its console: journalctl -u fleet-agent --since -10m"],
  }];
}

function failedUpgrade(status: DeviceStatus): Advice[] {
  const { quarantined: refuses, upgrade, desiredReason } = status;
  if (refuses || (desiredReason !== "Failed" && desiredReason !== "RolledBack")) return [];
  if (upgrade?.phase !== "failed") return [failedEarlier(status)];
  const release = upgrade.releaseName ?? "NAME";
  const what = desiredReason === "RolledBack"
    ? "was started, did not hold, and was rolled back; the previous agent runs again"
    : "failed before anything was switched; the previous agent never stopped";
  return [{
    code: desiredReason,
    problem: `${upgrade.targetVersion ?? "The new version"} ${what} (${upgrade.reason ?? "no reason given"})`,
    steps: failureSteps(upgrade, release),
  }];
}

function failedEarlier({ desiredRelease = "NAME", desiredReason = "Failed" }: DeviceStatus): Advice {
  return {
    code: desiredReason,
    problem: `Release ${desiredRelease} has failed here before, and is not tried again by itself`,
    steps: [`fleetctl release retry ${desiredRelease}   # once its cause is mended`],
  };
}

function failureSteps({ failureClass }: DeviceUpgrade, release: string): string[] {
  const retry = `fleetctl release retry ${release}   # it is not tried again by itself`;
  switch (failureClass) {
    case "version":
      return [
        "the binary is to blame: read its post-mortem above, and pause the release if other devices are still to come:",
        `fleetctl release pause ${release}`,
        "mend it and apply a release of a higher version; that one is tried at once",
      ];
    case "environment":
      return [
        "the device's surroundings are to blame (network, NATS, DNS, TLS, disk or clock): mend them, then",
        retry,
      ];
    case "policy":
      return [
        "what the release says and what was fetched do not agree: compare url, sha256, maxBytes and version in",
        `fleetctl get release ${release} -o yaml`,
        "and apply it corrected; a corrected artifact is tried at once",
      ];
    default:
      return [
        "on the device, as root: journalctl -u fleet-updater --since -1h",
        "report it as a defect; to try again:",
        retry,
      ];
  }
}

function runningUpgrade({ nowMs }: DeviceView, { upgrade, liveness }: DeviceStatus): Advice[] {
  if (upgrade === undefined || isTerminalPhase(upgrade.phase) || liveness !== "Online") return [];
  if (upgrade.phase !== "rolling-back") return [];
  return [{
    code: "RollingBack",
    problem: `It brings the previous agent back since ${age(nowMs - Date.parse(upgrade.updatedAt))}` +
      (upgrade.reason === undefined ? "" : ` (${upgrade.reason})`),
    steps: [
      "wait: it repeats by itself, without end where network, NATS or clock keep the previous agent from starting",
    ],
  }];
}

function vitals({ heartbeat: reported, nowMs }: DeviceView): Advice[] {
  if (reported.kind !== "value") return [];
  const { deferred, vitals: seen }: Heartbeat = reported.value;
  const advice: Advice[] = [];
  if (deferred !== undefined) {
    advice.push({
      code: "Deferred",
      problem:
        `It puts an attempt off since ${deferred.since} (${deferred.reason}), and takes it by itself when it can`,
      steps: [],
    });
  }
  const { clockSkewMs, credentialsExpireAt } = seen;
  if (clockSkewMs !== undefined && Math.abs(clockSkewMs) > CLOCK_SKEW_MAX_MS) {
    advice.push({
      code: "ClockWrong",
      problem: `Its clock is ${duration(Math.abs(clockSkewMs))} ${
        clockSkewMs > 0 ? "ahead of" : "behind"
      } the server's`,
      steps: ["on the device: timedatectl status; check its time server"],
    });
  }
  for (const [mount, freeBytes] of Object.entries(seen.freeBytes)) {
    if (freeBytes >= INSTALL_RESERVE_BYTES || mount === "/boot") continue;
    advice.push({
      code: "DiskFull",
      problem: `${mount} has ${byteSize(freeBytes)} left, less than the ${
        byteSize(INSTALL_RESERVE_BYTES)
      } that stay free`,
      steps: [`on the device: du -xh ${mount} | sort -h | tail   # old binaries in /usr/lib/harmony-fleet may go`],
    });
  }
  const leftMs = credentialsExpireAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(credentialsExpireAt) - nowMs;
  if (leftMs < CREDENTIALS_EXPIRY_WARNING_MS) {
    advice.push({
      code: "CredentialsExpire",
      problem: `Its credentials or a certificate ${leftMs < 0 ? "expired" : "expire"} at ${credentialsExpireAt}`,
      steps: ["renew them before the device can connect no more"],
    });
  }
  return advice;
}
