import { assertEquals } from "@std/assert";
import { attemptOf, PATHS, viewOf } from "../../tests/fakes/agent_samples.ts";
import { judgeVersion } from "./compiled_version.ts";

const judge = (compiled: string, phase: Parameters<typeof viewOf>[1]) =>
  judgeVersion(compiled, viewOf(attemptOf(1), phase), PATHS).kind;

Deno.test("judgeVersion() requires the target in activating", () => {
  assertEquals(judge("2.0.0", "activating"), "fits");
  assertEquals(judge("1.0.0", "activating"), "wrong");
});

Deno.test("judgeVersion() only reports a difference in every other phase", () => {
  assertEquals(judge("2.0.0", "committed"), "fits");
  assertEquals(judge("1.0.0", "committed"), "differs");
  for (const phase of ["preparing", "rolling-back", "failed", "rollback-failed"] as const) {
    assertEquals(judge("1.0.0", phase), "fits");
    assertEquals(judge("2.0.0", phase), "differs");
  }
});

Deno.test("judgeVersion() fits where nothing is expected", () => {
  assertEquals(judgeVersion("9.9.9", null, PATHS).kind, "fits");
  const repaired = { ...viewOf(attemptOf(1), "failed"), previousPath: "/opt/agent" };
  assertEquals(judgeVersion("9.9.9", repaired, PATHS).kind, "fits");
});
