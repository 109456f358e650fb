import { assert } from "@std/assert";
import { isLive, type ScreenPlace } from "./open_screen.ts";

const TERMINAL: ScreenPlace = {
  isTerminal: true,
  size: { columns: 60, rows: 16 },
  noColor: undefined,
  term: "xterm",
  plain: false,
};

Deno.test("isLive() wants a terminal that is large enough, and nobody who asks for plain lines", () => {
  assert(isLive(TERMINAL));
  assert(isLive({ ...TERMINAL, noColor: "", term: undefined }));
  const plain: Partial<ScreenPlace>[] = [
    { isTerminal: false },
    { plain: true },
    { noColor: "1" },
    { term: "dumb" },
    { size: null },
    { size: { columns: 59, rows: 16 } },
    { size: { columns: 60, rows: 15 } },
  ];
  for (const change of plain) assert(!isLive({ ...TERMINAL, ...change }), JSON.stringify(change));
});
