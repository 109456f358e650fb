import { assertEquals } from "@std/assert";
import { CLOCK_SKEW_MAX_MS, LEDGER_ENTRIES_MAX, TASK_DEADLINE_MAX_S } from "../../../contracts/limits.ts";
import { canonicalDigest } from "../../../contracts/digest.ts";
import type { SystemUpgradeAttempt } from "../../../contracts/system_upgrade.ts";
import {
  LEDGER_START_MS as START,
  runUid,
  SAMPLE_LEDGERS,
  sampleSystemAttempt,
} from "../../../tests/fakes/ledger_samples.ts";
import { admitUpgrade, type UpgradeAdmissionFacts } from "./admit_upgrade.ts";
import { EMPTY_LEDGER, type Ledger } from "./ledger.ts";

const FACTS: UpgradeAdmissionFacts = {
  deviceId: "device-1",
  incapable: undefined,
  nowMs: START,
  agentUpgradeActive: false,
  quarantined: false,
  reserveComplete: true,
  stopping: false,
};

function decide(
  ledger: Ledger,
  overrides: Partial<SystemUpgradeAttempt> = {},
  facts: Partial<UpgradeAdmissionFacts> = {},
): string {
  const attempt = sampleSystemAttempt(overrides);
  const decision = admitUpgrade(ledger, attempt, canonicalDigest(attempt), { ...FACTS, ...facts });
  if (decision.kind === "refuse") return decision.refusal.code;
  return decision.kind === "answer" ? decision.status.phase : "admit";
}

function ledgerOf(name: string): Ledger {
  const ledger = SAMPLE_LEDGERS[name];
  if (ledger === undefined) throw new RangeError(name);
  return ledger;
}

const iso = (ms: number) => new Date(ms).toISOString();
const OTHER = { attemptId: runUid(1) };

Deno.test("admitUpgrade() answers a repeated attempt with how it stands, whatever else is the matter", () => {
  const worst = { nowMs: 0, agentUpgradeActive: true, quarantined: true, reserveComplete: false, stopping: true };
  assertEquals(decide(ledgerOf("upgrading"), {}, worst), "upgrading");
  assertEquals(decide(ledgerOf("failed"), {}, worst), "failed");
  const later: Ledger = { ...ledgerOf("failed"), run: null };
  assertEquals(decide(later, {}, worst), "failed");
  assertEquals(decide(later, { expiresAt: iso(START + 1) }, worst), "E_UUID_REUSED");
});

Deno.test("admitUpgrade() refuses for good what will never fit", () => {
  assertEquals(decide(EMPTY_LEDGER, { deviceId: "device-2" }), "E_WRONG_DEVICE");
  assertEquals(decide(EMPTY_LEDGER, {}, { incapable: "no apt" }), "E_UNSUPPORTED_OPERATION");
  assertEquals([-1, 0, 1].map((ms) => decide(EMPTY_LEDGER, { expiresAt: iso(START + ms) })), [
    "E_EXPIRED",
    "E_EXPIRED",
    "admit",
  ]);
  const longest = START + TASK_DEADLINE_MAX_S * 1_000;
  assertEquals(
    [-1, 0, 1].map((ms) => decide(EMPTY_LEDGER, { createdAt: iso(START), expiresAt: iso(longest + ms) })),
    ["admit", "admit", "E_REQUEST_INVALID"],
  );
});

Deno.test("admitUpgrade() judges expiry by a sane clock that never runs back", () => {
  assertEquals(decide(EMPTY_LEDGER, { expiresAt: iso(START - 1) }, { nowMs: 1_000 }), "E_CLOCK_INSANE");
  const seen: Ledger = { ...EMPTY_LEDGER, clockMs: START + 60_000 };
  assertEquals(decide(seen, { expiresAt: iso(START + 30_000) }), "E_EXPIRED");
  assertEquals(decide(seen, { expiresAt: iso(START + 60_001) }), "admit");
  assertEquals(decide({ ...seen, clockMs: START + CLOCK_SKEW_MAX_MS + 1 }), "E_CLOCK_INSANE");
});

Deno.test("admitUpgrade() refuses what may have run before a repair lost the ledger", () => {
  const lostUntilMs = START - 60_000;
  const createdAt = (ms: number) => ({ createdAt: iso(lostUntilMs + CLOCK_SKEW_MAX_MS + ms) });
  const decisions = [-1, 0, 1].map((ms) => decide({ ...EMPTY_LEDGER, lostUntilMs }, createdAt(ms), { nowMs: START }));
  assertEquals(decisions, ["E_LEDGER_LOST", "E_LEDGER_LOST", "admit"]);
});

Deno.test("admitUpgrade() lets wait what passes with time", () => {
  assertEquals(decide(EMPTY_LEDGER, {}, { stopping: true }), "E_STOPPING");
  assertEquals(decide(EMPTY_LEDGER, {}, { quarantined: true }), "E_QUARANTINED");
  assertEquals(decide(EMPTY_LEDGER, {}, { agentUpgradeActive: true }), "E_BUSY");
  assertEquals(decide(ledgerOf("upgrading"), OTHER), "E_BUSY");
  assertEquals(decide(EMPTY_LEDGER, {}, { reserveComplete: false }), "E_NO_RESERVE");
  assertEquals(decide(ledgerOf("failed"), OTHER), "admit");
});

Deno.test("admitUpgrade() remembers as many attempts as its limit says, until they have expired", () => {
  const full = (count: number, expiresAtMs: number): Ledger => ({
    ...EMPTY_LEDGER,
    entries: Array.from({ length: count }, (_, index) => ({
      attemptId: runUid(index + 100),
      attemptDigest: "a".repeat(64),
      phase: "failed",
      reason: "Interrupted",
      startedAt: iso(START - 1_000),
      at: iso(START - 1_000),
      expiresAt: iso(expiresAtMs),
    })),
  });
  assertEquals([LEDGER_ENTRIES_MAX - 1, LEDGER_ENTRIES_MAX].map((count) => decide(full(count, START + 1))), [
    "admit",
    "E_LEDGER_FULL",
  ]);
  assertEquals(decide(full(LEDGER_ENTRIES_MAX, START)), "admit");
});
