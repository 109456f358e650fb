import { assertEquals } from "@std/assert";
import { wrapText } from "./wrap_text.ts";

Deno.test("wrapText() breaks at spaces, at the width and not before", () => {
  assertEquals(wrapText("ab cd ef", 5), "ab cd\nef\n");
  assertEquals(wrapText("ab cd ef", 4), "ab\ncd\nef\n");
  assertEquals(wrapText("ab cd ef", 6), "ab cd\nef\n");
  assertEquals(wrapText("ab cd ef", 8), "ab cd ef\n");
});

Deno.test("wrapText() counts the indent, and takes any white space", () => {
  assertEquals(wrapText("  ab\n cd  ef ", 7, "  "), "  ab cd\n  ef\n");
});

Deno.test("wrapText() leaves a long word whole, and nothing empty", () => {
  assertEquals(wrapText("a abcdefgh b", 4), "a\nabcdefgh\nb\n");
  assertEquals(wrapText(" ", 4, "  "), "");
});
