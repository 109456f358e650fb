/** Every document with all its fields at their limits fits where it is kept and through what it is sent. */
import { assert, assertEquals, assertLess, assertLessOrEqual } from "@std/assert";
import { beat, device, info, release } from "../tests/golden/fleet_documents.ts";
import { attempt, newerAttempt, statusRolledBack } from "../tests/golden/upgrade_documents.ts";
import { agentReleaseSpec } from "./agent_release.ts";
import { agentUpgradeAttempt, agentUpgradeStatus, type PostMortem } from "./agent_upgrade.ts";
import { BUCKET_SPECS, bucketMaxBytes, BUCKETS } from "./buckets.ts";
import { deviceInfo, heartbeat } from "./device.ts";
import { deviceGroups } from "./device_groups.ts";
import { deviceSpec, deviceStatus } from "./device_resource.ts";
import { ARCHITECTURES, BINARY_FORMS } from "./formats.ts";
import * as limits from "./limits.ts";
import { formatReadinessStatus, READINESS_STEPS } from "./readiness.ts";
import { selfTestReport } from "./self_test_report.ts";
import { attemptOutcome, encodeUpdaterResponse, type UpdaterState, updaterState } from "./updater_protocol.ts";

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
  assertLess(sizeBytes(deviceGroups({ schema: 1, groups }, "")), limits.DEVICE_GROUPS_MAX_BYTES);
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
    [BUCKETS.deviceGroups, { schema: 1, groups: Array(4).fill("site:example/building-1") }],
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

pure("limits: the problems of all unreadable documents of a device fit into one message", () => {
  const deviceBuckets = 4;
  const nameMaxChars = 24;
  assertLessOrEqual(deviceBuckets * (nameMaxChars + limits.DOCUMENT_PROBLEM_MAX_CHARS), limits.DETAIL_MAX_CHARS);
});

pure("limits: the longest key fits into a line of the protocol with the longest subject around it", () => {
  const controlLineBytes = 4_096;
  const aroundKey = "$JS.fleet.API.CONSUMER.CREATE.KV_agent-upgrade-status.$KV.agent-upgrade-status.".length;
  const consumerName = limits.DEVICE_ID_MAX_CHARS + 1 + crypto.randomUUID().length;
  const reply = 256;
  assertLess(aroundKey + consumerName + limits.BUCKET_KEY_MAX_CHARS + reply, controlLineBytes);
});
