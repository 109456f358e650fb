import { assertEquals } from "@std/assert";
import type { AgentReleaseStatus } from "../../../contracts/agent_release.ts";
import { ago, sampleReleaseStatus } from "../../../tests/fakes/memory_fleet.ts";
import { release } from "../../../tests/fakes/operator_samples.ts";
import { nextReleaseStatus } from "../../policy/release_status.ts";
import { releaseAdvice } from "./release_advice.ts";
import { pendingCount, problemText, releaseState } from "./release_state.ts";

const state = (status: Partial<AgentReleaseStatus> | undefined, paused = false) => {
  const sample = release({ name: "r", paused });
  return releaseState(status === undefined ? sample : { ...sample, status: sampleReleaseStatus(status) });
};

Deno.test("releaseState() names what a release is about", () => {
  assertEquals(state(undefined), "New");
  assertEquals(state({}), "NoTargets");
  assertEquals(state({ targets: 3, current: 3 }), "Complete");
  assertEquals(state({ targets: 3, current: 3 }, true), "Complete");
  assertEquals(state({ targets: 3, current: 2, upgrading: 1 }), "Upgrading");
  assertEquals(state({ targets: 3, current: 2, upgrading: 1 }, true), "Paused");
  assertEquals(state({ targets: 3, current: 2 }), "Waiting");
  assertEquals(state({ targets: 3, current: 2, failed: 1 }), "Stuck");
});

Deno.test("releaseState() and the advice understand the conditions that the operator writes", () => {
  const counts = {
    targets: 2,
    current: 0,
    upgrading: 0,
    failed: 0,
    rolledBack: 0,
    quarantined: 0,
    lost: 0,
    ineligible: 0,
    pending: 2,
  };
  const facts = { nowMs: Date.parse(ago(0)), generation: 1, counts, ties: 0, latestError: null };
  const sample = release({ name: "r" });
  const tied = { ...sample, status: nextReleaseStatus(undefined, { ...facts, spec: sample.spec, ties: 3 }) };
  assertEquals([releaseState(tied), releaseAdvice(tied)[0]?.code], ["Conflict", "Conflict"]);
  const plain = { ...sample, status: nextReleaseStatus(undefined, { ...facts, spec: sample.spec }) };
  assertEquals([releaseState(plain), releaseAdvice(plain)], ["Waiting", []]);
  const selecting = release({ name: "r", targetSelector: { matchExpressions: [] } });
  const refused = { ...selecting, status: nextReleaseStatus(undefined, { ...facts, spec: selecting.spec }) };
  assertEquals([releaseState(refused), releaseAdvice(refused)[0]?.code], ["NotAccepted", "NotAccepted"]);
});

Deno.test("pendingCount() and problemText() add up what the counts leave", () => {
  const status = sampleReleaseStatus({ targets: 10, current: 1, upgrading: 1, failed: 1, rolledBack: 2, lost: 1 });
  assertEquals(pendingCount(status), 4);
  assertEquals(problemText(status), "1 failed, 2 rolled-back, 1 lost");
  assertEquals(pendingCount(sampleReleaseStatus({ targets: 1, current: 2 })), 0);
  assertEquals(problemText(sampleReleaseStatus()), "");
});

Deno.test("releaseAdvice() tells who waits for a resume, and who has nothing to do", () => {
  const advise = (status: Partial<AgentReleaseStatus> | undefined, paused = false) => {
    const sample = release({ name: "r", paused });
    const whole = status === undefined ? sample : { ...sample, status: sampleReleaseStatus(status) };
    return releaseAdvice(whole).map(({ code }) => code);
  };
  assertEquals(advise(undefined), ["NoStatus"]);
  assertEquals(advise({}), ["NoTargets"]);
  assertEquals(advise({ targets: 2, current: 1 }, true), ["Paused"]);
  assertEquals(advise({ targets: 2, current: 2 }, true), []);
});
