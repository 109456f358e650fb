import { assertEquals } from "@std/assert";
import { statusComplete, statusPreparing, statusRolledBack } from "../tests/golden/upgrade_documents.ts";
import { figureLines, runFigures, seconds, spread, timeBetweenMs } from "./figures.ts";

Deno.test("timeBetweenMs() needs both phases", () => {
  assertEquals(timeBetweenMs(statusComplete, "preparing", "complete"), 42_120);
  assertEquals(timeBetweenMs(statusComplete, "stopping", "complete"), 4_120);
  assertEquals(timeBetweenMs(statusComplete, "rolling-back", "failed"), null);
  assertEquals(timeBetweenMs(statusPreparing, "preparing", "complete"), null);
});

Deno.test("spread() has median and maximum, in any order", () => {
  assertEquals(spread([]), null);
  assertEquals(spread([7]), { count: 1, medianMs: 7, maxMs: 7 });
  assertEquals(spread([9, 1, 100]), { count: 3, medianMs: 9, maxMs: 100 });
  assertEquals(spread([100, 10, 20, 9]), { count: 4, medianMs: 15, maxMs: 100 });
});

Deno.test("runFigures() measures upgrades and rollbacks by their transitions", () => {
  const rolledBackMs = timeBetweenMs(statusRolledBack, "rolling-back", "failed") ?? Number.NaN;
  assertEquals(runFigures([statusComplete], [statusRolledBack, statusPreparing]), {
    complete: { count: 1, medianMs: 42_120, maxMs: 42_120 },
    gap: { count: 1, medianMs: 4_120, maxMs: 4_120 },
    rollback: { count: 1, medianMs: rolledBackMs, maxMs: rolledBackMs },
  });
});

Deno.test("figureLines() has a line for each figure, and says when there is none", () => {
  const figures = { complete: { count: 10, medianMs: 1_949, maxMs: 3_051 }, gap: null, rollback: null };
  assertEquals(
    figureLines(figures, 243_948, 34_400),
    "  an upgrade, from its attempt to complete       median 1.9 s, max 3.1 s (10 upgrades)\n" +
      "    of it without an agent: stop to READY        none\n" +
      "  a rollback, until the previous agent is READY  none\n" +
      "  an artifact (script form)                      238.2 KiB\n" +
      "  the whole demo                                 34.4 s\n",
  );
});

Deno.test("seconds() has one decimal", () => {
  assertEquals([0, 49, 51, 61_949].map(seconds), ["0.0 s", "0.0 s", "0.1 s", "61.9 s"]);
});
