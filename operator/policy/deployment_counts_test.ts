import { assertEquals } from "@std/assert";
import { DEPLOYMENT_PHASES } from "../../contracts/deployment_status.ts";
import { seededRandom } from "../../tests/fakes/seeded_random.ts";
import { type Contribution, DeploymentCounts, type ReportedState } from "./deployment_counts.ts";
import { deploymentTargetState } from "./deployment_target.ts";

function report(changes: Partial<ReportedState> = {}): ReportedState {
  return { generation: 1, phase: "ready", receivedAtMs: 1_000, ...changes };
}

Deno.test("a target is ready or failed only by a report of the generation that it was told and shall run", () => {
  const state = (told: number | null, said: ReportedState | null) => deploymentTargetState(2, told, said);
  assertEquals(state(2, report({ generation: 2 })), "ready");
  assertEquals(state(2, report({ generation: 2, phase: "failed" })), "failed");
  assertEquals(state(2, report({ generation: 2, phase: "progressing" })), "pending");
  assertEquals(state(2, report({ generation: 1 })), "pending");
  assertEquals(state(1, report({ generation: 1 })), "pending");
  assertEquals(state(null, report({ generation: 2 })), "pending");
  assertEquals(state(2, null), "pending");
  // A device that cannot read its entry names no generation.
  const refused = { phase: "failed", receivedAtMs: 1 } as const;
  assertEquals([state(2, refused), state(1, refused), state(2, { ...refused, phase: "pending" })], [
    "failed",
    "pending",
    "pending",
  ]);
});

Deno.test("the latest error is of the newest generation, and by id between equal times", () => {
  const counts = new DeploymentCounts();
  const failed = (error: string, receivedAtMs: number, generation = 1): Contribution => ({
    generation,
    report: report({ phase: "failed", generation, error, receivedAtMs }),
  });
  counts.move("u", "d1", undefined, failed("first", 1_000));
  counts.move("u", "d3", undefined, failed("same time", 2_000));
  counts.move("u", "d2", undefined, failed("same time too", 2_000));
  assertEquals(counts.latestErrorOf("u", 1), { deviceId: "d3", error: "same time", at: "1970-01-01T00:00:02.000Z" });
  counts.move("u", "d3", failed("same time", 2_000), { generation: 1, report: report() });
  assertEquals(counts.latestErrorOf("u", 1)?.deviceId, "d2");
  assertEquals(counts.latestErrorOf("u", 2), null);
  assertEquals(counts.countsOf("u", 2), { targets: 3, ready: 0, failed: 0, pending: 3 });
  assertEquals(counts.countsOf("v", 1), { targets: 0, ready: 0, failed: 0, pending: 0 });
});

Deno.test("the same again changes no figure", () => {
  const counts = new DeploymentCounts();
  const ready: Contribution = { generation: 1, report: report() };
  assertEquals(counts.move("u", "d1", undefined, ready), true);
  assertEquals(counts.move("u", "d1", ready, { generation: 1, report: report({ receivedAtMs: 9_000 }) }), false);
  assertEquals(counts.move("u", "d1", undefined, undefined), false);
});

Deno.test("whatever devices are told and say, the figures are those of a count anew", () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const random = seededRandom(seed);
  const pick = (below: number) => Math.floor(random() * below);
  const counts = new DeploymentCounts();
  const present = new Map<string, Contribution>();
  for (let step = 0; step < 3_000; step++) {
    const key = `${["u", "v"][pick(2)]} d${pick(20)}`;
    const [uid = "", id = ""] = key.split(" ");
    const phase = DEPLOYMENT_PHASES[pick(DEPLOYMENT_PHASES.length)] ?? "pending";
    const error = phase === "failed" ? { error: `e${pick(3)}` } : {};
    const said = pick(4) === 0 ? null : report({ generation: 1 + pick(3), phase, receivedAtMs: pick(50), ...error });
    const after = pick(5) === 0 ? undefined : { generation: 1 + pick(3), report: said };
    counts.move(uid, id, present.get(key), after);
    if (after === undefined) present.delete(key);
    else present.set(key, after);
    if (step % 50 !== 0) continue;
    for (const wanted of [1, 2, 3]) {
      const mine = [...present].filter(([name]) => name.startsWith("u "));
      const states = mine.map(([, { generation, report }]) => deploymentTargetState(wanted, generation, report));
      const countOf = (state: string) => states.filter((one) => one === state).length;
      assertEquals(counts.countsOf("u", wanted), {
        targets: mine.length,
        ready: countOf("ready"),
        failed: countOf("failed"),
        pending: countOf("pending"),
      }, `seed ${seed}, step ${step}`);
    }
  }
});
