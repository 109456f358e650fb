import { assert, assertEquals } from "@std/assert";
import { decidePlanning, decideRun, isAuthorized, type RunFacts, type WaveCounts } from "./task_decision.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const DEADLINE_MS = 1_000;

/** Every state of a wave of up to `most` devices: what is released and ended is among what is there. */
function* waves(most: number): Generator<WaveCounts> {
  for (let targets = 0; targets <= most; targets++) {
    for (let released = 0; released <= targets; released++) {
      for (let succeeded = 0; succeeded <= released; succeeded++) {
        for (let failed = 0; succeeded + failed <= released; failed++) yield { targets, released, succeeded, failed };
      }
    }
  }
}

function* everyState(): Generator<RunFacts> {
  for (const canaries of waves(3)) {
    for (const others of waves(3)) {
      if (canaries.targets + others.targets === 0) continue;
      for (const nowMs of [0, DEADLINE_MS - 1, DEADLINE_MS, DEADLINE_MS + 1]) {
        yield { nowMs, expiresAtMs: DEADLINE_MS, canaries, others };
      }
    }
  }
}

pure("decideRun(): in every state the rules of the run hold", () => {
  let states = 0;
  for (const facts of everyState()) {
    states++;
    const decision = decideRun(facts);
    const { canaries, nowMs, others } = facts;
    const what = JSON.stringify({ facts, decision });
    const allDone = canaries.succeeded === canaries.targets;
    if (decision.kind === "release") {
      assert(nowMs < DEADLINE_MS, `nothing is released at the deadline: ${what}`);
      assertEquals(canaries.failed, 0, what);
      assert(facts[decision.wave].released < facts[decision.wave].targets, what);
      if (decision.wave === "others") assert(allDone, `others before every canary succeeded: ${what}`);
    }
    if (decision.kind === "complete") {
      assert(allDone && others.succeeded === others.targets, `complete without every success: ${what}`);
    }
    if (decision.kind === "wait") {
      assert(decision.untilMs === DEADLINE_MS && nowMs < DEADLINE_MS, `waits for ever: ${what}`);
      const released = canaries.released + (allDone ? others.released : 0);
      assertEquals(
        released,
        canaries.targets + (allDone ? others.targets : 0),
        `waits with a wave to release: ${what}`,
      );
    }
    if (canaries.failed > 0) assertEquals(decision, { kind: "fail", reason: "CanaryFailed" }, what);
    if (decision.kind === "fail" && decision.reason === "DevicesFailed") {
      assertEquals(canaries.succeeded + others.succeeded + others.failed, canaries.targets + others.targets, what);
    }
    if (nowMs >= DEADLINE_MS) assert(decision.kind === "complete" || decision.kind === "fail", what);
  }
  assert(states > 4_000, `${states}`);
});

const wave = (targets: number, released = 0, succeeded = 0, failed = 0): WaveCounts => ({
  targets,
  released,
  succeeded,
  failed,
});
const none = wave(0);

pure("decideRun(): the way of a run, step by step", () => {
  const step = (canaries: WaveCounts, others: WaveCounts, nowMs = 0) =>
    decideRun({ nowMs, expiresAtMs: DEADLINE_MS, canaries, others });
  const wait = { kind: "wait", untilMs: DEADLINE_MS } as const;
  assertEquals(step(wave(2), wave(3)), { kind: "release", wave: "canaries" });
  assertEquals(step(wave(2, 1), wave(3)), { kind: "release", wave: "canaries" });
  assertEquals(step(wave(2, 2), wave(3)), wait);
  assertEquals(step(wave(2, 2, 1), wave(3)), wait);
  assertEquals(step(wave(2, 2, 2), wave(3)), { kind: "release", wave: "others" });
  assertEquals(step(wave(2, 2, 2), wave(3, 3)), wait);
  // A failed one of the others waits for the rest.
  assertEquals(step(wave(2, 2, 2), wave(3, 3, 1, 1)), wait);
  assertEquals(step(wave(2, 2, 2), wave(3, 3, 2, 1)), { kind: "fail", reason: "DevicesFailed" });
  assertEquals(step(wave(2, 2, 2), wave(3, 3, 3)), { kind: "complete" });
});

pure("decideRun(): without canaries all go at once; canaries alone are a whole run", () => {
  const step = (canaries: WaveCounts, others: WaveCounts, nowMs = 0) =>
    decideRun({ nowMs, expiresAtMs: DEADLINE_MS, canaries, others });
  assertEquals(step(none, wave(3)), { kind: "release", wave: "others" });
  assertEquals(step(wave(2, 2, 2), none), { kind: "complete" });
  assertEquals(step(wave(2, 2, 1, 1), none), { kind: "fail", reason: "CanaryFailed" });
});

pure("decideRun(): at the deadline", () => {
  const at = (canaries: WaveCounts, others: WaveCounts) =>
    decideRun({ nowMs: DEADLINE_MS, expiresAtMs: DEADLINE_MS, canaries, others });
  assertEquals(at(wave(2, 2, 1), wave(3)), { kind: "fail", reason: "CanaryTimedOut" });
  assertEquals(at(wave(2), wave(3)), { kind: "fail", reason: "CanaryTimedOut" });
  assertEquals(at(wave(2, 2, 2), wave(3, 3, 2)), { kind: "fail", reason: "DeadlineExceeded" });
  assertEquals(at(none, wave(3, 3, 1, 1)), { kind: "fail", reason: "DeadlineExceeded" });
  // Results that came in time and are looked at after it.
  assertEquals(at(none, wave(3, 3, 3)), { kind: "complete" });
});

pure("decidePlanning(): an answer that is not there is no answer", () => {
  const decide = (targets: number | null, nowMs = 0) =>
    decidePlanning({ nowMs, expiresAtMs: DEADLINE_MS, targets, targetsMax: 10 });
  assertEquals(decide(null), { kind: "retry" });
  assertEquals(decide(0), { kind: "fail", reason: "NoTargets" });
  for (const targets of [1, 9, 10]) assertEquals(decide(targets), { kind: "freeze" });
  assertEquals(decide(11), { kind: "fail", reason: "TooManyTargets" });
  for (const targets of [null, 0, 5, 11]) {
    assertEquals(decide(targets, DEADLINE_MS), { kind: "fail", reason: "DeadlineExceeded" });
  }
});

pure("isAuthorized(): one group is enough, none is not, and a device that is gone is not", () => {
  assert(isAuthorized(["a", "b"], ["b", "c"]));
  assert(!isAuthorized(["a"], ["b"]));
  assert(!isAuthorized(["a"], []));
  assert(!isAuthorized(["a"], null));
});
