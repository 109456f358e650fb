import { assertEquals } from "@std/assert";
import type { Figure } from "./figures.ts";
import { renderJson, renderTable, renderValue } from "./render_figures.ts";

const FIGURE: Figure = {
  name: "sha256/openssl",
  unit: "ms",
  ours: 105.42,
  theirs: 100,
  ratio: 1.0542,
  aim: { maxRatio: 1.1 },
  isMet: true,
  rateMibPerS: 948.6,
};

Deno.test("renderValue() shows three digits", () => {
  assertEquals(renderValue(0.012345, "ms"), "12.3 µs");
  assertEquals(renderValue(0.0001, "ms"), "0.10 µs");
  assertEquals(renderValue(1.2345, "ms"), "1.23 ms");
  assertEquals(renderValue(12.345, "MiB"), "12.3 MiB");
  assertEquals(renderValue(1_234.5, "ms"), "1235 ms");
});

Deno.test("renderTable() shows each figure in a line, and what was skipped", () => {
  const memory: Figure = {
    ...FIGURE,
    name: "memory",
    unit: "MiB",
    ours: 70,
    theirs: null,
    ratio: null,
    aim: { maxOurs: 64 },
    isMet: false,
    rateMibPerS: undefined,
  };
  assertEquals(
    renderTable({ figures: [FIGURE, memory], skipped: [{ name: "x/y", why: "y is not installed" }] }),
    [
      "figure          ours                theirs  ratio  aim             met",
      "sha256/openssl  105 ms (949 MiB/s)  100 ms  1.05   <= 1.10         yes",
      "memory          70.0 MiB                           ours <= 64 MiB  NO",
      "skipped: x/y: y is not installed",
      "",
    ].join("\n"),
  );
});

Deno.test("renderJson() gives names to ratios in one line", () => {
  assertEquals(
    renderJson({ figures: [FIGURE, { ...FIGURE, name: "m", ratio: null }], skipped: [] }),
    '{"sha256/openssl":1.054}',
  );
});
