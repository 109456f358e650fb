import { assertEquals } from "@std/assert";
import { POST_MORTEM_LINE_MAX_CHARS, POST_MORTEM_LINES_MAX } from "../../contracts/limits.ts";
import { lastLines } from "./output_lines.ts";

function of(text: string): string[] {
  return lastLines(new TextEncoder().encode(text));
}

Deno.test("lastLines() keeps the last lines, at the limit and around it", () => {
  const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index}`);
  for (const count of [0, 1, POST_MORTEM_LINES_MAX - 1, POST_MORTEM_LINES_MAX]) {
    assertEquals(of(lines(count).join("\n")), lines(count));
  }
  assertEquals(of(lines(POST_MORTEM_LINES_MAX + 1).join("\n")), lines(POST_MORTEM_LINES_MAX + 1).slice(1));
});

Deno.test("lastLines() cuts a line at its limit", () => {
  for (const length of [POST_MORTEM_LINE_MAX_CHARS - 1, POST_MORTEM_LINE_MAX_CHARS]) {
    assertEquals(of("x".repeat(length)), ["x".repeat(length)]);
  }
  const [cut = ""] = of("x".repeat(POST_MORTEM_LINE_MAX_CHARS + 1));
  assertEquals([cut.length, cut.at(-1)], [POST_MORTEM_LINE_MAX_CHARS, "…"]);
});

Deno.test("lastLines() leaves out colours, empty lines and control characters", () => {
  assertEquals(of("\u001b[1;31merror\u001b[0m: x\r\n\n  \n\ta\u0000b\u0007\r\u001b]0;title\u0007c"), [
    "error: x",
    " a b",
    "c",
  ]);
});

Deno.test("lastLines() takes bytes that are no text", () => {
  assertEquals(lastLines(new Uint8Array([0xff, 0x41, 0x0a])), ["\ufffdA"]);
});
