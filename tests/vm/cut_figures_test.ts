import { assertEquals } from "@std/assert";
import { cutFigures } from "./cut_figures.ts";
import type { CutResult } from "./cut_round.ts";

function result(journal: CutResult["found"]["journal"], end: CutResult["end"], bootToReadyMs: number): CutResult {
  return { found: { journal, link: "1.0.0", published: null }, end, bootToReadyMs };
}

Deno.test("cutFigures() counts what was found and how it ended, and measures the starts", () => {
  assertEquals(cutFigures([]), { cuts: 0 });
  assertEquals(
    cutFigures([
      result("none", "complete", 31_400),
      result("activating/stopping", "failed", 60_000),
      result("activating/stopping", "failed", 40_000),
      result("committed/none", "complete", 30_000),
    ]),
    {
      cuts: 4,
      found_none: 1,
      found_activating_stopping: 2,
      found_committed: 1,
      ended_complete: 2,
      ended_failed: 2,
      boot_to_ready_median_s: 40,
      boot_to_ready_max_s: 60,
    },
  );
});
