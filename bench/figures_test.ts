import { assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import { figuresOf, median, type Round } from "./figures.ts";
import { parseNotes, type RoundNote } from "./round_note.ts";

function round(oursMs: number, theirsMs: number, notes: readonly RoundNote[] = []): Round {
  return {
    times: [
      { group: "g", name: "ours", isBaseline: false, typicalMs: oursMs },
      { group: "g", name: "tool", isBaseline: true, typicalMs: theirsMs },
    ],
    notes,
  };
}

Deno.test("median() takes the middle", () => {
  assertEquals(median([3, 1, 2]), 2);
  assertEquals(median([4, 1, 3, 2]), 2.5);
  assertEquals(median([7]), 7);
  assertThrows(() => median([]), RangeError);
});

Deno.test("figuresOf() takes the median of the ratios within the rounds", () => {
  const { figures, skipped } = figuresOf([round(10, 10), round(100, 50), round(30, 20)]);
  assertEquals(skipped, []);
  assertEquals(figures, [{
    name: "g/tool",
    unit: "ms",
    ours: 30,
    theirs: 20,
    ratio: 1.5,
    aim: undefined,
    isMet: null,
    rateMibPerS: undefined,
  }]);
});

Deno.test("figuresOf() compares ours with each of the others in its group only", () => {
  const times = ["ours", "a", "b"].map((name, index) => ({
    group: "g",
    name,
    isBaseline: false,
    typicalMs: index + 1,
  }));
  const other = { group: "h", name: "c", isBaseline: true, typicalMs: 9 };
  const { figures } = figuresOf([{ times: [...times, other], notes: [] }]);
  assertEquals(figures.map(({ name, ratio }) => [name, ratio]), [["g/a", 1 / 2], ["g/b", 1 / 3]]);
});

Deno.test("figuresOf() compares with the baseline in a group that names nothing ours", () => {
  const times = ["a", "b", "c"].map((name, index) => ({
    group: "g",
    name,
    isBaseline: name === "b",
    typicalMs: index + 1,
  }));
  const { figures } = figuresOf([{ times, notes: [] }]);
  assertEquals(figures.map(({ name, ratio }) => [name, ratio]), [["g/a", 1 / 2], ["g/c", 3 / 2]]);
  const none = times.map((time) => ({ ...time, isBaseline: false }));
  assertEquals(figuresOf([{ times: none, notes: [] }]).figures, []);
});

for (const [ratio, met] of [[1.09, true], [1.1, true], [1.11, false]] as const) {
  Deno.test(`an aim of 1.1 is ${met ? "met" : "missed"} by ${ratio}`, () => {
    const notes: RoundNote[] = [{ kind: "aim", figure: "g/tool", aim: { maxRatio: 1.1 } }];
    assertEquals(figuresOf([round(ratio, 1, notes)]).figures[0]?.isMet, met);
  });
}

for (const [ours, met] of [[599, true], [600, true], [601, false]] as const) {
  Deno.test(`an aim of 600 ms is ${met ? "met" : "missed"} by ${ours} ms, whatever theirs is`, () => {
    const notes: RoundNote[] = [{ kind: "aim", figure: "g/tool", aim: { maxOurs: 600 } }];
    assertEquals(figuresOf([round(ours, 1, notes)]).figures[0]?.isMet, met);
  });
}

Deno.test("figuresOf() takes measures, sizes and reasons from the notes", () => {
  const notes: RoundNote[] = [
    { kind: "measure", figure: "memory", unit: "MiB", ours: 20, theirs: null },
    { kind: "measure", figure: "peak/tool", unit: "MiB", ours: 20, theirs: 40 },
    { kind: "aim", figure: "memory", aim: { maxOurs: 64 } },
    { kind: "size", group: "g", sizeBytes: 100 * 1_024 * 1_024 },
    { kind: "skipped", figure: "g/absent", why: "absent is not installed" },
  ];
  const { figures, skipped } = figuresOf([round(100, 50, notes), round(100, 50, notes)]);
  assertEquals(figures.map(({ name, theirs, ratio }) => [name, theirs, ratio]), [
    ["g/tool", 50, 2],
    ["memory", null, null],
    ["peak/tool", 40, 0.5],
  ]);
  assertAlmostEquals(figures[0]?.rateMibPerS ?? 0, 1_000);
  assertEquals(figures[1]?.isMet, true);
  assertEquals(skipped, [{ name: "g/absent", why: "absent is not installed" }]);
});

Deno.test("parseNotes() reads one note per line", () => {
  const note: RoundNote = { kind: "skipped", figure: "g/x", why: "why" };
  assertEquals(parseNotes(""), []);
  assertEquals(parseNotes(`${JSON.stringify(note)}\n${JSON.stringify(note)}\n`), [note, note]);
});
