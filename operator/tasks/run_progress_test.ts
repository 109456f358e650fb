import { assertEquals } from "@std/assert";
import { planManifest } from "../../tests/golden/task_documents.ts";
import type { TaskResult } from "../policy/task_result.ts";
import { RunProgress } from "./run_progress.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const made = () => new RunProgress({ manifest: planManifest, canaries: ["c1", "c2"], others: ["d1", "d2", "d3"] });
const ok: TaskResult = { kind: "succeeded", isLate: false };
const failed = (error: string): TaskResult => ({ kind: "failed", isLate: false, error });
const late: TaskResult = { kind: "succeeded", isLate: true };

pure("RunProgress: devices move forward only, and are counted in their wave", () => {
  const progress = made();
  assertEquals(progress.counts("canaries"), { targets: 2, released: 0, succeeded: 0, failed: 0 });
  progress.release("c1");
  progress.release("c1");
  progress.take("c1", ok, 1);
  progress.take("c1", failed("afterwards"), 2);
  progress.take("c1", { kind: "accepted" }, 3);
  assertEquals(progress.counts("canaries"), { targets: 2, released: 1, succeeded: 1, failed: 0 });
  progress.take("d1", failed("x"), 4);
  assertEquals(progress.counts("others"), { targets: 3, released: 1, succeeded: 0, failed: 1 });
  assertEquals([progress.stateOf("c1"), progress.stateOf("c2"), progress.stateOf("d1")], [
    "succeeded",
    "waiting",
    "failed",
  ]);
});

pure("RunProgress: what is no target, or no result, changes nothing", () => {
  const progress = made();
  progress.release("other");
  progress.take("other", ok, 1);
  progress.take("c1", { kind: "ignored", problem: "x" }, 1);
  assertEquals(progress.counts("canaries").released, 0);
  assertEquals([progress.stateOf("other"), progress.hasEnded("other"), progress.stateOf("c1")], [
    undefined,
    false,
    "waiting",
  ]);
});

pure("RunProgress: a late result is an end, and in no count but the released", () => {
  const progress = made();
  progress.take("d1", late, 1);
  progress.take("d1", ok, 2);
  assertEquals(progress.counts("others"), { targets: 3, released: 1, succeeded: 0, failed: 0 });
  assertEquals([progress.stateOf("d1"), progress.hasEnded("d1")], ["late", true]);
});

pure("RunProgress: the latest failure by the broker's time, the same whatever order they come in", () => {
  const events: [string, number][] = [["d1", 5], ["d2", 9], ["d3", 9]];
  for (const order of [events, events.toReversed()]) {
    const progress = made();
    for (const [id, atMs] of order) progress.take(id, failed(`${id} is bad`), atMs);
    assertEquals(progress.latestError, { deviceId: "d3", error: "d3 is bad", receivedAtMs: 9 });
  }
});

pure("RunProgress: who has no intent yet, in order, however it is asked", () => {
  const progress = made();
  assertEquals([...progress.unreleased("others")], ["d1", "d2", "d3"]);
  progress.release("d2");
  assertEquals([...progress.unreleased("others")], ["d1", "d3"]);
  progress.release("d1");
  assertEquals([...progress.unreleased("others")], ["d3"]);
  assertEquals([...progress.unreleased("canaries")], ["c1", "c2"]);
  progress.release("d3");
  assertEquals([...progress.unreleased("others")], []);
  assertEquals([...progress.unreleased("others")], []);
});
