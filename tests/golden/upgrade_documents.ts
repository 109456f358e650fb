/**
 * Samples of an upgrade's documents: the attempt, and the status of attempts that went each way.
 *
 * @module
 */
import type { AgentUpgradeStatus } from "../../contracts/agent_upgrade.ts";
import { canonicalDigest } from "../../contracts/digest.ts";
import { releaseIdentity } from "../../contracts/release_identity.ts";

const url = "https://artifacts.example/fleet-agent-v1.4.0-x86_64";
const sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
/** An artifact of a release. */
export const artifact = { arch: "x86_64", form: "compiled", url, sha256, maxBytes: 83_886_080 } as const;
/** Identity of the release that the attempt is for. */
export const identity = releaseIdentity({ version: "1.4.0", revision: 1, artifact });
/** An attempt as the operator writes it. */
export const attempt = {
  schema: 1,
  attemptId: "0197b3a2-4f6c-7d11-8a55-6f2f4f0d9a11",
  deviceId: "device-1",
  targetVersion: "1.4.0",
  arch: "x86_64",
  artifact: { url, maxBytes: 83_886_080, sha256 },
  releaseIdentity: identity,
};

/** The same attempt of a newer writer: what is unknown here is ignored, and still bound by the digest. */
export const newerAttempt = { ...attempt, rollout: { ring: "canary", weight: 0.5 }, note: "größer" };

const identityOfAttempt = {
  schema: 1,
  attemptId: attempt.attemptId,
  deviceId: "device-1",
  attemptDigest: canonicalDigest(attempt),
  targetVersion: "1.4.0",
  artifactSha256: sha256,
  releaseIdentity: identity,
};

/** Status of an attempt that is being prepared. */
export const statusPreparing: AgentUpgradeStatus = {
  ...identityOfAttempt,
  phase: "preparing",
  startedAt: "2026-11-30T08:00:00.000Z",
  updatedAt: "2026-11-30T08:00:00.000Z",
  journalUnit: "fleet-updater.service",
  transitions: [{ phase: "preparing", at: "2026-11-30T08:00:00.000Z" }],
};

/** Status of an attempt that ended well. */
export const statusComplete: AgentUpgradeStatus = {
  ...identityOfAttempt,
  phase: "complete",
  startedAt: "2026-11-30T08:00:00.000Z",
  updatedAt: "2026-11-30T08:00:42.120Z",
  drainMs: 180,
  bootId: "2f1c3c0e-95ad-4f7e-8c25-4f0f8c1f9f10",
  invocationId: "7c3a2d2d5f0c4d1f9b8a7e6d5c4b3a29",
  journalUnit: "fleet-agent.service",
  transitions: [
    { phase: "preparing", at: "2026-11-30T08:00:00.000Z" },
    { phase: "stopping", at: "2026-11-30T08:00:38.000Z" },
    { phase: "starting", at: "2026-11-30T08:00:38.410Z" },
    { phase: "complete", at: "2026-11-30T08:00:42.120Z" },
  ],
};

/** Status of an attempt whose candidate never became ready, with everything that is known about it. */
export const statusRolledBack: AgentUpgradeStatus = {
  ...identityOfAttempt,
  phase: "failed",
  reason: "ExitedBeforeReady",
  failureClass: "version",
  detail: "The previous agent 1.3.0 runs again",
  error: "The candidate exited with code 1 before READY",
  startedAt: "2026-11-30T08:00:00.000Z",
  updatedAt: "2026-11-30T08:00:51.730Z",
  drainMs: 180,
  bootId: "2f1c3c0e-95ad-4f7e-8c25-4f0f8c1f9f10",
  invocationId: "c0ffee2d5f0c4d1f9b8a7e6d5c4b3a29",
  journalUnit: "fleet-agent.service",
  transitions: [
    { phase: "preparing", at: "2026-11-30T08:00:00.000Z" },
    { phase: "stopping", at: "2026-11-30T08:00:38.000Z" },
    { phase: "starting", at: "2026-11-30T08:00:38.410Z" },
    { phase: "rolling-back", at: "2026-11-30T08:00:40.020Z", code: "ExitedBeforeReady" },
    { phase: "failed", at: "2026-11-30T08:00:51.730Z", code: "ExitedBeforeReady" },
  ],
  postMortem: {
    stage: "start",
    result: "exit-code",
    exitCode: 1,
    signal: "SIGTERM",
    statusText: "[config] reading /etc/harmony-fleet/agent.json",
    failedCheck: { name: "config", reason: "nats.servers: is missing" },
    lastLines: ["fleet-agent 1.4.0 starting", "Cannot start: nats.servers: is missing"],
    durationMs: 1_610,
    unit: "fleet-agent.service",
    invocationId: "7c3a2d2d5f0c4d1f9b8a7e6d5c4b3a29",
  },
};

/** Status of an intent that was rejected before the updater saw it, and named no valid UUID. */
export const statusRejected: AgentUpgradeStatus = {
  schema: 1,
  rejectedRevision: 4_711,
  deviceId: "device-1",
  phase: "failed",
  reason: "InvalidIntent",
  failureClass: "policy",
  error: "attemptId: is not a lower-case UUID",
  startedAt: "2026-11-30T08:00:00.000Z",
  updatedAt: "2026-11-30T08:00:00.000Z",
  transitions: [{ phase: "failed", at: "2026-11-30T08:00:00.000Z", code: "InvalidIntent" }],
};
