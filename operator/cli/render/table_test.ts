import { assert, assertEquals } from "@std/assert";
import { ansiPaint, plainPaint } from "./paint.ts";
import { type Column, columnWidths, renderRows, renderTable } from "./table.ts";

interface Row {
  readonly name: string;
  readonly count: number;
  readonly error: string;
}

const COLUMNS: readonly Column<Row>[] = [
  { title: "NAME", cell: ({ name }) => name },
  { title: "COUNT", align: "right", cell: ({ count }) => String(count) },
  { title: "ERROR", cuttable: true, cell: ({ error }) => ({ text: error, tone: error === "" ? undefined : "bad" }) },
];
const ROWS: readonly Row[] = [
  { name: "device-1", count: 7, error: "" },
  { name: "a", count: 1_200, error: "the candidate did not become ready within its bound" },
];

Deno.test("renderTable() aligns columns and leaves no space at the end of a line", () => {
  assertEquals(
    renderTable(COLUMNS, ROWS, { width: null, paint: plainPaint }),
    [
      "NAME      COUNT  ERROR",
      "device-1      7",
      "a          1200  the candidate did not become ready within its bound",
      "",
    ].join("\n"),
  );
});

Deno.test("renderTable() cuts only what may be cut, to the width of the terminal", () => {
  const lines = renderTable(COLUMNS, ROWS, { width: 40, paint: plainPaint }).split("\n");
  assertEquals(lines[2], "a          1200  the candidate did not …");
  assertEquals(lines[2]?.length, 40);
  const exact = renderTable(COLUMNS, ROWS, { width: 68, paint: plainPaint }).split("\n");
  assertEquals(exact[2], "a          1200  the candidate did not become ready within its bound");
  const narrow = renderTable(COLUMNS, ROWS, { width: 5, paint: plainPaint }).split("\n");
  assertEquals(narrow[2], "a          1200  the candida…");
});

Deno.test("renderTable() colours cells without moving columns", () => {
  const colored = renderTable(COLUMNS, ROWS, { width: null, paint: ansiPaint });
  assert(colored.includes("\u001b[31mthe candidate"));
  // deno-lint-ignore no-control-regex -- strips the colours
  const stripped = colored.replaceAll(/\u001b\[\d+m/g, "");
  assertEquals(stripped, renderTable(COLUMNS, ROWS, { width: null, paint: plainPaint }));
});

Deno.test("renderTable() writes controls of a cell out", () => {
  const text = renderTable(COLUMNS, [{ name: "x", count: 0, error: "\u001b[2J" }], { width: null, paint: plainPaint });
  assertEquals(text.split("\n")[1], "x         0  \\u001b[2J");
});

Deno.test("renderRows() keeps later lines under the first ones", () => {
  const widths = columnWidths(COLUMNS, ROWS, null);
  assertEquals(
    renderRows(COLUMNS, [{ name: "b", count: 2, error: "x" }], widths, plainPaint),
    "b             2  x\n",
  );
});
