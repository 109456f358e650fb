/** The documents of tasks with all their fields at their limits fit where they are kept and through what they are sent. */
import { assertEquals, assertLess } from "@std/assert";
import {
  historyRecord,
  planChunk,
  planManifest,
  systemAttempt,
  systemSucceeded,
  taskRun,
} from "../tests/golden/task_documents.ts";
import { BUCKET_SPECS, bucketMaxBytes, BUCKETS } from "./buckets.ts";
import * as limits from "./limits.ts";
import { type CommandReport, systemUpgradeAttempt, systemUpgradeStatus } from "./system_upgrade.ts";
import { taskHistoryRecord, taskPlanChunk, taskPlanManifest } from "./task_plan.ts";
import { taskRunSpec, taskRunStatus } from "./task_run.ts";
import { encodeUpdaterResponse, updaterState } from "./updater_protocol.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function sizeBytes(document: unknown): number {
  return new TextEncoder().encode(JSON.stringify(document)).byteLength;
}

const NATS_MESSAGE_BYTES = 1_048_576;
/** The costliest text: each control character takes six bytes in JSON. */
const dense = (chars: number) => "\u0001".repeat(chars);
const short = "A".repeat(limits.SHORT_TEXT_MAX_CHARS);
const longId = "d".repeat(limits.DEVICE_ID_MAX_CHARS);
const digest = "a".repeat(64);
const longName = "n".repeat(limits.RESOURCE_NAME_MAX_CHARS);

/** Lines of a number of bytes as JSON. */
function lines(bytes: number): string[] {
  const first = Math.min(bytes, limits.POST_MORTEM_LINE_MAX_CHARS);
  return bytes <= first ? ["A".repeat(first)] : ["A".repeat(first), ...lines(bytes - first - '"",'.length)];
}

function largestReport(): CommandReport {
  const report = (chars: number): CommandReport => ({
    command: "c".repeat(limits.COMMAND_NAME_MAX_CHARS),
    exitCode: 255,
    signal: short,
    timedOut: true,
    durationMs: Number.MAX_SAFE_INTEGER,
    lastLines: [...Array(4).fill(dense(limits.POST_MORTEM_LINE_MAX_CHARS)), ...lines(chars)],
  });
  return report(limits.COMMAND_REPORT_MAX_BYTES - sizeBytes(report(0)));
}

function largestStatus() {
  const group = {
    count: Number.MAX_SAFE_INTEGER,
    names: Array(limits.PACKAGES_NAMED_MAX).fill("p".repeat(limits.PACKAGE_NAME_MAX_CHARS)),
  };
  return systemUpgradeStatus({
    ...systemSucceeded,
    deviceId: longId,
    operation: short,
    phase: "failed",
    reason: short,
    failureClass: "environment",
    detail: dense(limits.DETAIL_MAX_CHARS),
    error: dense(limits.DETAIL_MAX_CHARS),
    transitions: Array(limits.TRANSITIONS_MAX).fill({
      phase: "downloading",
      at: systemSucceeded.updatedAt,
      code: short,
    }),
    summary: {
      upgraded: group,
      installed: group,
      removed: group,
      kept: group,
      downloadedBytes: Number.MAX_SAFE_INTEGER,
      kernelBefore: short,
      kernelAfter: short,
      bootIdBefore: short,
      bootIdAfter: short,
    },
    failedCommand: largestReport(),
    journalUnit: short,
    firstHeartbeat: { sequence: Number.MAX_SAFE_INTEGER, bootId: short, at: systemSucceeded.updatedAt },
  }, "");
}

pure("limits: a system status with every field at its limit fits its bucket, with room for a newer writer's", () => {
  assertLess(sizeBytes(largestStatus()), limits.SYSTEM_STATUS_MAX_BYTES * 0.9);
  const largest = systemUpgradeAttempt({ ...systemAttempt, deviceId: longId }, "");
  assertLess(sizeBytes(largest) * 4, limits.SYSTEM_ATTEMPT_MAX_BYTES);
});

pure("limits: a state with two system statuses fits one socket message", () => {
  const status = largestStatus();
  const state = updaterState({
    updaterVersion: "1.3.0",
    capabilities: Array(limits.CAPABILITIES_MAX).fill(short),
    busy: true,
    quarantined: true,
    transaction: null,
    systemUpgrade: status,
  }, "");
  const answer = encodeUpdaterResponse({ ok: true, state, systemUpgrade: status });
  assertLess(sizeBytes(answer), limits.SOCKET_MESSAGE_MAX_BYTES / 4);
});

pure("limits: the fullest chunk and the longest manifest fit their bucket, and one NATS message", () => {
  const chunk = taskPlanChunk({
    ...planChunk,
    canaries: Array(limits.TASK_PLAN_CHUNK_DEVICES_MAX / 2).fill(longId),
    others: Array(limits.TASK_PLAN_CHUNK_DEVICES_MAX / 2).fill(longId),
  }, "");
  assertLess(sizeBytes(chunk), limits.TASK_PLAN_MAX_BYTES * 0.9);
  const manifest = taskPlanManifest({
    ...planManifest,
    operation: short,
    targets: limits.FLEET_SIZE_MAX,
    canaries: limits.FLEET_SIZE_MAX,
    chunks: Array(limits.TASK_PLAN_CHUNKS_MAX).fill(digest),
  }, "");
  assertLess(sizeBytes(manifest), limits.TASK_PLAN_MAX_BYTES * 0.9);
  assertLess(limits.TASK_PLAN_MAX_BYTES * 2, NATS_MESSAGE_BYTES);
});

pure("limits: a run with every field at its limit fits the embedded store, and its record the history", () => {
  const labels = Object.fromEntries(Array.from({ length: limits.LABELS_MAX }, (_, index) => [
    `${String(index).padStart(3, "p").padEnd(limits.RESOURCE_NAME_MAX_CHARS, "p")}/${"n".repeat(63)}`,
    "A".repeat(limits.LABEL_VALUE_MAX_CHARS),
  ]));
  const groups = Array.from(
    { length: limits.GROUPS_MAX },
    (_, index) => `${index}`.padEnd(limits.GROUP_NAME_MAX_CHARS, "g"),
  );
  const spec = taskRunSpec({ ...taskRun.spec, allowedGroups: groups, targetSelector: { matchLabels: labels } }, "");
  const lastError = dense(limits.DETAIL_MAX_CHARS);
  const conditions = Array(limits.CONDITIONS_MAX).fill({ ...taskRun.status.conditions[0], message: lastError });
  const status = taskRunStatus({ ...taskRun.status, lastError, conditions }, "");
  const metadata = { ...taskRun.metadata, name: longName, labels };
  assertLess(sizeBytes({ ...taskRun, metadata, spec, status }), limits.RESOURCE_MAX_BYTES);
  const record = taskHistoryRecord({ ...historyRecord, name: longName, spec, lastError }, "");
  assertLess(sizeBytes(record), limits.TASK_HISTORY_MAX_BYTES * 0.9);
});

pure("limits: what an average fleet keeps of several runs fits its buckets", () => {
  const runsKept = 4;
  for (
    const [name, document] of [
      [BUCKETS.systemUpgradeIntent, systemAttempt],
      [BUCKETS.systemUpgradeStatus, systemSucceeded],
    ] as const
  ) {
    const spec = BUCKET_SPECS.find((candidate) => candidate.name === name);
    const runs = name === BUCKETS.systemUpgradeIntent ? 1 : runsKept;
    // Headers and the server's own record of a message.
    const stored = (sizeBytes(document) + limits.BUCKET_HEADERS_MAX_BYTES) * runs;
    assertLess(stored, spec?.bytesPerDevice ?? 0, name);
  }
  const plan = BUCKET_SPECS.find(({ name }) => name === BUCKETS.taskPlan);
  const idBytes = "device-00001".length + 3;
  assertLess(
    idBytes * 32 * limits.FLEET_SIZE_MAX,
    plan === undefined ? 0 : bucketMaxBytes(plan, limits.FLEET_SIZE_MAX),
  );
  assertEquals(plan?.baseBytes, limits.BUCKET_BASE_BYTES);
});
