/**
 * Samples of tasks and system upgrades: a run, its frozen plan, one device's attempt, and the status that came of it.
 *
 * @module
 */
import { canonicalDigest, sha256Hex } from "../../contracts/digest.ts";
import { API_VERSION } from "../../contracts/resource.ts";
import { SYSTEM_UPGRADE_PHASES, type SystemUpgradeStatus } from "../../contracts/system_upgrade.ts";
import type { TaskHistoryRecord } from "../../contracts/task_plan.ts";

/** UID of the run. */
export const runId = "7d2f4c1e-7d52-4a7e-9f5e-0d6f1a2b3c4d";
const nonce = "8e3f4c1e-7d52-4a7e-9f5e-0d6f1a2b3c4d";
const createdAt = "2026-11-30T09:00:00.000Z";
const expiresAt = "2026-11-30T15:00:00.000Z";
const operation = "AptFullUpgradeV1";
const bootIdBefore = "2f1c3c0e-95ad-4f7e-8c25-4f0f8c1f9f10";
const bootIdAfter = "0b7a0e0c-53f0-4f4e-9d0e-3a1f1a0f7c55";

/** An attempt as the operator writes it. */
export const systemAttempt = {
  schema: 1,
  attemptId: runId,
  runId,
  deviceId: "device-1",
  operation,
  createdAt,
  expiresAt,
} as const;

const identity = {
  schema: 1,
  attemptId: runId,
  runId,
  deviceId: "device-1",
  attemptDigest: canonicalDigest(systemAttempt),
  operation,
};
const minute = (minutes: number) => `2026-11-30T09:${String(minutes).padStart(2, "0")}:00.000Z`;

/** Status of an attempt that went well, with every phase and the agent's record of a heartbeat. */
export const systemSucceeded: SystemUpgradeStatus = {
  ...identity,
  phase: "succeeded",
  reason: "Upgraded",
  startedAt: minute(1),
  updatedAt: minute(9),
  completedAt: minute(9),
  transitions: SYSTEM_UPGRADE_PHASES.slice(0, -1).map((phase, index) => ({ phase, at: minute(index + 1) })),
  summary: {
    upgraded: { count: 3, names: ["linux-image-amd64", "libssl3", "libc6:i386"] },
    installed: { count: 1, names: ["linux-image-6.12.57-amd64"] },
    removed: { count: 0, names: [] },
    kept: { count: 1, names: ["docker-ce"] },
    downloadedBytes: 131_072_000,
    kernelBefore: "6.12.48-amd64",
    kernelAfter: "6.12.57-amd64",
    bootIdBefore,
    bootIdAfter,
  },
  journalUnit: `fleet-system-upgrade-${runId}.service`,
  firstHeartbeat: { sequence: 1, bootId: bootIdAfter, at: "2026-11-30T09:09:04.000Z" },
};

/** Status of an attempt that failed in a command. */
export const systemFailed: SystemUpgradeStatus = {
  ...identity,
  phase: "failed",
  reason: "IndexRefreshFailed",
  failureClass: "environment",
  detail: "3 tries within 6 minutes",
  error: "apt-get update: Could not resolve 'deb.example'",
  startedAt: minute(1),
  updatedAt: minute(7),
  completedAt: minute(7),
  transitions: [
    { phase: "accepted", at: minute(1) },
    { phase: "checking", at: minute(1) },
    { phase: "refreshing", at: minute(1) },
    { phase: "failed", at: minute(7), code: "IndexRefreshFailed" },
  ],
  failedCommand: {
    command: "apt-get update",
    exitCode: 100,
    signal: "SIGTERM",
    timedOut: false,
    durationMs: 20_140,
    lastLines: ["Err:1 https://deb.example stable InRelease", "  Could not resolve 'deb.example'"],
  },
  journalUnit: "fleet-updater.service",
};

const chunk = { schema: 1, runId, nonce, index: 0, canaries: ["device-1"], others: ["device-2", "device-3"] };
/** The one chunk of a small plan. */
export const planChunk = chunk;

/** The manifest of the same plan. */
export const planManifest = {
  schema: 1,
  runId,
  nonce,
  operation,
  targets: 3,
  canaries: 1,
  incapable: 1,
  chunks: [sha256Hex(JSON.stringify(chunk))],
  createdAt: "2026-11-30T09:00:00.200Z",
  expiresAt,
};

const spec = {
  allowedGroups: ["production"],
  targetSelector: { matchLabels: { site: "basel" } },
  deadlineSeconds: 21_600,
  systemUpgradeV1: {},
};
const counts = { targets: 3, canaries: 1, released: 3, succeeded: 2, failed: 1, incapable: 1 };
const lastError = "device-3: IndexRefreshFailed: apt-get update: Could not resolve 'deb.example'";

/** A run as the store returns it. */
export const taskRun = {
  apiVersion: API_VERSION,
  kind: "TaskRun",
  metadata: {
    name: "upgrade-basel",
    labels: { site: "basel" },
    uid: runId,
    resourceVersion: "51",
    generation: 1,
    creationTimestamp: createdAt,
  },
  spec,
  status: {
    phase: "Failed",
    reason: "DevicesFailed",
    ...counts,
    startedAt: planManifest.createdAt,
    expiresAt,
    completedAt: "2026-11-30T09:40:00.000Z",
    lastError,
    conditions: [{
      type: "Complete",
      status: "False",
      reason: "DevicesFailed",
      message: "2 of 3 targets succeeded, 1 failed",
      lastTransitionTime: "2026-11-30T09:40:00.000Z",
      observedGeneration: 1,
    }],
    observedGeneration: 1,
  },
};

/** What stays of the same run. */
export const historyRecord: TaskHistoryRecord = {
  schema: 1,
  runId,
  name: taskRun.metadata.name,
  spec,
  phase: "Failed",
  reason: "DevicesFailed",
  ...counts,
  lateSucceeded: 0,
  lateFailed: 0,
  createdAt,
  startedAt: planManifest.createdAt,
  expiresAt,
  completedAt: taskRun.status.completedAt,
  lastError,
};
