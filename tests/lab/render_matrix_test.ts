import { assertEquals } from "@std/assert";
import type { LabResult } from "./lab_report.ts";
import { renderFigures, renderMatrix } from "./render_matrix.ts";

const RESULTS: readonly LabResult[] = [
  { scenario: "good-upgrade", system: "debian-12", result: "passed", seconds: 4.1, figures: { gap_ms: 390 } },
  { scenario: "good-upgrade", system: "debian-13", result: "failed", seconds: 5, figures: {} },
  { scenario: "reboot", system: "debian-13", result: "passed", seconds: 22, figures: {} },
];

Deno.test("renderMatrix() shows scenarios by systems", () => {
  assertEquals(
    renderMatrix(RESULTS),
    `SCENARIO      debian-12         debian-13
good-upgrade  ok (4.1 s)        FAILED (5 s)
reboot        -                 ok (22 s)
`,
  );
});

Deno.test("renderFigures() shows what was measured, and nothing when nothing was", () => {
  assertEquals(
    renderFigures(RESULTS),
    `FIGURE               debian-12         debian-13
good-upgrade gap_ms  390               -
`,
  );
  assertEquals(renderFigures([]), "");
});
