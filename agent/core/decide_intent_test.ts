import { assertEquals } from "@std/assert";
import { JOURNAL_CORRUPT } from "../../contracts/updater_protocol.ts";
import type { AgentUpgradeAttempt } from "../../contracts/agent_upgrade.ts";
import { CLOCK_EARLIEST_MS, CLOCK_SKEW_MAX_MS, INSTALL_RESERVE_BYTES } from "../../contracts/limits.ts";
import { attemptOf, bytesOf, DEVICE_ID, statusOf, updaterStateOf, viewOf } from "../../tests/fakes/agent_samples.ts";
import { decideIntent, type IntentDecision, type IntentFacts } from "./decide_intent.ts";
import { readIntent } from "./intent.ts";

const FACTS: IntentFacts = {
  deviceId: DEVICE_ID,
  arch: "x86_64",
  updater: updaterStateOf(),
  published: null,
  nowMs: CLOCK_EARLIEST_MS,
  clockSkewMs: 0,
  freeBytes: null,
};

function decide(document: unknown, facts: Partial<IntentFacts> = {}): IntentDecision {
  return decideIntent(readIntent(bytesOf(document), 5), { ...FACTS, ...facts });
}

/** The decision in one word, with its reason. */
function brief(decision: IntentDecision): string {
  switch (decision.kind) {
    case "reject":
      return `reject ${decision.rejection.reason} ${decision.rejection.failureClass}`;
    case "defer":
      return `defer ${decision.reason}`;
    default:
      return decision.kind;
  }
}

const OTHER = attemptOf(2);

Deno.test("decideIntent() forwards an attempt for this device when nothing is in its way", () => {
  assertEquals(brief(decide(attemptOf(1))), "forward");
  for (const phase of ["committed", "failed"] as const) {
    assertEquals(brief(decide(attemptOf(1), { updater: updaterStateOf(viewOf(OTHER, phase)) })), "forward");
  }
});

Deno.test("decideIntent() rejects what is not for this device", () => {
  const cases: [Partial<AgentUpgradeAttempt>, string][] = [
    [{ deviceId: "device-2" }, "reject WrongDevice policy"],
    [{ arch: "aarch64" }, "reject WrongArchitecture policy"],
    [{ attemptId: "not-a-uuid" }, "reject InvalidUuid policy"],
    [{ targetVersion: ".." }, "reject InvalidIntent policy"],
    [{ schema: 2 }, "reject SchemaUnsupported policy"],
  ];
  for (const [overrides, expected] of cases) assertEquals(brief(decide(attemptOf(1, overrides))), expected);
});

Deno.test("decideIntent() rejects a UUID that the updater has with other content", () => {
  const updater = updaterStateOf(viewOf(attemptOf(1), "failed"));
  assertEquals(brief(decide(attemptOf(1, { targetVersion: "3.0.0" }), { updater })), "reject UuidReused policy");
});

Deno.test("decideIntent() never sends again what the updater knows, in whatever phase", () => {
  const phases = ["preparing", "activating", "committed", "rolling-back", "failed", "rollback-failed"] as const;
  for (const phase of phases) {
    assertEquals(brief(decide(attemptOf(1), { updater: updaterStateOf(viewOf(attemptOf(1), phase)) })), "known");
  }
});

Deno.test("decideIntent() never sends again what stands answered in NATS", () => {
  for (const phase of ["complete", "failed", "rollback-failed"] as const) {
    assertEquals(brief(decide(attemptOf(1), { published: statusOf(attemptOf(1), phase) })), "answered");
  }
  const document = { ...attemptOf(1), attemptId: "x" };
  const published = { ...statusOf(attemptOf(1), "failed"), attemptId: undefined, attemptDigest: undefined };
  const { attemptId: _id, attemptDigest: _digest, ...rest } = published;
  assertEquals(brief(decide(document, { published: { ...rest, rejectedRevision: 5 } })), "answered");
  assertEquals(brief(decide(document, { published: { ...rest, rejectedRevision: 4 } })), "reject InvalidUuid policy");
});

Deno.test("decideIntent() sends again what was published as preparing and never reached the updater", () => {
  assertEquals(brief(decide(attemptOf(1), { published: statusOf(attemptOf(1), "preparing") })), "forward");
});

Deno.test("decideIntent() does not send again what an updater without a journal had accepted", () => {
  for (const phase of ["stopping", "starting", "rolling-back"] as const) {
    const published = statusOf(attemptOf(1), phase);
    assertEquals(brief(decide(attemptOf(1), { published })), "reject TransactionLost internal");
    assertEquals(brief(decide(attemptOf(3), { published })), "forward");
    const updater = updaterStateOf(viewOf(OTHER, "committed"));
    assertEquals(brief(decide(attemptOf(1), { published, updater })), "forward");
    const other = viewOf(OTHER, "failed");
    const repaired = updaterStateOf({ ...other, status: { ...other.status, reason: JOURNAL_CORRUPT } });
    assertEquals(brief(decide(attemptOf(1), { published, updater: repaired })), "reject TransactionLost internal");
  }
});

Deno.test("decideIntent() defers everything while the updater is away, busy or quarantined", () => {
  const wrong = attemptOf(1, { deviceId: "device-2" });
  for (const document of [attemptOf(1), wrong, "nonsense"]) {
    assertEquals(brief(decide(document, { updater: null })), "defer UpdaterUnavailable");
    for (const phase of ["preparing", "activating", "rolling-back"] as const) {
      assertEquals(brief(decide(document, { updater: updaterStateOf(viewOf(OTHER, phase)) })), "defer UpdaterBusy");
    }
    assertEquals(brief(decide(document, { updater: updaterStateOf(null, { busy: true }) })), "defer UpdaterBusy");
    const updater = updaterStateOf(viewOf(OTHER, "rollback-failed"));
    assertEquals(brief(decide(document, { updater })), "defer UpdaterQuarantined");
  }
});

for (const extra of [-1, 0, 1]) {
  Deno.test(`decideIntent() with a clock ${extra} ms from its bounds`, () => {
    const earliest = decide(attemptOf(1), { nowMs: CLOCK_EARLIEST_MS + extra });
    assertEquals(brief(earliest), extra < 0 ? "defer ClockInsane" : "forward");
    for (const sign of [1, -1]) {
      const skewed = decide(attemptOf(1), { clockSkewMs: sign * (CLOCK_SKEW_MAX_MS + extra) });
      assertEquals(brief(skewed), extra > 0 ? "defer ClockInsane" : "forward");
    }
  });

  Deno.test(`decideIntent() with ${extra} bytes more than it needs`, () => {
    const decision = decide(attemptOf(1), { freeBytes: 1_000 + INSTALL_RESERVE_BYTES + extra });
    assertEquals(brief(decision), extra < 0 ? "defer DiskLow" : "forward");
  });
}

Deno.test("decideIntent() does not wait for a skew that cannot be known", () => {
  assertEquals(brief(decide(attemptOf(1), { clockSkewMs: null })), "forward");
});
