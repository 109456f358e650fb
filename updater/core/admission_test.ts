import { assertEquals } from "@std/assert";
import { canonicalDigest } from "../../contracts/digest.ts";
import { SAMPLE_RECORDS, sampleAttempt } from "../../tests/fakes/upgrade_samples.ts";
import { type AdmissionFacts, admit } from "./admission.ts";
import { EMPTY_RECORD, type UpdaterRecord } from "./record.ts";

const FACTS: AdmissionFacts = {
  deviceId: "device-1",
  arch: "x86_64",
  schemes: ["https"],
  reserveComplete: true,
  stopping: false,
};
const OTHER = sampleAttempt({ attemptId: "2b9c3d1e-6f5a-4b7c-8d9e-0a1b2c3d4e5f" });

function decide(record: UpdaterRecord, attempt = OTHER, facts: Partial<AdmissionFacts> = {}): string {
  const decision = admit(record, attempt, canonicalDigest(attempt), { ...FACTS, ...facts });
  return decision.kind === "refuse" ? decision.refusal.code : decision.kind;
}

function sample(name: string): UpdaterRecord {
  const record = SAMPLE_RECORDS[name];
  if (record === undefined) throw new TypeError(name);
  return record;
}

Deno.test("admit() begins an attempt on a device at rest only", () => {
  for (const [name, record] of Object.entries(SAMPLE_RECORDS)) {
    const rest = ["no transaction", "committed", "failed"].includes(name);
    assertEquals(decide(record), rest ? "admit" : name === "rollback-failed" ? "E_QUARANTINED" : "E_BUSY", name);
  }
});

Deno.test("admit() refuses what is not for this device or this updater, before anything that passes with time", () => {
  const blocked = { reserveComplete: false, stopping: true };
  assertEquals(decide(EMPTY_RECORD, { ...OTHER, deviceId: "device-2" }, blocked), "E_WRONG_DEVICE");
  assertEquals(decide(EMPTY_RECORD, { ...OTHER, arch: "aarch64" }, blocked), "E_WRONG_ARCH");
  const oci = { ...OTHER, artifact: { ...OTHER.artifact, url: "oci://registry.example/agent:1" } };
  assertEquals(decide(EMPTY_RECORD, oci, blocked), "E_UNSUPPORTED_SCHEME");
  assertEquals(decide(EMPTY_RECORD, oci, { schemes: ["https", "oci"] }), "admit");
});

Deno.test("admit() refuses for a time while stopping, or without the journal's reserve", () => {
  assertEquals(decide(EMPTY_RECORD, OTHER, { stopping: true }), "E_STOPPING");
  assertEquals(decide(EMPTY_RECORD, OTHER, { reserveComplete: false }), "E_NO_RESERVE");
});

Deno.test("admit() attaches a repeated attempt that is active, and refuses its UUID with other content", () => {
  const attempt = sampleAttempt();
  for (
    const name of ["preparing", "activating (stopping)", "activating (starting)", "rolling-back", "failed (restart)"]
  ) {
    assertEquals(decide(sample(name), attempt), "attach", name);
    assertEquals(decide(sample(name), { ...attempt, targetVersion: "2.0.1" }), "E_UUID_REUSED", name);
  }
});

Deno.test("admit() answers an attempt that ran before with its outcome, however long ago, and never runs it again", () => {
  const attempt = sampleAttempt();
  const outcome = {
    attemptId: attempt.attemptId,
    attemptDigest: canonicalDigest(attempt),
    phase: "failed",
    at: "2026-06-01T12:00:00.000Z",
  } as const;
  const record: UpdaterRecord = { transaction: null, history: [outcome] };
  const decision = admit(record, attempt, canonicalDigest(attempt), { ...FACTS, stopping: true });
  assertEquals(decision, { kind: "answer", outcome });
  assertEquals(decide(record, { ...attempt, arch: "aarch64" }), "E_UUID_REUSED");
  assertEquals(decide({ ...sample("failed"), history: [outcome] }, attempt), "answer");
  assertEquals(decide({ ...sample("rollback-failed"), history: [outcome] }, attempt), "answer");
});
