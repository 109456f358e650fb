import { assert, assertEquals, assertThrows } from "@std/assert";
import { FleetError } from "../../contracts/errors.ts";
import { JOURNAL_HISTORY_MAX, JOURNAL_MAX_BYTES, TRANSITIONS_MAX } from "../../contracts/limits.ts";
import { encodeJournal } from "../../lib/journal/journal_codec.ts";
import { SAMPLE_PATHS, SAMPLE_RECORDS, SAMPLE_START_MS, sampleAttempt } from "../../tests/fakes/upgrade_samples.ts";
import { boundedPostMortem } from "./post_mortem.ts";
import { leadsToTheSame, RECORD_SCHEMA, recordDecoder, type Transaction, type UpdaterRecord } from "./record.ts";
import { moveTo } from "./rewrite.ts";

const decode = recordDecoder(SAMPLE_PATHS);

function preparing(): { record: UpdaterRecord; transaction: Transaction } {
  const record = SAMPLE_RECORDS["preparing"];
  if (record?.transaction === undefined || record.transaction === null) throw new TypeError("sample");
  return { record, transaction: record.transaction };
}

function rejected(change: Partial<Record<keyof Transaction, unknown>>): string {
  const { record, transaction } = preparing();
  return assertThrows(() => decode({ ...record, transaction: { ...transaction, ...change } }, ""), FleetError).message;
}

Deno.test("recordDecoder() refuses unknown phases, steps that a phase does not have, and paths outside the managed ones", () => {
  assert(rejected({ phase: "paused" }).includes("transaction.phase"));
  assert(rejected({ step: "stopping" }).includes("transaction.step"));
  assert(rejected({ previousPath: "/usr/bin/env" }).includes("/usr/lib/harmony-fleet"));
  assert(rejected({ previousPath: "/usr/lib/harmony-fleet/fleet-agent-v../../../bin/sh" }).includes("previousPath"));
  assert(rejected({ previousPath: "/usr/lib/harmony-fleet/fleet-agent-v1.0.0/../x" }).includes("previousPath"));
  assert(rejected({ targetPath: "/usr/lib/harmony-fleet/fleet-agent-v1.0.0" }).includes("transaction.targetPath"));
});

Deno.test("moveTo() keeps the newest transitions, at the limit, one below and one above", () => {
  for (const count of [TRANSITIONS_MAX - 1, TRANSITIONS_MAX, TRANSITIONS_MAX + 1]) {
    let { record, transaction } = preparing();
    for (let index = 1; index < count; index++) {
      const phase = index % 2 === 1 ? "rolling-back" : "preparing";
      record = moveTo(record, transaction, SAMPLE_START_MS + index, { phase });
      if (record.transaction !== null) transaction = record.transaction;
    }
    assertEquals(transaction.transitions.length, Math.min(count, TRANSITIONS_MAX));
    assertEquals(transaction.transitions.at(-1)?.at, new Date(SAMPLE_START_MS + count - 1).toISOString());
  }
});

Deno.test("moveTo() remembers as many outcomes as the limit says, the newest, one for each attempt", () => {
  let { record, transaction } = preparing();
  for (let index = 0; index <= JOURNAL_HISTORY_MAX; index++) {
    const attemptId = `0b9c3d1e-6f5a-4b7c-8d9e-${index.toString(16).padStart(12, "0")}`;
    const attempt = sampleAttempt({ attemptId });
    record = moveTo(record, { ...transaction, attempt }, SAMPLE_START_MS, { phase: "rollback-failed" });
    record = moveTo(record, { ...transaction, attempt }, SAMPLE_START_MS, { phase: "failed" });
    assertEquals(record.history.length, Math.min(index + 1, JOURNAL_HISTORY_MAX));
  }
  assert(record.history.every(({ phase }) => phase === "failed"));
  assertEquals(record.history.at(-1)?.attemptId.endsWith(JOURNAL_HISTORY_MAX.toString(16).padStart(12, "0")), true);
  assertEquals(record.history[0]?.attemptId.endsWith("000000000001"), true);
});

Deno.test("the largest record that can be made fits the journal", () => {
  const { record, transaction } = preparing();
  const worst = "\u0001".repeat(1_024);
  const attempt = sampleAttempt({
    targetVersion: `1.0.0-${"a".repeat(58)}`,
    artifact: { url: `https://a.example/${"b".repeat(2_030)}`, maxBytes: 1, sha256: "c".repeat(64) },
    releaseIdentity: "d".repeat(64),
  });
  const at = "2026-06-01T12:00:00.000Z";
  const code = "R".repeat(128);
  const full: UpdaterRecord = {
    transaction: {
      ...transaction,
      attempt,
      targetPath: `/usr/lib/harmony-fleet/fleet-agent-v${attempt.targetVersion}`,
      previousPath: `/usr/lib/harmony-fleet/fleet-agent-v${attempt.targetVersion}`,
      phase: "rollback-failed",
      transitions: Array.from({ length: TRANSITIONS_MAX }, () => ({ phase: "rollback-failed", at, code })),
      detail: worst,
      bootId: "e".repeat(128),
      invocationId: "f".repeat(128),
      finding: {
        reason: code,
        failureClass: "environment",
        error: worst,
        postMortem: boundedPostMortem({
          stage: "start",
          result: "exit-code",
          statusText: worst,
          failedCheck: { name: worst, reason: worst },
          lastLines: Array.from({ length: 20 }, () => "€".repeat(256)),
        }),
      },
    },
    history: Array.from({ length: JOURNAL_HISTORY_MAX }, () => ({
      attemptId: attempt.attemptId,
      attemptDigest: "a".repeat(64),
      phase: "rollback-failed",
      reason: code,
      at,
    })),
  };
  decode(full, "");
  const { byteLength } = encodeJournal({ schema: RECORD_SCHEMA, seq: 2 ** 53 - 1, body: full }, JOURNAL_MAX_BYTES);
  assert(byteLength < JOURNAL_MAX_BYTES, `${byteLength}`);
  assertEquals(record.history.length, 0);
});

Deno.test("leadsToTheSame() lets only what is told differ", () => {
  const { record, transaction } = preparing();
  const changed = (change: Partial<Transaction>) => ({ ...record, transaction: { ...transaction, ...change } });
  for (const change of [{}, { detail: "waits" }, { updatedAt: "2027-01-01T00:00:00.000Z" }]) {
    assert(leadsToTheSame(record, changed(change)), JSON.stringify(change));
    assert(leadsToTheSame(changed(change), record), JSON.stringify(change));
  }
  const finding = { reason: "X", failureClass: "internal", error: "x" } as const;
  for (const change of [{ phase: "failed" }, { step: "restart" }, { previousPath: "/x" }, { finding }] as const) {
    assert(!leadsToTheSame(record, changed(change)), JSON.stringify(change));
  }
  assert(!leadsToTheSame({ ...record, transaction: null }, record));
  assert(!leadsToTheSame(record, { ...record, history: [...record.history] }));
});
