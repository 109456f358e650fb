/**
 * One sample of every wire document, with every member in it at least once. The golden files, the decoder tests and
 * `docs/wire.md` all show these.
 *
 * @module
 */
import { agentReleaseSpec, agentReleaseStatus } from "../../contracts/agent_release.ts";
import { agentUpgradeAttempt, agentUpgradeStatus } from "../../contracts/agent_upgrade.ts";
import { type Decoder, object, oneOf, optional } from "../../contracts/codec.ts";
import { deploymentStatus } from "../../contracts/deployment_status.ts";
import { desiredDeployment, desiredEntry, desiredGeneration } from "../../contracts/desired_state.ts";
import { deviceInfo, heartbeat } from "../../contracts/device.ts";
import { deviceGroups } from "../../contracts/device_groups.ts";
import { deviceSpec, deviceStatus } from "../../contracts/device_resource.ts";
import { fleetDeploymentSpec, fleetDeploymentStatus } from "../../contracts/fleet_deployment.ts";
import {
  ATTEMPT_MAX_BYTES,
  DEPLOYMENT_STATUS_MAX_BYTES,
  DESIRED_STATE_MAX_BYTES,
  DEVICE_DOCUMENT_MAX_BYTES,
  DEVICE_GROUPS_MAX_BYTES,
  RESOURCE_MAX_BYTES,
  SELF_TEST_REPORT_MAX_BYTES,
  SOCKET_MESSAGE_MAX_BYTES,
  STATUS_MAX_BYTES,
  SYSTEM_ATTEMPT_MAX_BYTES,
  SYSTEM_STATUS_MAX_BYTES,
  TASK_HISTORY_MAX_BYTES,
  TASK_PLAN_MAX_BYTES,
} from "../../contracts/limits.ts";
import { API_VERSION, type ResourceKind, storedMetadata } from "../../contracts/resource.ts";
import { selfTestReport } from "../../contracts/self_test_report.ts";
import { systemUpgradeAttempt, systemUpgradeStatus } from "../../contracts/system_upgrade.ts";
import { taskHistoryRecord, taskPlanChunk, taskPlanManifest } from "../../contracts/task_plan.ts";
import { taskRunSpec, taskRunStatus } from "../../contracts/task_run.ts";
import { updaterRequest, updaterResponse } from "../../contracts/updater_protocol.ts";
import { deployment, deploymentFailed, desiredWeb } from "./deployment_documents.ts";
import { beat, capabilities, device, info, minimalReleaseSpec, release, uid } from "./fleet_documents.ts";
import {
  historyRecord,
  planChunk,
  planManifest,
  systemAttempt,
  systemFailed,
  systemSucceeded,
  taskRun,
} from "./task_documents.ts";
import {
  attempt,
  newerAttempt,
  statusComplete,
  statusPreparing,
  statusRejected,
  statusRolledBack,
} from "./upgrade_documents.ts";

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

const transaction = {
  phase: "committed",
  attemptId: attempt.attemptId,
  attemptDigest: statusComplete.attemptDigest,
  targetVersion: "1.4.0",
  targetPath: "/usr/lib/harmony-fleet/fleet-agent-v1.4.0",
  previousPath: "/usr/lib/harmony-fleet/fleet-agent-v1.3.0",
  status: statusComplete,
};

const idleState = { updaterVersion: "1.3.0", capabilities, busy: false, quarantined: false, transaction: null };
const outcome = {
  attemptId: attempt.attemptId,
  attemptDigest: statusComplete.attemptDigest,
  phase: "complete",
  reason: "Committed",
  at: "2026-11-30T08:00:42.120Z",
};

function resource(kind: ResourceKind, spec: Decoder<unknown>, status: Decoder<unknown>): Decoder<unknown> {
  return object({
    apiVersion: oneOf([API_VERSION]),
    kind: oneOf([kind]),
    metadata: storedMetadata,
    spec,
    status: optional(status),
  });
}

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
    decoded: attempt,
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
    name: "desired_deployment",
    decoder: desiredDeployment,
    maxBytes: DESIRED_STATE_MAX_BYTES,
    document: desiredWeb,
  },
  {
    name: "deployment_status",
    decoder: deploymentStatus,
    maxBytes: DEPLOYMENT_STATUS_MAX_BYTES,
    document: deploymentFailed,
  },
  {
    name: "device_groups",
    decoder: deviceGroups,
    maxBytes: DEVICE_GROUPS_MAX_BYTES,
    document: { schema: 1, groups: ["edge", "site:lab/2"] },
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
    decoded: { request: "upgrade", attempt, document: newerAttempt },
  },
  {
    name: "updater_request_system_upgrade",
    decoder: updaterRequest,
    maxBytes: SOCKET_MESSAGE_MAX_BYTES,
    document: { protocol: 1, request: "system-upgrade", attempt: systemAttempt },
    decoded: { request: "system-upgrade", attempt: systemAttempt, document: systemAttempt },
  },
  response("idle", { protocol: 1, ok: true, state: idleState }),
  response("complete", { protocol: 1, ok: true, state: { ...idleState, transaction }, outcome }),
  response("system_upgrade", {
    protocol: 1,
    ok: true,
    state: { ...idleState, capabilities: ["https", "AptFullUpgradeV1"], systemUpgrade: systemFailed },
    systemUpgrade: systemFailed,
  }),
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
    name: "fleet_deployment",
    decoder: resource("FleetDeployment", fleetDeploymentSpec, fleetDeploymentStatus),
    maxBytes: RESOURCE_MAX_BYTES,
    document: deployment,
  },
  {
    name: "system_upgrade_attempt",
    decoder: systemUpgradeAttempt,
    maxBytes: SYSTEM_ATTEMPT_MAX_BYTES,
    document: systemAttempt,
  },
  ...([["succeeded", systemSucceeded], ["failed", systemFailed]] as const).map(([name, document]): WireSample => ({
    name: `system_upgrade_status_${name}`,
    decoder: systemUpgradeStatus,
    maxBytes: SYSTEM_STATUS_MAX_BYTES,
    document,
  })),
  { name: "task_plan_manifest", decoder: taskPlanManifest, maxBytes: TASK_PLAN_MAX_BYTES, document: planManifest },
  { name: "task_plan_chunk", decoder: taskPlanChunk, maxBytes: TASK_PLAN_MAX_BYTES, document: planChunk },
  { name: "task_history", decoder: taskHistoryRecord, maxBytes: TASK_HISTORY_MAX_BYTES, document: historyRecord },
  {
    name: "task_run",
    decoder: resource("TaskRun", taskRunSpec, taskRunStatus),
    maxBytes: RESOURCE_MAX_BYTES,
    document: taskRun,
  },
  {
    name: "agent_release_spec_minimal",
    decoder: agentReleaseSpec,
    maxBytes: RESOURCE_MAX_BYTES,
    document: minimalReleaseSpec,
    decoded: { ...minimalReleaseSpec, revision: 1, paused: false, priority: 0 },
  },
];
