/**
 * Samples of what a device says of itself, and of the resources that people see.
 *
 * @module
 */
import { API_VERSION } from "../../contracts/resource.ts";
import { artifact, attempt, identity } from "./upgrade_documents.ts";

/** Identity of a resource. */
export const uid = "5b0f4c1e-7d52-4a7e-9f5e-0d6f1a2b3c4d";
/** What an updater can do. */
export const capabilities = ["https"];
const os = { name: "Debian GNU/Linux", version: "13", kernel: "6.12.48-amd64" };

/** Device info of a ready agent. */
export const info = {
  schema: 1,
  deviceId: "device-1",
  agentVersion: "1.3.0",
  form: "compiled",
  arch: "x86_64",
  os,
  updater: { version: "1.3.0", capabilities },
  step: "ready",
  blocked: "waits for the updater's socket",
  bootId: "2f1c3c0e-95ad-4f7e-8c25-4f0f8c1f9f10",
  startedAt: "2026-11-30T07:00:00.000Z",
  updatedAt: "2026-11-30T07:00:01.250Z",
};

/** A heartbeat with every vital. */
export const beat = {
  schema: 1,
  deviceId: "device-1",
  agentVersion: "1.3.0",
  bootId: "2f1c3c0e-95ad-4f7e-8c25-4f0f8c1f9f10",
  sequence: 121,
  at: "2026-11-30T08:00:00.000Z",
  uptimeMs: 3_600_000,
  vitals: {
    freeBytes: { "/usr": 5_368_709_120, "/var": 10_737_418_240 },
    binariesBytes: 167_772_160,
    clockSkewMs: -12,
    restarts: 1,
    credentialsExpireAt: "2027-11-30T00:00:00.000Z",
    rssBytes: 62_914_560,
  },
  deferred: { attemptId: attempt.attemptId, reason: "ClockInsane", since: "2026-11-30T07:59:00.000Z" },
  blocked: "clock differs from the server's by 9 minutes",
};

const metadata = {
  name: "device-1",
  labels: { "device-id": "device-1", site: "basel" },
  uid,
  resourceVersion: "42",
  generation: 1,
  creationTimestamp: "2026-11-01T00:00:00.000Z",
};
const conditions = [{
  type: "Ready",
  status: "True",
  reason: "AllTargetsCurrent",
  message: "3 of 3 targets run 1.4.0",
  lastTransitionTime: "2026-11-30T08:00:43.000Z",
  observedGeneration: 1,
}];

/** A device as the store returns it. */
export const device = {
  apiVersion: API_VERSION,
  kind: "Device",
  metadata,
  spec: { groups: ["production"] },
  status: {
    agentVersion: "1.4.0",
    form: "compiled",
    arch: "x86_64",
    os,
    updaterVersion: "1.3.0",
    capabilities,
    step: "updater",
    blocked: "waits for the updater's socket",
    liveness: "Online",
    livenessSince: "2026-11-30T07:00:02.000Z",
    upgrade: {
      attemptId: attempt.attemptId,
      releaseName: "agent-1.4",
      releaseIdentity: identity,
      targetVersion: "1.4.0",
      phase: "failed",
      reason: "ExitedBeforeReady",
      failureClass: "version",
      error: "The candidate exited with code 1 before READY",
      startedAt: "2026-11-30T08:00:00.000Z",
      updatedAt: "2026-11-30T08:00:51.730Z",
    },
    quarantined: false,
    desiredRelease: "agent-1.4",
    desiredReason: "RolledBack",
    failedIdentities: [identity],
    conditions,
    observedGeneration: 1,
  },
};

/** A release as the store returns it. */
export const release = {
  apiVersion: API_VERSION,
  kind: "AgentRelease",
  metadata: {
    ...metadata,
    name: "agent-1.4",
    uid: "6c1f4c1e-7d52-4a7e-9f5e-0d6f1a2b3c4d",
    labels: { channel: "stable" },
  },
  spec: {
    version: "1.4.0",
    artifacts: [artifact, { ...artifact, form: "script" as const, url: `${artifact.url}.script`, maxBytes: 1_048_576 }],
    revision: 1,
    paused: false,
    allowedGroups: ["production"],
    targetSelector: { matchLabels: { site: "basel" } },
    priority: 10,
  },
  status: {
    targets: 3,
    current: 2,
    upgrading: 0,
    failed: 0,
    rolledBack: 1,
    quarantined: 0,
    lost: 0,
    ineligible: 0,
    lastError: "device-1: The candidate exited with code 1 before READY",
    conditions,
    observedGeneration: 1,
  },
};

/** What a person writes at least. */
export const minimalReleaseSpec = {
  version: "1.4.0",
  artifacts: [artifact],
  allowedGroups: ["production"],
  targetSelector: {},
};
