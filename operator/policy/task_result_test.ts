import { assertEquals } from "@std/assert";
import type { SystemUpgradeStatus } from "../../contracts/system_upgrade.ts";
import { SYSTEM_UPGRADE_PHASES } from "../../contracts/system_upgrade.ts";
import { runId, systemFailed, systemSucceeded } from "../../tests/golden/task_documents.ts";
import { judgeResult } from "./task_result.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const KEY = { deviceId: "device-1", runId };
const DEADLINE_MS = 10_000;
const judge = (status: SystemUpgradeStatus, atMs = 9_000) => judgeResult(status, atMs, KEY, DEADLINE_MS);

pure("judgeResult(): every phase, before and at the deadline", () => {
  for (const phase of SYSTEM_UPGRADE_PHASES) {
    for (const atMs of [DEADLINE_MS - 1, DEADLINE_MS, DEADLINE_MS + 1]) {
      const result = judge({ ...systemSucceeded, phase }, atMs);
      const kind = phase === "succeeded" || phase === "failed" ? phase : "accepted";
      assertEquals(result.kind, kind);
      if (result.kind === "succeeded" || result.kind === "failed") assertEquals(result.isLate, atMs >= DEADLINE_MS);
    }
  }
});

pure("judgeResult(): a success counts with a heartbeat of another boot only", () => {
  const { firstHeartbeat, ...without } = systemSucceeded;
  assertEquals(judge(without).kind, "accepted");
  const bootId = systemSucceeded.summary?.bootIdBefore ?? "";
  const early = { ...systemSucceeded, firstHeartbeat: { sequence: 7, at: firstHeartbeat?.at ?? "", bootId } };
  assertEquals(judge(early).kind, "accepted");
  // Nothing was to be done, so that it was not rebooted.
  assertEquals(judge({ ...early, reason: "NothingToDo" }).kind, "succeeded");
  const { summary: _, ...bare } = early;
  assertEquals(judge(bare).kind, "succeeded");
});

pure("judgeResult(): a status of another attempt, run or device says nothing", () => {
  const other = "7d2f4c1e-7d52-4a7e-9f5e-0d6f1a2b3c4e";
  for (const changes of [{ attemptId: other }, { runId: other }, { deviceId: "device-2" }]) {
    for (const status of [systemSucceeded, systemFailed]) {
      assertEquals(judge({ ...status, ...changes }).kind, "ignored", JSON.stringify(changes));
    }
  }
});

pure("judgeResult(): one line says why it failed", () => {
  const errorOf = (status: SystemUpgradeStatus) => {
    const result = judge(status);
    return result.kind === "failed" ? result.error : result.kind;
  };
  assertEquals(errorOf(systemFailed), "IndexRefreshFailed: apt-get update: Could not resolve 'deb.example'");
  const { error: _, ...withoutError } = systemFailed;
  assertEquals(errorOf(withoutError), "IndexRefreshFailed: 3 tries within 6 minutes");
  const { detail: __, ...withReason } = withoutError;
  assertEquals(errorOf(withReason), "IndexRefreshFailed");
  const { reason: ___, ...bare } = withReason;
  assertEquals(errorOf(bare), "it failed");
  assertEquals(errorOf({ ...systemFailed, error: "x".repeat(1_024) }).length, 1_024);
});
