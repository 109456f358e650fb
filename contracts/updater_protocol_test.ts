import { assertEquals, assertNotEquals } from "@std/assert";
import { assertRejected, assertStrictDecoder } from "../tests/assert/strict_decoder.ts";
import { systemAttempt, systemFailed, systemSucceeded } from "../tests/golden/task_documents.ts";
import { attempt, newerAttempt, statusRolledBack } from "../tests/golden/upgrade_documents.ts";
import { AGENT_UPGRADE_SCHEMA } from "./agent_upgrade.ts";
import { object } from "./codec.ts";
import { canonicalDigest } from "./digest.ts";
import {
  attemptOutcome,
  DURABLE_PHASES,
  encodeUpdaterResponse,
  UPDATER_ERROR_CODES,
  UPDATER_PROTOCOL,
  updaterRefusal,
  updaterRequest,
  updaterResponse,
  type UpdaterState,
  updaterState,
} from "./updater_protocol.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const refusal = {
  code: "E_REQUEST_INVALID",
  message: 'attempt.arch: is "arm"',
  field: "attempt.arch",
  failureClass: "policy",
  retryable: false,
} as const;

const outcome = {
  attemptId: attempt.attemptId,
  attemptDigest: canonicalDigest(attempt),
  phase: "failed",
  reason: "ExitedBeforeReady",
  at: "2026-11-30T08:00:51.730Z",
} as const;

const state: UpdaterState = {
  updaterVersion: "1.3.0",
  capabilities: ["https"],
  busy: false,
  quarantined: true,
  transaction: {
    phase: "rollback-failed",
    attemptId: attempt.attemptId,
    attemptDigest: canonicalDigest(attempt),
    targetVersion: "1.4.0",
    targetPath: "/usr/lib/harmony-fleet/fleet-agent-v1.4.0",
    previousPath: "/usr/lib/harmony-fleet/fleet-agent-v1.3.0",
    status: statusRolledBack,
  },
};

pure("request: status, and upgrade with the attempt as it came", () => {
  assertEquals(updaterRequest({ protocol: 1, request: "status", more: 1 }, ""), { request: "status" });
  const upgrade = updaterRequest({ protocol: 1, request: "upgrade", attempt: newerAttempt }, "");
  if (upgrade.request !== "upgrade") throw new Error("not an upgrade");
  assertEquals(canonicalDigest(upgrade.document), canonicalDigest(newerAttempt));
  assertNotEquals(canonicalDigest(upgrade.attempt), canonicalDigest(newerAttempt));
});

pure("request: every problem names its field", () => {
  const bad: [unknown, string][] = [
    [{}, "protocol"],
    [{ protocol: 1 }, "request"],
    [{ protocol: 0, request: "status" }, "protocol"],
    [{ protocol: 2, request: "status" }, "protocol"],
    [{ protocol: "1", request: "status" }, "protocol"],
    [{ protocol: 1, request: "repair" }, "request"],
    [{ protocol: 1, request: ["status"] }, "request"],
    [{ protocol: 1, request: "upgrade" }, "attempt"],
    [{ protocol: 1, request: "upgrade", attempt: null }, "attempt"],
    [{ protocol: 1, request: "upgrade", attempt: { ...attempt, arch: "arm" } }, "attempt.arch"],
    [{ protocol: 1, request: "upgrade", attempt: { ...attempt, schema: AGENT_UPGRADE_SCHEMA + 1 } }, "attempt.schema"],
    [{ protocol: 1, request: "upgrade", attempt: { ...attempt, artifact: {} } }, "attempt.artifact.url"],
  ];
  bad.push(
    [{ protocol: 1, request: "system-upgrade" }, "attempt"],
    [{ protocol: 1, request: "system-upgrade", attempt }, "attempt.runId"],
    [{ protocol: 1, request: "system-upgrade", attempt: { ...systemAttempt, schema: 2 } }, "attempt.schema"],
  );
  for (const [document, field] of bad) assertRejected(updaterRequest, document, field);
  for (const document of [[], null, "status", 1]) assertRejected(updaterRequest, document, "");
  assertRejected(
    updaterRequest,
    { protocol: 2, request: "upgrade" },
    "protocol",
    "newer",
    `speaks ${UPDATER_PROTOCOL}`,
  );
});

pure("response parts: strict in every field", () => {
  assertStrictDecoder(updaterRefusal, refusal);
  assertStrictDecoder(attemptOutcome, outcome);
  const { transaction, ...rest } = state;
  const everyMember = {
    ...rest,
    systemUpgrade: { ...systemSucceeded, ...systemFailed },
    ledgerProblem: "its checksum is wrong",
    transaction: transaction && { ...transaction, status: { ...statusRolledBack, rejectedRevision: 1 } },
  };
  assertStrictDecoder(updaterState, everyMember, { nullable: ["transaction"] });
});

pure("response: written and read back", () => {
  const responses = [
    { ok: true, state },
    { ok: true, state: { ...state, transaction: null }, outcome },
    { ok: true, state: { ...state, systemUpgrade: systemSucceeded }, systemUpgrade: systemFailed },
    { ok: false, error: refusal },
  ] as const;
  for (const response of responses) {
    assertEquals(updaterResponse(JSON.parse(JSON.stringify(encodeUpdaterResponse(response))), ""), response);
  }
});

pure("response: what is missing depends on ok", () => {
  assertRejected(updaterResponse, { protocol: 1, ok: true }, "state");
  assertRejected(updaterResponse, { protocol: 1, ok: false }, "error");
  assertRejected(updaterResponse, { protocol: 1, ok: "true", state }, "ok");
  assertRejected(updaterResponse, { ok: true, state }, "protocol");
  assertRejected(updaterResponse, { protocol: 1, ok: false, error: { ...refusal, code: "E_OTHER" } }, "error.code");
});

pure("codes and durable phases: every one is read, no other", () => {
  for (const code of UPDATER_ERROR_CODES) updaterRefusal({ ...refusal, code }, "");
  const phased = object({ state: updaterState });
  for (const phase of DURABLE_PHASES) phased({ state: { ...state, transaction: { ...state.transaction, phase } } }, "");
  const odd = { state: { ...state, transaction: { ...state.transaction, phase: "complete" } } };
  assertRejected(phased, odd, "state.transaction.phase");
});

pure("system upgrade: the document is kept as it came, and an older reader takes a newer state", () => {
  const newer = { ...systemAttempt, window: "night" };
  const request = updaterRequest({ protocol: 1, request: "system-upgrade", attempt: newer }, "");
  assertEquals(request, { request: "system-upgrade", attempt: systemAttempt, document: newer });
  const { systemUpgrade: _, ...older } = updaterState({ ...state, systemUpgrade: systemFailed }, "");
  assertEquals(older, state);
});
