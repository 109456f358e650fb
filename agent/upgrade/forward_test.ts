import { assertEquals } from "@std/assert";
import { UPDATER_ERROR_CODES, type UpdaterErrorCode } from "../../contracts/updater_protocol.ts";
import { attemptOf, bytesOf, STARTED_AT, updaterStateOf, uuidOf, viewOf } from "../../tests/fakes/agent_samples.ts";
import { readIntent, type ValidIntent } from "../core/intent.ts";
import { judgeResponse } from "./forward.ts";

function intentOf(digit: number): ValidIntent {
  const intent = readIntent(bytesOf(attemptOf(digit)), 1);
  if (intent.kind !== "attempt") throw new Error(intent.error);
  return intent;
}

const INTENT = intentOf(1);

function refused(code: UpdaterErrorCode, retryable: boolean): string {
  const error = { code, message: "no", failureClass: "policy", retryable } as const;
  const outcome = judgeResponse(INTENT, { ok: false, error });
  return outcome.kind === "deferred" ? `deferred ${outcome.reason}` : outcome.kind;
}

Deno.test("judgeResponse(): the updater's transaction is the attempt", () => {
  for (const phase of ["committed", "failed", "rollback-failed"] as const) {
    const state = updaterStateOf(viewOf(attemptOf(1), phase));
    assertEquals(judgeResponse(INTENT, { ok: true, state }).kind, "accepted");
  }
});

Deno.test("judgeResponse(): the attempt ran earlier", () => {
  const state = updaterStateOf(viewOf(attemptOf(2), "committed"));
  const outcome = { attemptId: uuidOf(1), attemptDigest: INTENT.digest, phase: "failed", at: STARTED_AT } as const;
  assertEquals(judgeResponse(INTENT, { ok: true, state, outcome }), { kind: "replayed", outcome });
});

Deno.test("judgeResponse(): an answer for another attempt settles nothing", () => {
  const outcome = { attemptId: uuidOf(1), attemptDigest: "f".repeat(64), phase: "failed", at: STARTED_AT } as const;
  for (const state of [updaterStateOf(), updaterStateOf(viewOf(attemptOf(2), "committed"))]) {
    assertEquals(judgeResponse(INTENT, { ok: true, state }).kind, "deferred");
    assertEquals(judgeResponse(INTENT, { ok: true, state, outcome }).kind, "deferred");
  }
});

Deno.test("judgeResponse(): a refusal is final or not by what the updater says, whatever its code", () => {
  for (const code of UPDATER_ERROR_CODES) {
    assertEquals(refused(code, false), "rejected");
    const reason = { E_BUSY: "UpdaterBusy", E_QUARANTINED: "UpdaterQuarantined" }[code as string] ?? "UpdaterRefused";
    assertEquals(refused(code, true), `deferred ${reason}`);
  }
});
