import { assert, assertEquals, assertGreater, assertLess, assertLessOrEqual } from "@std/assert";
import { beat, device, info, release } from "../tests/golden/fleet_documents.ts";
import { attempt, newerAttempt, statusRolledBack } from "../tests/golden/upgrade_documents.ts";
import { agentReleaseSpec } from "./agent_release.ts";
import { agentUpgradeAttempt, agentUpgradeStatus, type PostMortem } from "./agent_upgrade.ts";
import { BUCKET_SPECS, bucketMaxBytes, BUCKETS } from "./buckets.ts";
import { deviceInfo, heartbeat } from "./device.ts";
import { deviceSpec, deviceStatus } from "./device_resource.ts";
import { ARCHITECTURES, BINARY_FORMS } from "./formats.ts";
import * as limits from "./limits.ts";
import { formatReadinessStatus, READINESS_STEPS } from "./readiness.ts";
import { selfTestReport } from "./self_test_report.ts";
import { attemptOutcome, encodeUpdaterResponse, type UpdaterState, updaterState } from "./updater_protocol.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const MIB = 1_048_576;

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function sizeBytes(document: unknown): number {
  return new TextEncoder().encode(JSON.stringify(document)).byteLength;
}

/** The costliest text of a number of characters: each control character takes six bytes in JSON. */
const dense = (chars: number) => "\u0001".repeat(chars);
const plain = (chars: number) => "A".repeat(chars);
const short = plain(limits.SHORT_TEXT_MAX_CHARS);
const digest = "a".repeat(64);

pure("limits: the seed's table, exactly", () => {
  assertEquals([limits.HTTPS_CONNECT_TIMEOUT_MS, limits.HTTPS_REQUEST_TIMEOUT_MS], [15 * SECOND_MS, 5 * MINUTE_MS]);
  assertEquals(limits.ARTIFACT_MAX_BYTES, 100 * MIB);
  assertEquals([limits.NATS_CONNECT_TIMEOUT_MS, limits.NATS_RETRY_WINDOW_MS], [15 * SECOND_MS, 3 * MINUTE_MS]);
  assertEquals(limits.PROBE_TIMEOUT_MS, 4 * MINUTE_MS);
  assertEquals([limits.SERVICE_STOP_TIMEOUT_MS, limits.UPDATER_STOP_BOUND_MS], [60 * SECOND_MS, 65 * SECOND_MS]);
  assertEquals([limits.SERVICE_START_TIMEOUT_MS, limits.UPDATER_START_BOUND_MS], [240 * SECOND_MS, 255 * SECOND_MS]);
  assertEquals([limits.SOCKET_READ_TIMEOUT_MS, limits.SOCKET_STATUS_TIMEOUT_MS], [10 * SECOND_MS, 15 * SECOND_MS]);
  assertEquals(limits.SOCKET_UPGRADE_TIMEOUT_MS, 20 * MINUTE_MS);
  assertEquals([limits.SOCKET_MESSAGE_MAX_BYTES, limits.SOCKET_HANDLERS_MAX], [MIB, 32]);
  assertEquals([limits.TRANSITIONS_MAX, limits.DETAIL_MAX_CHARS], [16, 1_024]);
});

pure("limits: every number is a positive safe integer", () => {
  for (const [name, value] of Object.entries(limits)) {
    if (typeof value === "string") continue;
    assert(Number.isSafeInteger(value) && value > 0, `${name} is ${value}`);
  }
});

pure("limits: each bound of the updater leaves the service manager time to answer first", () => {
  assertLess(limits.SERVICE_STOP_TIMEOUT_MS, limits.UPDATER_STOP_BOUND_MS);
  assertLess(limits.SERVICE_START_TIMEOUT_MS, limits.UPDATER_START_BOUND_MS);
});

pure("limits: an agent that cannot reach NATS says so before anybody gives up on it", () => {
  assertLess(limits.NATS_CONNECT_TIMEOUT_MS, limits.NATS_RETRY_WINDOW_MS);
  assertLess(limits.NATS_RETRY_WINDOW_MS + limits.SNAPSHOT_STALL_TIMEOUT_MS, limits.SERVICE_START_TIMEOUT_MS);
  assertLess(limits.NATS_RETRY_WINDOW_MS + limits.SNAPSHOT_STALL_TIMEOUT_MS, limits.PROBE_TIMEOUT_MS);
  assertLess(limits.NATS_RECONNECT_MAX_MS, limits.NATS_RETRY_WINDOW_MS);
  assertLess(limits.NATS_RECONNECT_MIN_MS, limits.NATS_RECONNECT_MAX_MS);
  assertLess(limits.NATS_REQUEST_TIMEOUT_MS, limits.SNAPSHOT_STALL_TIMEOUT_MS);
});

pure("limits: the slowest upgrade, its rollback included, is answered within the socket's bound", () => {
  const slowest = limits.HTTPS_REQUEST_TIMEOUT_MS + limits.PROBE_TIMEOUT_MS +
    2 * (limits.UPDATER_STOP_BOUND_MS + limits.UPDATER_START_BOUND_MS);
  assertEquals(slowest, limits.LOST_AFTER_MS);
  assertEquals(slowest, 19 * MINUTE_MS + 40 * SECOND_MS);
  assertLess(slowest, limits.SOCKET_UPGRADE_TIMEOUT_MS);
});

pure("limits: parts of a transfer fit the whole", () => {
  assertLess(limits.HTTPS_CONNECT_TIMEOUT_MS, limits.HTTPS_REQUEST_TIMEOUT_MS);
  assertLess(limits.FETCH_STALL_TIMEOUT_MS, limits.HTTPS_REQUEST_TIMEOUT_MS);
  assertLess(limits.FETCH_RESUME_MIN_MS, limits.FETCH_RESUME_MAX_MS);
  assertLess(limits.FETCH_RESUMES_MAX * limits.FETCH_RESUME_MAX_MS, limits.HTTPS_REQUEST_TIMEOUT_MS);
  assertEquals(limits.ARTIFACT_MAX_BYTES % limits.DIGEST_CHUNK_BYTES, 0);
});

pure("limits: the socket's clients", () => {
  assertLess(limits.SOCKET_READ_TIMEOUT_MS, limits.SOCKET_STATUS_TIMEOUT_MS);
  assertLess(limits.SOCKET_STATUS_TIMEOUT_MS, limits.SOCKET_UPGRADE_TIMEOUT_MS);
  // Whatever is repeated for 20 minutes, status is answered.
  assertLess(limits.SOCKET_UPGRADE_WAITERS_MAX, limits.SOCKET_HANDLERS_MAX);
  assertLess(limits.UPDATER_POLL_ACTIVE_MS, limits.UPDATER_POLL_IDLE_MS);
});

pure("limits: liveness", () => {
  const staleAfterMs = limits.HEARTBEAT_INTERVAL_MS * limits.STALE_AFTER_HEARTBEATS;
  assertGreater(staleAfterMs, limits.HEARTBEAT_INTERVAL_MS + limits.HEARTBEAT_JITTER_MS);
  assertLess(staleAfterMs, limits.LOST_AFTER_MS);
  assertLess(limits.HEARTBEAT_MIN_GAP_MS, limits.HEARTBEAT_INTERVAL_MS);
  assertLessOrEqual(limits.FLEET_SIZE_DEFAULT, limits.FLEET_SIZE_MAX);
  // A half-dead link is noticed before the device is called stale.
  assertLess(limits.NATS_PING_INTERVAL_MS * (limits.NATS_MAX_PINGS_OUT + 1), staleAfterMs);
});

pure("limits: a drain ends before the service manager kills it, even when every part of it times out", () => {
  const drain = limits.DRAIN_MUTATION_TIMEOUT_MS + limits.DRAIN_STATUS_TIMEOUT_MS + limits.DRAIN_PUBLISH_TIMEOUT_MS +
    limits.DRAIN_RECORD_TIMEOUT_MS + limits.DRAIN_FLUSH_TIMEOUT_MS + limits.DRAIN_CLOSE_TIMEOUT_MS;
  assertLess(drain, limits.SERVICE_STOP_TIMEOUT_MS);
});

pure("limits: pauses and timers fit the runtime's 31 bits", () => {
  for (const [name, value] of Object.entries(limits)) {
    if (name.endsWith("_MS") && name !== "CLOCK_EARLIEST_MS" && typeof value === "number") {
      assertLessOrEqual(value, limits.TIMER_MAX_MS, name);
    }
  }
});

/** A post-mortem of exactly the largest size. */
function largestPostMortem(): PostMortem {
  const found = (chars: number): PostMortem => ({
    stage: "start",
    result: short,
    lastLines: Array(5).fill(dense(limits.POST_MORTEM_LINE_MAX_CHARS)),
    statusText: plain(chars),
  });
  return found(limits.POST_MORTEM_MAX_BYTES - sizeBytes(found(0)));
}

/** A status with every field at its limit. */
function largestStatus() {
  return agentUpgradeStatus({
    ...statusRolledBack,
    rejectedRevision: Number.MAX_SAFE_INTEGER,
    deviceId: "d".repeat(limits.DEVICE_ID_MAX_CHARS),
    targetVersion: `1.0.0-${"a".repeat(limits.VERSION_MAX_CHARS - 6)}`,
    phase: "rollback-failed",
    reason: short,
    detail: dense(limits.DETAIL_MAX_CHARS),
    error: dense(limits.DETAIL_MAX_CHARS),
    drainMs: Number.MAX_SAFE_INTEGER,
    bootId: short,
    invocationId: short,
    journalUnit: short,
    transitions: Array(limits.TRANSITIONS_MAX).fill({
      phase: "rollback-failed",
      at: statusRolledBack.updatedAt,
      code: short,
    }),
    postMortem: largestPostMortem(),
  }, "");
}

pure("limits: a status with every field at its limit fits its bucket, with room for a newer writer's fields", () => {
  assertEquals(sizeBytes(largestPostMortem()), limits.POST_MORTEM_MAX_BYTES);
  assertLess(sizeBytes(largestStatus()), limits.STATUS_MAX_BYTES * 0.9);
});

pure("limits: an attempt with every field at its limit fits its bucket several times", () => {
  const start = "https://h/";
  const largest = agentUpgradeAttempt({
    ...attempt,
    deviceId: "d".repeat(limits.DEVICE_ID_MAX_CHARS),
    targetVersion: `1.0.0-${"a".repeat(limits.VERSION_MAX_CHARS - 6)}`,
    artifact: { ...attempt.artifact, url: start + "a".repeat(limits.ARTIFACT_URL_MAX_CHARS - start.length) },
  }, "");
  assertLess(sizeBytes(largest) * 4, limits.ATTEMPT_MAX_BYTES);
});

pure("limits: the updater's largest answer fits one socket message", () => {
  const path = `/${plain(limits.PATH_MAX_CHARS - 1)}`;
  const status = largestStatus();
  const state: UpdaterState = updaterState({
    updaterVersion: status.targetVersion,
    capabilities: Array(limits.CAPABILITIES_MAX).fill(short),
    busy: true,
    quarantined: true,
    transaction: {
      phase: "rollback-failed",
      attemptId: attempt.attemptId,
      attemptDigest: digest,
      targetVersion: status.targetVersion,
      targetPath: path,
      previousPath: path,
      status,
    },
  }, "");
  assertLess(sizeBytes(encodeUpdaterResponse({ ok: true, state })), limits.SOCKET_MESSAGE_MAX_BYTES / 8);
  assertLess(2 * limits.ATTEMPT_MAX_BYTES, limits.SOCKET_MESSAGE_MAX_BYTES);
});

pure("limits: the journal holds the whole history and the largest transaction", () => {
  const status = largestStatus();
  const outcome = attemptOutcome({
    attemptId: attempt.attemptId,
    attemptDigest: digest,
    phase: "rollback-failed",
    reason: short,
    at: status.updatedAt,
  }, "");
  // Managed paths under a root of 256 characters; the status holds more than the transaction's own fields.
  const path = `/${plain(limits.VERSION_MAX_CHARS + 320)}`;
  const body = {
    transaction: {
      attempt: {
        ...attempt,
        artifact: { ...attempt.artifact, url: `https://h/${plain(limits.ARTIFACT_URL_MAX_CHARS - 10)}` },
      },
      targetPath: path,
      previousPath: path,
      ...status,
    },
    history: Array(limits.JOURNAL_HISTORY_MAX).fill(outcome),
  };
  assertLess(sizeBytes({ schema: 1, seq: Number.MAX_SAFE_INTEGER, sha256: digest, body }), limits.JOURNAL_MAX_BYTES);
});

pure("limits: device info and heartbeat with every field at its limit fit their buckets", () => {
  const largestInfo = deviceInfo({
    ...info,
    os: { name: short, version: short, kernel: short },
    updater: { version: "1.3.0", capabilities: Array(limits.CAPABILITIES_MAX).fill(short) },
    blocked: dense(limits.DETAIL_MAX_CHARS),
    bootId: short,
  }, "");
  assertLess(sizeBytes(largestInfo), limits.DEVICE_DOCUMENT_MAX_BYTES);
  const mounts = Array.from({ length: limits.MOUNTS_MAX }, (_, index) => [
    `/${index}`.padEnd(limits.MOUNT_PATH_MAX_CHARS, "m"),
    Number.MAX_SAFE_INTEGER,
  ]);
  const largestBeat = heartbeat({
    ...beat,
    vitals: { ...beat.vitals, freeBytes: Object.fromEntries(mounts) },
    deferred: { ...beat.deferred, reason: short },
    blocked: dense(limits.DETAIL_MAX_CHARS),
  }, "");
  assertLess(sizeBytes(largestBeat), limits.DEVICE_DOCUMENT_MAX_BYTES);
});

pure("limits: a self-test report with every check at its limit fits its bound, and that the probe's output", () => {
  const report = selfTestReport({
    schema: 1,
    version: "1.4.0",
    arch: "x86_64",
    passed: false,
    checks: Array(limits.PROBE_CHECKS_MAX).fill({
      name: short,
      result: "skipped",
      reason: plain(limits.DETAIL_MAX_CHARS),
      failureClass: "environment",
      durationMs: Number.MAX_SAFE_INTEGER,
    }),
  }, "");
  assertLess(sizeBytes(report), limits.SELF_TEST_REPORT_MAX_BYTES);
  assertLess(limits.SELF_TEST_REPORT_MAX_BYTES, limits.PROBE_OUTPUT_MAX_BYTES);
  assertLessOrEqual(READINESS_STEPS.length, limits.PROBE_CHECKS_MAX);
});

pure("limits: resources with every field at its limit fit the embedded store", () => {
  const labels = Object.fromEntries(Array.from({ length: limits.LABELS_MAX }, (_, index) => [
    `${String(index).padStart(3, "p").padEnd(limits.RESOURCE_NAME_MAX_CHARS, "p")}/${"n".repeat(63)}`,
    plain(limits.LABEL_VALUE_MAX_CHARS),
  ]));
  const metadata = { ...device.metadata, name: "n".repeat(limits.RESOURCE_NAME_MAX_CHARS), labels };
  const groups = Array.from(
    { length: limits.GROUPS_MAX },
    (_, index) => `${index}`.padEnd(limits.GROUP_NAME_MAX_CHARS, "g"),
  );
  const conditions = Array(limits.CONDITIONS_MAX).fill({
    ...device.status.conditions[0],
    type: short,
    reason: short,
    message: dense(limits.DETAIL_MAX_CHARS),
  });
  const status = deviceStatus({
    ...device.status,
    capabilities: Array(limits.CAPABILITIES_MAX).fill(short),
    upgrade: { ...device.status.upgrade, error: dense(limits.DETAIL_MAX_CHARS) },
    failedIdentities: Array(limits.FAILED_IDENTITIES_MAX).fill(digest),
    blocked: dense(limits.DETAIL_MAX_CHARS),
    tiedReleases: Array(limits.TIED_RELEASES_MAX).fill(metadata.name),
    conditions,
  }, "");
  assertLess(sizeBytes({ ...device, metadata, spec: deviceSpec({ groups }, ""), status }), limits.RESOURCE_MAX_BYTES);
  const artifacts = ARCHITECTURES.flatMap((arch) =>
    BINARY_FORMS.map((form) => ({ ...release.spec.artifacts[0], arch, form, url: `https://h/${plain(2_038)}` }))
  );
  const spec = agentReleaseSpec({
    ...release.spec,
    artifacts,
    allowedGroups: groups,
    targetSelector: { matchLabels: labels },
  }, "");
  assertLess(
    sizeBytes({ ...release, metadata, spec, status: { ...release.status, conditions } }),
    limits.RESOURCE_MAX_BYTES,
  );
  assertLess(artifacts.length, limits.RELEASE_ARTIFACTS_MAX);
});

pure("limits: an average fleet fits its buckets", () => {
  const documents: [string, unknown][] = [
    [BUCKETS.upgradeIntent, newerAttempt],
    [BUCKETS.upgradeStatus, statusRolledBack],
    [BUCKETS.deviceInfo, info],
    [BUCKETS.deviceHeartbeat, beat],
    [BUCKETS.resources, device],
  ];
  for (const [name, document] of documents) {
    const spec = BUCKET_SPECS.find((candidate) => candidate.name === name);
    assert(spec !== undefined, name);
    // Headers and the server's own record of a message.
    const stored = sizeBytes(document) + limits.BUCKET_HEADERS_MAX_BYTES;
    assertLess(stored * limits.FLEET_SIZE_MAX, bucketMaxBytes(spec, limits.FLEET_SIZE_MAX), name);
  }
});

pure("limits: a STATUS text and the rest of a notification fit one datagram", () => {
  const status = formatReadinessStatus("device-info", "ä".repeat(2_000));
  const datagram = `READY=1\nSTATUS=${status}\nMAINPID=4194304\nWATCHDOG=1\nSTOPPING=1\n`;
  assertLess(new TextEncoder().encode(datagram).byteLength, limits.NOTIFY_MESSAGE_MAX_BYTES);
});

pure("limits: no document of ours comes near the bound on nesting", () => {
  const depth = (value: unknown): number =>
    typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depth)) : 0;
  assertLess(depth({ state: { transaction: { status: largestStatus() } } }), limits.JSON_DEPTH_MAX / 2);
});

pure("limits: a device that reconnects after an outage is heard before its silence counts", () => {
  const backAfterMs = limits.NATS_RECONNECT_MAX_MS + limits.HEARTBEAT_INTERVAL_MS + limits.HEARTBEAT_JITTER_MS;
  assertLess(backAfterMs, limits.STALE_AFTER_MS);
  assertLess(limits.STALE_AFTER_MS, limits.LOST_AFTER_MS);
});

pure("limits: an operator that is behind catches up before it answers another one", () => {
  assertLess(limits.STATUS_WRITE_INTERVAL_MS, limits.FOREIGN_WRITE_SETTLE_MS);
  assertLess(limits.LOST_RACE_PAUSE_MS, limits.STATUS_WRITE_INTERVAL_MS);
  assertLess(limits.RECONCILE_RETRY_MIN_MS, limits.RECONCILE_RETRY_MAX_MS);
  assertLess(limits.RECONCILE_SLICE_MS, limits.HEARTBEAT_INTERVAL_MS);
});

pure("limits: the problems of all unreadable documents of a device fit into one message", () => {
  const deviceBuckets = 4;
  const nameMaxChars = 24;
  assertLessOrEqual(deviceBuckets * (nameMaxChars + limits.DOCUMENT_PROBLEM_MAX_CHARS), limits.DETAIL_MAX_CHARS);
});

pure("limits: whoever supervises outlasts what is supervised", () => {
  assertLess(limits.KILL_GRACE_MS, limits.UPDATER_STOP_BOUND_MS - limits.SERVICE_STOP_TIMEOUT_MS);
  assertLess(limits.OUTPUT_GRACE_MS + limits.KILL_GRACE_MS, limits.PROBE_TIMEOUT_MS);
  assertLess(limits.EXEC_BUSY_PAUSE_MS, limits.EXEC_BUSY_RETRY_MS);
  assertLess(limits.PROCESS_POLL_MS, limits.KILL_GRACE_MS);
  assertLess(limits.SELF_TEST_REPORT_MAX_BYTES, limits.PROBE_OUTPUT_MAX_BYTES);
  assertLess(limits.AGENT_OUTPUT_KEPT_BYTES, limits.AGENT_OUTPUT_MAX_BYTES);
  // Four bytes for the costliest character of a line.
  assertLessOrEqual(
    limits.POST_MORTEM_LINES_MAX * (4 * limits.POST_MORTEM_LINE_MAX_CHARS + 1),
    limits.OUTPUT_TAIL_BYTES,
  );
});

pure("limits: a broken transfer can be taken up again within its request's time", () => {
  assertLess(limits.FETCH_STALL_TIMEOUT_MS + limits.FETCH_RESUME_MAX_MS, limits.HTTPS_REQUEST_TIMEOUT_MS / 2);
  assertLess(limits.FETCH_RESUMES_MAX * limits.FETCH_RESUME_MAX_MS, limits.HTTPS_REQUEST_TIMEOUT_MS);
});

pure("limits: clients that wait for an upgrade leave handlers for status", () => {
  assertLess(limits.SOCKET_UPGRADE_WAITERS_MAX, limits.SOCKET_HANDLERS_MAX);
  assertLess(limits.SOCKET_LINGER_MS, limits.SOCKET_WRITE_TIMEOUT_MS);
});

pure("limits: a lost consumer is found before it is given up on, and soon enough", () => {
  assertLess(limits.WATCH_HEARTBEATS_MISSED_MAX * limits.SNAPSHOT_HEARTBEAT_MS, limits.SNAPSHOT_STALL_TIMEOUT_MS);
  const lostWatchMs = (limits.WATCH_HEARTBEATS_MISSED_MAX + 1) * limits.WATCH_HEARTBEAT_MS;
  assertLess(lostWatchMs, limits.STALE_AFTER_HEARTBEATS * limits.HEARTBEAT_INTERVAL_MS);
  // The server drops a consumer that nobody listens to before its next reader is likely to come.
  assertLess(limits.CONSUMER_IDLE_MS, limits.NATS_RECONNECT_MAX_MS);
});

pure("limits: pauses between tries begin below where they end", () => {
  assertLess(limits.ROLLBACK_RETRY_MIN_MS, limits.ROLLBACK_RETRY_MAX_MS);
  assertLess(limits.NOTIFY_RETRY_MIN_MS, limits.NOTIFY_RETRY_MAX_MS);
  assertLess(limits.STARTUP_RETRY_MS, limits.NATS_RETRY_WINDOW_MS);
  assertLess(limits.INTENT_RECHECK_MS, limits.STATUS_REREAD_MS);
  assertLess(limits.SERVICE_RESTART_DELAY_MS, limits.UPDATER_AWAY_AFTER_MS);
});

pure("limits: a loop is called stalled only above every bound within one of its turns", () => {
  const longestTurnMs = Math.max(
    limits.SOCKET_STATUS_TIMEOUT_MS + 3 * limits.NATS_REQUEST_TIMEOUT_MS,
    limits.HEARTBEAT_INTERVAL_MS + limits.HEARTBEAT_JITTER_MS + 3 * limits.NATS_REQUEST_TIMEOUT_MS,
    limits.NATS_RECONNECT_MAX_MS + limits.SNAPSHOT_STALL_TIMEOUT_MS,
  );
  assertLess(longestTurnMs, limits.LOOP_STALL_MS);
});

pure("limits: a repair is waited for as long as its stop and start may take", () => {
  assertEquals(
    limits.REPAIR_TIMEOUT_MS,
    limits.UPDATER_STOP_BOUND_MS + limits.UPDATER_START_BOUND_MS + limits.SOCKET_STATUS_TIMEOUT_MS,
  );
  assertLess(limits.REPAIR_LOOK_AGAIN_MS, limits.REPAIR_UPDATER_WAIT_MS);
  assertLess(limits.UPDATER_SHUTDOWN_MS, limits.SOCKET_STATUS_TIMEOUT_MS);
  // The service manager's tools answer within one look at the agent, and their answer holds its last output.
  assertLess(limits.SYSTEM_TOOL_TIMEOUT_MS, limits.SOCKET_STATUS_TIMEOUT_MS);
  assertLess(limits.OUTPUT_TAIL_BYTES, limits.SYSTEM_TOOL_OUTPUT_MAX_BYTES);
});

pure("limits: the longest key fits into a line of the protocol with the longest subject around it", () => {
  const controlLineBytes = 4_096;
  const aroundKey = "$JS.fleet.API.CONSUMER.CREATE.KV_agent-upgrade-status.$KV.agent-upgrade-status.".length;
  const consumerName = limits.DEVICE_ID_MAX_CHARS + 1 + crypto.randomUUID().length;
  const reply = 256;
  assertLess(aroundKey + consumerName + limits.BUCKET_KEY_MAX_CHARS + reply, controlLineBytes);
});
