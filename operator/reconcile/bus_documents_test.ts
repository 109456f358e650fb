import { assert, assertEquals } from "@std/assert";
import { BUCKETS } from "../../contracts/buckets.ts";
import { INTERNED_TEXTS_MAX } from "../../contracts/limits.ts";
import { sampleHeartbeat } from "../../tests/fakes/memory_fleet.ts";
import { digest } from "../../tests/fakes/operator_samples.ts";
import { type DeviceBucket, holdDocument } from "./bus_documents.ts";
import { Interner } from "./interner.ts";

const A1 = "00000000-0000-4000-8000-000000000001";
const INTERNER = new Interner();

function hold<B extends DeviceBucket>(bucket: B, document: unknown, key = "d1") {
  const value = new TextEncoder().encode(typeof document === "string" ? document : JSON.stringify(document));
  return holdDocument(bucket, { key, value, revision: 7, receivedAtMs: 9, deleted: false }, INTERNER);
}

const INFO = {
  schema: 1,
  deviceId: "d1",
  agentVersion: "1.0.0",
  form: "script",
  arch: "x86_64",
  os: { name: "Debian", version: "12", kernel: "6.1" },
  updater: { version: "1.0.0", capabilities: ["https"] },
  step: "updater",
  blocked: "no socket",
  bootId: "b",
  startedAt: "2026-06-01T00:00:00.000Z",
  updatedAt: "2026-06-01T00:00:00.000Z",
};

const STATUS = {
  schema: 1,
  attemptId: A1,
  deviceId: "d1",
  targetVersion: "1.1.0",
  releaseIdentity: digest("1"),
  phase: "failed",
  reason: "SelfTestFailed",
  failureClass: "version",
  error: "bad",
  startedAt: "1970-01-01T00:00:01.000Z",
  updatedAt: "1970-01-01T00:00:02.000Z",
  transitions: [{ phase: "rolling-back", at: "1970-01-01T00:00:02.000Z" }],
  postMortem: { stage: "start", result: "exit-code" },
};

Deno.test("a device info is kept with its receipt, and equal parts of two devices are one in memory", () => {
  const { value } = hold(BUCKETS.deviceInfo, INFO);
  const { schema: _schema, deviceId: _id, bootId: _boot, startedAt: _start, updatedAt: _update, ...rest } = INFO;
  assertEquals<unknown>(value, { ...rest, receivedAtMs: 9 });
  const other = hold(BUCKETS.deviceInfo, { ...INFO, deviceId: "d2" }, "d2").value;
  assert(value !== null && value.os === other?.os && value.updater === other.updater);
});

Deno.test("an upgrade status is kept without what only the device's own records need", () => {
  assertEquals(hold(BUCKETS.upgradeStatus, STATUS), {
    revision: 7,
    receivedAtMs: 9,
    value: {
      attemptId: A1,
      targetVersion: "1.1.0",
      releaseIdentity: digest("1"),
      phase: "failed",
      reason: "SelfTestFailed",
      failureClass: "version",
      error: "bad",
      startedAtMs: 1_000,
      rolledBack: true,
      receivedAtMs: 9,
    },
  });
  assertEquals(hold(BUCKETS.upgradeStatus, { ...STATUS, transitions: [] }).value?.rolledBack, false);
});

Deno.test("a rejected intent without a UUID is known by its revision", () => {
  const { attemptId: _attemptId, ...rejected } = STATUS;
  assertEquals(hold(BUCKETS.upgradeStatus, { ...rejected, rejectedRevision: 3 }).value?.rejectedRevision, 3);
});

Deno.test("a heartbeat is kept as what it blocks and defers", () => {
  const deferred = { attemptId: A1, reason: "DiskLow", since: "2026-06-01T00:00:00.000Z" };
  assertEquals(hold(BUCKETS.deviceHeartbeat, sampleHeartbeat("d1")).value, {});
  assertEquals(hold(BUCKETS.deviceHeartbeat, sampleHeartbeat("d1", { deferred, blocked: "x" })).value, {
    blocked: "x",
    deferred: { attemptId: A1, reason: "DiskLow" },
  });
});

const ARTIFACT = { url: "https://h/a", maxBytes: 1, sha256: digest("2") };
const INTENT = { schema: 1, attemptId: A1, deviceId: "d1", targetVersion: "1.1.0", arch: "x86_64", artifact: ARTIFACT };

Deno.test("an intent is kept as what identifies it", () => {
  assertEquals(hold(BUCKETS.upgradeIntent, INTENT).value, {
    attemptId: A1,
    targetVersion: "1.1.0",
    artifactSha256: digest("2"),
  });
});

const BAD: readonly [DeviceBucket, unknown, string][] = [
  [BUCKETS.deviceInfo, "{", "document: is not JSON"],
  [BUCKETS.deviceInfo, { ...INFO, deviceId: "d2" }, "deviceId: is not the device of the key"],
  [BUCKETS.deviceInfo, { ...INFO, arch: "sparc" }, "arch: "],
  [BUCKETS.deviceHeartbeat, {}, "schema: is missing"],
  [BUCKETS.upgradeIntent, { ...INTENT, attemptId: "1" }, "attemptId: is not a lower-case UUID"],
  [BUCKETS.upgradeStatus, { ...STATUS, phase: "done" }, "phase: "],
];

for (const [bucket, document, problem] of BAD) {
  Deno.test(`a document of ${bucket} that cannot be read is kept as its problem: ${problem}`, () => {
    const held = hold(bucket, document);
    assertEquals([held.revision, held.receivedAtMs, held.value], [7, 9, null]);
    assert(held.problem?.startsWith(problem), held.problem);
  });
}

for (const count of [INTERNED_TEXTS_MAX - 1, INTERNED_TEXTS_MAX, INTERNED_TEXTS_MAX + 1]) {
  Deno.test(`an interner that was given ${count} texts shares ${INTERNED_TEXTS_MAX} of them`, () => {
    const interner = new Interner();
    for (let index = 0; index < count; index++) interner.shared(`t${index}`, { index });
    const last = { index: count - 1 };
    assertEquals(interner.shared(`t${count - 1}`, last) === last, count > INTERNED_TEXTS_MAX);
    assertEquals(interner.shared("t0", last), { index: 0 });
  });
}
