import { assertEquals, assertNotEquals } from "@std/assert";
import { assertRejected, assertStrictDecoder } from "../tests/assert/strict_decoder.ts";
import { systemAttempt, systemFailed, systemSucceeded } from "../tests/golden/task_documents.ts";
import { attempt, newerAttempt, statusRolledBack } from "../tests/golden/upgrade_documents.ts";
import { AGENT_UPGRADE_SCHEMA, agentUpgradeAttempt } from "./agent_upgrade.ts";
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
});

pure("codes: every one is read; a newer updater's is read as a fault of it, with what is to be done", () => {
  for (const code of UPDATER_ERROR_CODES) assertEquals(updaterRefusal({ ...refusal, code }, "").code, code);
  const newer = { ...refusal, code: "E_MOON", failureClass: "weather", retryable: true, moon: "full" };
  assertEquals(updaterRefusal(newer, ""), {
    ...refusal,
    code: "E_INTERNAL",
    failureClass: "internal",
    retryable: true,
  });
});

pure("durable phases: every one is read, no other", () => {
  const phased = object({ state: updaterState });
  for (const phase of DURABLE_PHASES) phased({ state: { ...state, transaction: { ...state.transaction, phase } } }, "");
  const odd = { state: { ...state, transaction: { ...state.transaction, phase: "complete" } } };
  assertRejected(phased, odd, "state.transaction.phase");
});

/** A document with members that nobody knows in each of its objects. */
function withUnknown(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withUnknown);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, member]) => [name, withUnknown(member)] as const);
  return { ...Object.fromEntries(entries), fromLater: { depth: [1, null] } };
}

pure("an old agent reads a newer updater: unknown members, capabilities, reasons, classes and stages", () => {
  const newer = {
    ...state,
    capabilities: ["https", "oci", "torrent", "AptFullUpgradeV9"],
    transaction: {
      ...state.transaction,
      status: {
        ...statusRolledBack,
        reason: "MoonPhase",
        failureClass: "weather",
        transitions: [...statusRolledBack.transitions, {
          phase: "failed",
          at: statusRolledBack.updatedAt,
          code: "MoonPhase",
        }],
        postMortem: { ...statusRolledBack.postMortem, stage: "orbit" },
      },
    },
  };
  const response = updaterResponse({ protocol: 1, ok: true, state: withUnknown(newer), more: {} }, "");
  if (!response.ok) throw new Error("refused");
  const { transaction, capabilities } = response.state;
  assertEquals(capabilities, newer.capabilities);
  assertEquals([transaction?.phase, transaction?.targetVersion], ["rollback-failed", "1.4.0"]);
  const { reason, failureClass, postMortem } = transaction?.status ?? {};
  assertEquals([reason, failureClass, postMortem?.stage], ["MoonPhase", "internal", "start"]);
  // What decides is never guessed.
  for (const phase of ["hibernating", "complete"]) {
    const odd = { ...newer, transaction: { ...newer.transaction, phase } };
    assertRejected(updaterResponse, { protocol: 1, ok: true, state: odd }, "state.transaction.phase");
  }
});

pure("a new agent reads an old updater: what is optional today was not there once", () => {
  const { postMortem: _, drainMs: __, bootId: ___, invocationId: ____, journalUnit: _____, ...status } =
    statusRolledBack;
  const older = { ...state, capabilities: [], transaction: { ...state.transaction, status } };
  const response: unknown = updaterResponse({ protocol: 1, ok: true, state: older }, "");
  assertEquals(response, { ok: true, state: older });
});

pure("an old updater reads a newer agent: unknown members are ignored, and bound by the attempt's digest", () => {
  assertEquals(updaterRequest({ protocol: 1, request: "status", language: "en" }, ""), { request: "status" });
  const request = updaterRequest({ protocol: 1, request: "upgrade", attempt: newerAttempt, hurry: true }, "");
  if (request.request !== "upgrade") throw new Error("not an upgrade");
  assertEquals(request.attempt, agentUpgradeAttempt(attempt, ""));
  assertEquals(request.document, newerAttempt);
});

pure("system upgrade: the document is kept as it came, and an older reader takes a newer state", () => {
  const newer = { ...systemAttempt, window: "night" };
  const request = updaterRequest({ protocol: 1, request: "system-upgrade", attempt: newer }, "");
  assertEquals(request, { request: "system-upgrade", attempt: systemAttempt, document: newer });
  const { systemUpgrade: _, ...older } = updaterState({ ...state, systemUpgrade: systemFailed }, "");
  assertEquals(older, state);
});
