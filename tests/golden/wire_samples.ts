/**
 * One sample of every wire document, with every member in it at least once. The golden files, the decoder tests and
 * `docs/wire.md` all show these.
 *
 * @module
 */
import { agentReleaseSpec, agentReleaseStatus } from "../../contracts/agent_release.ts";
import { agentUpgradeAttempt, type AgentUpgradeStatus, agentUpgradeStatus } from "../../contracts/agent_upgrade.ts";
import { type Decoder, object, oneOf, optional } from "../../contracts/codec.ts";
import { desiredEntry, desiredGeneration } from "../../contracts/desired_state.ts";
import { deviceInfo, heartbeat } from "../../contracts/device.ts";
import { deviceSpec, deviceStatus } from "../../contracts/device_resource.ts";
import { canonicalDigest } from "../../contracts/digest.ts";
import {
  ATTEMPT_MAX_BYTES,
  DESIRED_STATE_MAX_BYTES,
  DEVICE_DOCUMENT_MAX_BYTES,
  RESOURCE_MAX_BYTES,
  SELF_TEST_REPORT_MAX_BYTES,
  SOCKET_MESSAGE_MAX_BYTES,
  STATUS_MAX_BYTES,
} from "../../contracts/limits.ts";
import { releaseIdentity } from "../../contracts/release_identity.ts";
import { API_VERSION, storedMetadata } from "../../contracts/resource.ts";
import { selfTestReport } from "../../contracts/self_test_report.ts";
import { updaterRequest, updaterResponse } from "../../contracts/updater_protocol.ts";

/** One sample. */
export interface WireSample {
  /** Name of its golden file, without `.json`. */
  readonly name: string;
  readonly decoder: Decoder<unknown>;
  readonly maxBytes: number;
  /** The document as it is written. */
  readonly document: unknown;
  /** What the decoder returns, where that is not the document: defaults filled in, unknown members left out. */
  readonly decoded?: unknown;
}

const url = "https://artifacts.example/fleet-agent-v1.4.0-x86_64";
const sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
const artifact = { arch: "x86_64", form: "compiled", url, sha256, maxBytes: 83_886_080 } as const;
const identity = releaseIdentity({ version: "1.4.0", revision: 1, artifact });
const uid = "5b0f4c1e-7d52-4a7e-9f5e-0d6f1a2b3c4d";
const capabilities = ["https"];
const os = { name: "Debian GNU/Linux", version: "13", kernel: "6.12.48-amd64" };

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
export const newerAttempt = { ...attempt, schema: 2, rollout: { ring: "canary", weight: 0.5 }, note: "größer" };

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

const transaction = {
  phase: "committed",
  attemptId: attempt.attemptId,
  attemptDigest: identityOfAttempt.attemptDigest,
  targetVersion: "1.4.0",
  targetPath: "/usr/lib/harmony-fleet/fleet-agent-v1.4.0",
  previousPath: "/usr/lib/harmony-fleet/fleet-agent-v1.3.0",
  status: statusComplete,
};

const idleState = { updaterVersion: "1.3.0", capabilities, busy: false, quarantined: false, transaction: null };
const outcome = {
  attemptId: attempt.attemptId,
  attemptDigest: identityOfAttempt.attemptDigest,
  phase: "complete",
  reason: "Committed",
  at: "2026-11-30T08:00:42.120Z",
};

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

function resource(kind: "Device" | "AgentRelease", spec: Decoder<unknown>, status: Decoder<unknown>): Decoder<unknown> {
  return object({
    apiVersion: oneOf([API_VERSION]),
    kind: oneOf([kind]),
    metadata: storedMetadata,
    spec,
    status: optional(status),
  });
}

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
    desiredReason: "IdentityFailed",
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
    artifacts: [artifact, { ...artifact, form: "script" as const, url: `${url}.script`, maxBytes: 1_048_576 }],
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
const minimalReleaseSpec = {
  version: "1.4.0",
  artifacts: [artifact],
  allowedGroups: ["production"],
  targetSelector: {},
};

function refusal(code: string, message: string, failureClass: string, retryable: boolean, field?: string): unknown {
  const error = { code, message, ...(field === undefined ? {} : { field }), failureClass, retryable };
  return { protocol: 1, ok: false, error };
}

function response(name: string, document: Record<string, unknown>): WireSample {
  const { protocol: _, ...decoded } = document;
  return {
    name: `updater_response_${name}`,
    decoder: updaterResponse,
    maxBytes: SOCKET_MESSAGE_MAX_BYTES,
    document,
    decoded,
  };
}

function refusedResponse(name: string, ...parts: Parameters<typeof refusal>): WireSample {
  return response(name, refusal(...parts) as Record<string, unknown>);
}

/** Every sample, by the name of its golden file. */
export const WIRE_SAMPLES: readonly WireSample[] = [
  { name: "agent_upgrade_attempt", decoder: agentUpgradeAttempt, maxBytes: ATTEMPT_MAX_BYTES, document: attempt },
  {
    name: "agent_upgrade_attempt_newer",
    decoder: agentUpgradeAttempt,
    maxBytes: ATTEMPT_MAX_BYTES,
    document: newerAttempt,
    decoded: { ...attempt, schema: 2 },
  },
  ...([
    ["preparing", statusPreparing],
    ["complete", statusComplete],
    ["rolled_back", statusRolledBack],
    ["rejected", statusRejected],
  ] as const).map(([name, document]): WireSample => ({
    name: `agent_upgrade_status_${name}`,
    decoder: agentUpgradeStatus,
    maxBytes: STATUS_MAX_BYTES,
    document,
  })),
  { name: "device_info", decoder: deviceInfo, maxBytes: DEVICE_DOCUMENT_MAX_BYTES, document: info },
  { name: "heartbeat", decoder: heartbeat, maxBytes: DEVICE_DOCUMENT_MAX_BYTES, document: beat },
  {
    name: "desired_generation",
    decoder: desiredGeneration,
    maxBytes: DESIRED_STATE_MAX_BYTES,
    document: { schema: 1, generation: 7, entries: 1, updatedAt: "2026-11-30T07:30:00.000Z" },
  },
  {
    name: "desired_entry",
    decoder: desiredEntry,
    maxBytes: DESIRED_STATE_MAX_BYTES,
    document: { schema: 1, deploymentId: uid, name: "web", generation: 3 },
  },
  {
    name: "updater_request_status",
    decoder: updaterRequest,
    maxBytes: SOCKET_MESSAGE_MAX_BYTES,
    document: { protocol: 1, request: "status" },
    decoded: { request: "status" },
  },
  {
    name: "updater_request_upgrade",
    decoder: updaterRequest,
    maxBytes: SOCKET_MESSAGE_MAX_BYTES,
    document: { protocol: 1, request: "upgrade", attempt: newerAttempt },
    decoded: { request: "upgrade", attempt: { ...attempt, schema: 2 }, document: newerAttempt },
  },
  response("idle", { protocol: 1, ok: true, state: idleState }),
  response("complete", { protocol: 1, ok: true, state: { ...idleState, transaction }, outcome }),
  refusedResponse(
    "invalid",
    "E_REQUEST_INVALID",
    "attempt.targetVersion: is not a semantic version such as 1.4.0",
    "policy",
    false,
    "attempt.targetVersion",
  ),
  refusedResponse("busy", "E_BUSY", "another attempt is under way", "environment", true),
  {
    name: "self_test_report",
    decoder: selfTestReport,
    maxBytes: SELF_TEST_REPORT_MAX_BYTES,
    document: {
      schema: 1,
      version: "1.4.0",
      arch: "x86_64",
      form: "compiled",
      passed: false,
      checks: [
        { name: "config", result: "ok", durationMs: 2 },
        {
          name: "nats",
          result: "failed",
          reason: "nats-1.example:4222 refused the connection",
          failureClass: "environment",
          durationMs: 180_000,
        },
        { name: "snapshot", result: "skipped", reason: "needs nats", durationMs: 0 },
      ],
    },
  },
  {
    name: "device",
    decoder: resource("Device", deviceSpec, deviceStatus),
    maxBytes: RESOURCE_MAX_BYTES,
    document: device,
  },
  {
    name: "agent_release",
    decoder: resource("AgentRelease", agentReleaseSpec, agentReleaseStatus),
    maxBytes: RESOURCE_MAX_BYTES,
    document: release,
  },
  {
    name: "agent_release_spec_minimal",
    decoder: agentReleaseSpec,
    maxBytes: RESOURCE_MAX_BYTES,
    document: minimalReleaseSpec,
    decoded: { ...minimalReleaseSpec, revision: 1, paused: false, priority: 0 },
  },
];
