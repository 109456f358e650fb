import { assertEquals } from "@std/assert";
import { printable, printableJson, printableJsonLine } from "./printable.ts";

Deno.test("printable() leaves letters of every script alone", () => {
  assertEquals(printable("Zürich 東京 – ok…"), "Zürich 東京 – ok…");
});

Deno.test("printable() writes out controls, marks that reorder text, and lone surrogates", () => {
  assertEquals(printable("\u001b[2J\u009b31m\r\n\t\u202e\u007f"), "\\u001b[2J\\u009b31m\\u000d\\n\\t\\u202e\\u007f");
  assertEquals(printable("\ud800"), "\\ud800");
  assertEquals(printable("😀"), "😀");
});

Deno.test("printableJson() means the same and holds no control character but its own line feeds", () => {
  const value = { a: "\u009b31m\u001b\n", "k\u202e": ["\u2028", 1] };
  assertEquals(JSON.parse(printableJson(value)), value);
  // deno-lint-ignore no-control-regex -- what must not be there
  assertEquals(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e\u2028]/.test(printableJson(value)), false);
  assertEquals(JSON.parse(printableJsonLine(value)), value);
  assertEquals(printableJsonLine(value).indexOf("\n"), printableJsonLine(value).length - 1);
});
