import { assertEquals } from "@std/assert";
import { type AgentUpgradeStatus, agentUpgradeStatus } from "../../contracts/agent_upgrade.ts";
import { canonicalJson } from "../../contracts/canonical_json.ts";
import { DETAIL_MAX_CHARS } from "../../contracts/limits.ts";
import { UPDATER_ERROR_CODES } from "../../contracts/updater_protocol.ts";
import { attemptOf, bytesOf, DEVICE_ID, STARTED_AT, statusOf, uuidOf } from "../../tests/fakes/agent_samples.ts";
import { identityOf } from "./attempt_identity.ts";
import {
  preparingStatus,
  rejectedStatus,
  rejectionOfRefusal,
  replayedStatus,
  stoppingStatus,
} from "./attempt_status.ts";
import { readIntent } from "./intent.ts";

const AUTHOR = { deviceId: DEVICE_ID, bootId: "boot-1", nowMs: Date.parse(STARTED_AT) };
const REJECTION = { reason: "WrongDevice", failureClass: "policy", error: "deviceId: no" } as const;

/** The status as a reader of the wire gets it; what the contract does not take throws. */
function onTheWire(status: AgentUpgradeStatus): AgentUpgradeStatus {
  const read = agentUpgradeStatus(JSON.parse(canonicalJson(status)), "");
  assertEquals(read, status);
  return read;
}

function validIntent(digit: number) {
  const intent = readIntent(bytesOf(attemptOf(digit, { releaseIdentity: "b".repeat(64) })), 3);
  if (intent.kind !== "attempt") throw new Error(intent.error);
  return intent;
}

Deno.test("preparingStatus() tells of the attempt and its target", () => {
  const intent = validIntent(1);
  const status = onTheWire(preparingStatus(intent, AUTHOR));
  assertEquals([status.phase, status.attemptId, status.attemptDigest], ["preparing", uuidOf(1), intent.digest]);
  assertEquals([status.targetVersion, status.artifactSha256], ["2.0.0", "a".repeat(64)]);
  assertEquals(status.releaseIdentity, "b".repeat(64));
  assertEquals(status.transitions, [{ phase: "preparing", at: STARTED_AT }]);
});

Deno.test("rejectedStatus() carries the UUID where there is one, the revision otherwise", () => {
  const withUuid = onTheWire(rejectedStatus(validIntent(1), REJECTION, AUTHOR));
  assertEquals([withUuid.phase, withUuid.reason, withUuid.failureClass], ["failed", "WrongDevice", "policy"]);
  assertEquals([withUuid.attemptId, withUuid.rejectedRevision], [uuidOf(1), undefined]);
  const broken = readIntent(bytesOf({ attemptId: "x" }), 7);
  const withoutUuid = onTheWire(rejectedStatus(broken, REJECTION, AUTHOR));
  assertEquals([withoutUuid.attemptId, withoutUuid.rejectedRevision], [undefined, 7]);
  assertEquals(identityOf(withoutUuid), broken.identity);
  assertEquals(onTheWire(rejectedStatus(readIntent(new Uint8Array([1]), 8), REJECTION, AUTHOR)).rejectedRevision, 8);
});

Deno.test("rejectedStatus() cuts an error at its bound", () => {
  for (const extra of [-1, 0, 1]) {
    const error = "x".repeat(DETAIL_MAX_CHARS + extra);
    const status = onTheWire(rejectedStatus(validIntent(1), { ...REJECTION, error }, AUTHOR));
    assertEquals(status.error?.length, Math.min(error.length, DETAIL_MAX_CHARS));
  }
});

Deno.test("replayedStatus() is the outcome that the updater remembers", () => {
  const intent = validIntent(1);
  const outcome = { attemptId: uuidOf(1), attemptDigest: intent.digest, phase: "failed", at: STARTED_AT } as const;
  const status = onTheWire(replayedStatus(intent, { ...outcome, reason: "NeverReady" }, AUTHOR));
  assertEquals([status.phase, status.reason, identityOf(status)], ["failed", "NeverReady", intent.identity]);
});

Deno.test("rejectionOfRefusal() has a reason for every code", () => {
  for (const code of UPDATER_ERROR_CODES) {
    const refusal = { code, message: "no", failureClass: "policy", retryable: false } as const;
    onTheWire(rejectedStatus(validIntent(1), rejectionOfRefusal(refusal), AUTHOR));
  }
});

Deno.test("stoppingStatus() keeps what the updater said and adds who stops it", () => {
  const before = statusOf(attemptOf(1), "starting", { detail: "x" });
  const status = onTheWire(stoppingStatus(before, AUTHOR.nowMs + 1));
  assertEquals(status, { ...before, phase: "stopping", reason: "Updater", updatedAt: "2026-06-01T12:00:00.001Z" });
});
