import { assertEquals } from "@std/assert";
import { agentReleaseStatus } from "../../contracts/agent_release.ts";
import { DETAIL_MAX_CHARS } from "../../contracts/limits.ts";
import { release } from "../../tests/fakes/operator_samples.ts";
import type { TargetCounts } from "./release_counts.ts";
import { nextReleaseStatus, type ReleaseStatusFacts } from "./release_status.ts";

const NOW = Date.UTC(2026, 5, 1);
const NONE = { current: 0, upgrading: 0, failed: 0, rolledBack: 0, quarantined: 0, lost: 0, ineligible: 0, pending: 0 };

function counts(some: Partial<TargetCounts>): TargetCounts {
  const all = { ...NONE, ...some };
  const { targets: _targets, ...states } = { targets: 0, ...all };
  return { ...all, targets: Object.values(states).reduce((sum, count) => sum + count, 0) };
}

function facts(some: Partial<TargetCounts>, changes: Partial<ReleaseStatusFacts> = {}): ReleaseStatusFacts {
  const { spec } = release({ name: "r" });
  return { nowMs: NOW, generation: 3, spec, counts: counts(some), ties: 0, latestError: null, ...changes };
}

function conditionsOf(...args: Parameters<typeof facts>): string[] {
  const { conditions } = nextReleaseStatus(undefined, facts(...args));
  return (conditions ?? []).map(({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`);
}

Deno.test("a release that is done", () => {
  assertEquals(conditionsOf({ current: 10 }), [
    "Accepted=True Accepted: the spec is understood",
    "Ready=True AllCurrent: 10 of 10 targets run 1.1.0",
    "Progressing=False NothingLeft: 0 upgrading, 0 waiting",
    "Degraded=False NoFailures: no target has failed",
    "Conflict=False NoConflict: no release competes with it",
  ]);
});

Deno.test("a release on its way, with trouble", () => {
  const some = {
    current: 3,
    upgrading: 1,
    pending: 2,
    failed: 1,
    rolledBack: 1,
    quarantined: 1,
    lost: 1,
    ineligible: 2,
  };
  assertEquals(conditionsOf(some).slice(1, 4), [
    "Ready=False NotAllCurrent: 3 of 12 targets run 1.1.0",
    "Progressing=True Upgrading: 1 upgrading, 2 waiting",
    "Degraded=True DevicesFailed: 1 failed, 1 rolled back, 1 quarantined, 1 lost, 2 ineligible",
  ]);
});

Deno.test("a release without targets, paused, waiting, or tied", () => {
  assertEquals(conditionsOf({})[1], "Ready=False NoTargets: the release decides for no device");
  const { spec } = release({ name: "r", paused: true });
  assertEquals(conditionsOf({ pending: 2 }, { spec })[2], "Progressing=False Paused: 0 upgrading, 2 waiting");
  assertEquals(conditionsOf({ pending: 2 })[2], "Progressing=True Waiting: 0 upgrading, 2 waiting");
  assertEquals(
    conditionsOf({}, { ties: 1 })[4],
    "Conflict=True PriorityTie: on 1 device another release has priority 0 too: neither decides",
  );
});

Deno.test("a selector that is not understood is said", () => {
  const { spec } = release({ name: "r", targetSelector: { matchExpressions: [] } });
  assertEquals(conditionsOf({}, { spec })[0]?.startsWith("Accepted=False MatchExpressionsUnsupported"), true);
});

for (const length of [DETAIL_MAX_CHARS - 5, DETAIL_MAX_CHARS - 4, DETAIL_MAX_CHARS - 3]) {
  Deno.test(`the latest error names its device and is bounded (${length} characters)`, () => {
    const latestError = { deviceId: "d1", error: "x".repeat(length), at: "" };
    const status = nextReleaseStatus(undefined, facts({ failed: 1 }, { latestError }));
    assertEquals(status.lastError?.length, Math.min(DETAIL_MAX_CHARS, length + 4));
    assertEquals(agentReleaseStatus(status, ""), status);
  });
}

Deno.test("the same facts at another time make the same status", () => {
  const first = nextReleaseStatus(undefined, facts({ current: 1 }));
  assertEquals(nextReleaseStatus(first, facts({ current: 1 }, { nowMs: NOW + 9 })), first);
});
