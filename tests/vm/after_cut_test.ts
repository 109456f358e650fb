import { assertEquals } from "@std/assert";
import { expectedEnd, foundProblem, type FoundState } from "./after_cut.ts";

const VERSIONS = { previous: "1.0.0", target: "2.0.0" };

function found(journal: FoundState["journal"], link = "1.0.0", published: FoundState["published"] = null): FoundState {
  return { journal, link, published };
}

Deno.test("expectedEnd() follows the recovery table", () => {
  const failed = { phase: "failed", version: "1.0.0" } as const;
  const complete = { phase: "complete", version: "2.0.0" } as const;
  for (
    const [journal, good, bad] of [
      ["none", complete, { ...failed, reason: "ExitedBeforeReady" }],
      ["preparing/none", { ...failed, reason: "Interrupted" }, { ...failed, reason: "Interrupted" }],
      ["activating/starting", { ...failed, reason: "Interrupted" }, { ...failed, reason: "Interrupted" }],
      ["rolling-back/none", failed, failed],
      ["failed/restart", failed, failed],
      ["committed/none", complete, null],
      ["rollback-failed/none", null, null],
    ] as const
  ) {
    assertEquals(expectedEnd(found(journal), "good", VERSIONS), good, journal);
    assertEquals(expectedEnd(found(journal), "bad", VERSIONS), bad, journal);
  }
});

Deno.test("foundProblem() names a link that the journal does not allow", () => {
  assertEquals(foundProblem(found("preparing/none"), VERSIONS), null);
  assertEquals(foundProblem(found("activating/starting", "2.0.0"), VERSIONS), null);
  assertEquals(
    foundProblem(found("preparing/none", "2.0.0"), VERSIONS),
    "the link selects 2.0.0 while the journal is preparing/none",
  );
  assertEquals(
    foundProblem(found("committed/none"), VERSIONS),
    "the link selects 1.0.0 while the journal is committed/none",
  );
  assertEquals(
    foundProblem(found("rollback-failed/none"), VERSIONS),
    "the link selects 1.0.0 while the journal is rollback-failed/none",
  );
});

Deno.test("foundProblem() names a journal that is older than what was published", () => {
  assertEquals(foundProblem(found("none", "1.0.0", "preparing"), VERSIONS), null);
  assertEquals(foundProblem(found("committed/none", "2.0.0", "starting"), VERSIONS), null);
  assertEquals(
    foundProblem(found("none", "1.0.0", "stopping"), VERSIONS),
    "stopping was published, and the journal is none",
  );
  assertEquals(
    foundProblem(found("activating/starting", "2.0.0", "complete"), VERSIONS),
    "complete was published, and the journal is activating/starting",
  );
});
