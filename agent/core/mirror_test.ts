import { assertEquals } from "@std/assert";
import { isTerminalPhase, UPGRADE_PHASES } from "../../contracts/agent_upgrade.ts";
import type { DurablePhase } from "../../contracts/updater_protocol.ts";
import { attemptOf, DEVICE_ID, STARTED_AT, statusOf, uuidOf, viewOf } from "../../tests/fakes/agent_samples.ts";
import { identityOf } from "./attempt_identity.ts";
import { decideMirror, type MirrorFacts } from "./mirror.ts";

const OURS = attemptOf(1);
const THEIRS = attemptOf(2);
const LATER = "2026-06-01T12:00:00.001Z";
const EARLIER = "2026-06-01T11:59:59.999Z";
const ACTIVE: readonly DurablePhase[] = ["preparing", "activating", "rolling-back"];
const ENDED: readonly DurablePhase[] = ["committed", "failed", "rollback-failed"];

function decide(facts: Partial<MirrorFacts>): string {
  const decision = decideMirror({
    deviceId: DEVICE_ID,
    transaction: null,
    published: null,
    intent: null,
    forwarding: null,
    lastDrain: null,
    nowMs: Date.parse(LATER),
    ...facts,
  });
  return decision.kind === "nothing" ? decision.why : decision.kind;
}

Deno.test("decideMirror() writes every phase of a transaction, complete included, once", () => {
  for (const phase of [...ACTIVE, ...ENDED]) {
    const transaction = viewOf(OURS, phase);
    assertEquals(decide({ transaction }), "write");
    assertEquals(decide({ transaction, published: transaction.status }), "same");
    const older = statusOf(OURS, "preparing", { detail: "older" });
    assertEquals(decide({ transaction, published: older }), "write");
  }
});

Deno.test("decideMirror() does nothing where there has been no transaction", () => {
  assertEquals(decide({}), "no-transaction");
  assertEquals(decide({ published: statusOf(OURS, "failed") }), "no-transaction");
});

Deno.test("decideMirror() reports a transaction of another device and writes nothing of it", () => {
  assertEquals(decide({ transaction: viewOf(attemptOf(1, { deviceId: "device-2" }), "committed") }), "foreign");
});

Deno.test("decideMirror() adds the drain time of the same attempt only, and keeps one that is there", () => {
  const lastDrain = { schema: 1, attemptId: uuidOf(1), drainMs: 1_234, at: STARTED_AT };
  const facts = { deviceId: DEVICE_ID, published: null, intent: null, forwarding: null, lastDrain, nowMs: 0 };
  const drained = (transaction: ReturnType<typeof viewOf>) => {
    const decision = decideMirror({ ...facts, transaction });
    return decision.kind === "write" ? decision.status.drainMs : decision.kind;
  };
  assertEquals(drained(viewOf(OURS, "activating")), 1_234);
  assertEquals(drained(viewOf(THEIRS, "activating")), undefined);
  assertEquals(drained(viewOf(OURS, "activating", { drainMs: 9 })), 9);
});

Deno.test("decideMirror(): nothing is newer than an active transaction", () => {
  for (const phase of ACTIVE) {
    for (const published of UPGRADE_PHASES.map((other) => statusOf(THEIRS, other, { startedAt: LATER }))) {
      const intent = identityOf(published);
      assertEquals(decide({ transaction: viewOf(OURS, phase), published, intent, forwarding: intent }), "write");
    }
  }
});

Deno.test("decideMirror(): what the intent names, or is on its way, is newer than a transaction that has ended", () => {
  for (const phase of ENDED) {
    const transaction = viewOf(OURS, phase);
    for (const published of UPGRADE_PHASES.map((other) => statusOf(THEIRS, other, { startedAt: EARLIER }))) {
      assertEquals(decide({ transaction, published, intent: identityOf(published) }), "newer");
      assertEquals(decide({ transaction, published, forwarding: identityOf(published) }), "newer");
      const ours = identityOf(transaction.status);
      const later = { ...published, startedAt: LATER };
      assertEquals(decide({ transaction, published: later, intent: ours }), "write");
    }
  }
});

Deno.test("decideMirror(): one UUID with other content is another attempt", () => {
  const reused = attemptOf(1, { targetVersion: "3.0.0" });
  const published = statusOf(reused, "failed");
  const transaction = viewOf(OURS, "committed");
  assertEquals(decide({ transaction, published, intent: identityOf(published) }), "newer");
  assertEquals(decide({ transaction, published, intent: identityOf(transaction.status) }), "write");
});

Deno.test("decideMirror(): an intent rejected by revision is newer only while it is the intent", () => {
  const { attemptId: _id, attemptDigest: _digest, ...rest } = statusOf(THEIRS, "failed", { startedAt: EARLIER });
  const published = { ...rest, rejectedRevision: 8 };
  const transaction = viewOf(OURS, "committed");
  assertEquals(decide({ transaction, published, intent: identityOf({ rejectedRevision: 8 }) }), "newer");
  assertEquals(decide({ transaction, published, intent: identityOf({ rejectedRevision: 9 }) }), "write");
});

Deno.test("decideMirror(): of two that nobody wants any more, one that never ended is a leftover, else the later one is newer", () => {
  for (const phase of ENDED) {
    const transaction = viewOf(OURS, phase);
    for (const other of UPGRADE_PHASES) {
      const at = (startedAt: string) => decide({ transaction, published: statusOf(THEIRS, other, { startedAt }) });
      assertEquals(at(LATER), isTerminalPhase(other) ? "newer" : "write");
      assertEquals(at(STARTED_AT), "write");
      assertEquals(at(EARLIER), "write");
    }
  }
});

Deno.test("decideMirror() comes to rest: what it writes is the same at the next poll", () => {
  for (const phase of [...ACTIVE, ...ENDED]) {
    for (const other of UPGRADE_PHASES) {
      const facts = {
        deviceId: DEVICE_ID,
        transaction: viewOf(OURS, phase),
        published: statusOf(THEIRS, other),
        intent: null,
        forwarding: null,
        lastDrain: { schema: 1, attemptId: uuidOf(1), drainMs: 5, at: STARTED_AT },
        nowMs: Date.parse(LATER),
      };
      const first = decideMirror(facts);
      if (first.kind === "write") assertEquals(decide({ ...facts, published: first.status }), "same");
    }
  }
});

Deno.test("decideMirror(): without any transaction a leftover is ended, what is wanted or has ended stays", () => {
  for (const phase of UPGRADE_PHASES) {
    const published = statusOf(THEIRS, phase);
    const facts = { published, transaction: null };
    assertEquals(decide({ ...facts, intent: identityOf(published) }), "no-transaction");
    assertEquals(decide({ ...facts, forwarding: identityOf(published) }), "no-transaction");
    assertEquals(decide(facts), isTerminalPhase(phase) ? "no-transaction" : "write");
  }
});

Deno.test("decideMirror(): a leftover that was only announced was withdrawn, any other lost its transaction", () => {
  const end = (phase: "preparing" | "starting") => {
    const facts = { deviceId: DEVICE_ID, transaction: null, intent: null, forwarding: null, lastDrain: null };
    const decision = decideMirror({ ...facts, published: statusOf(THEIRS, phase), nowMs: Date.parse(LATER) });
    if (decision.kind !== "write") throw new Error(decision.kind);
    assertEquals(decision.status.transitions.at(-1)?.phase, "failed");
    return [decision.status.attemptId, decision.status.phase, decision.status.reason, decision.status.failureClass];
  };
  assertEquals(end("preparing"), [uuidOf(2), "failed", "Withdrawn", "policy"]);
  assertEquals(end("starting"), [uuidOf(2), "failed", "TransactionLost", "internal"]);
});
