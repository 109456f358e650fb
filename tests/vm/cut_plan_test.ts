import { assert, assertEquals } from "@std/assert";
import { CUT_PHASES, delayMs, describeCut, drawCuts, type Lengths } from "./cut_plan.ts";

Deno.test("drawCuts() repeats the cuts of a seed, and more of them begin with the same", () => {
  assertEquals(drawCuts(7, 20), drawCuts(7, 20));
  assertEquals(drawCuts(7, 100).slice(0, 20), drawCuts(7, 20));
  assert(JSON.stringify(drawCuts(7, 20)) !== JSON.stringify(drawCuts(8, 20)));
  assertEquals(drawCuts(7, 0), []);
});

Deno.test("drawCuts() hits every phase, and the whole transaction, and only bad releases are rolled back", () => {
  const cuts = drawCuts(1, 400);
  for (const phase of [null, ...CUT_PHASES]) {
    const share = cuts.filter((cut) => cut.phase === phase).length / cuts.length;
    assert(share > 0.02, `${phase}: ${share}`);
  }
  for (const { release, phase, fraction } of cuts) {
    assert(fraction >= 0 && fraction < 1);
    if (phase === "rolling-back") assertEquals(release, "bad");
    if (phase === "complete") assertEquals(release, "good");
  }
});

const LENGTHS: Lengths = {
  whole: { good: 40_000, bad: 60_000 },
  phases: { preparing: 10_000, stopping: 2_000, starting: 12_000, "rolling-back": 14_000, complete: 1_000 },
};

Deno.test("delayMs() is a part of the phase, or of the transaction of that release", () => {
  assertEquals(delayMs({ release: "good", phase: null, fraction: 0.5 }, LENGTHS), 20_000);
  assertEquals(delayMs({ release: "bad", phase: null, fraction: 0.5 }, LENGTHS), 30_000);
  assertEquals(delayMs({ release: "good", phase: "stopping", fraction: 0.25 }, LENGTHS), 500);
  assertEquals(delayMs({ release: "good", phase: "starting", fraction: 0 }, LENGTHS), 0);
});

Deno.test("describeCut() says where a cut is", () => {
  assertEquals(
    describeCut({ release: "bad", phase: "rolling-back", fraction: 0.314 }),
    "31% of rolling-back, bad release",
  );
  assertEquals(describeCut({ release: "good", phase: null, fraction: 0 }), "0% of the transaction, good release");
});
