import { assertEquals } from "@std/assert";
import { parse } from "yaml";
import { yamlText } from "./yaml_text.ts";

Deno.test("yamlText() is read back as it was, by readers of both versions", () => {
  const value = {
    version: "1.10",
    flag: "yes",
    at: "2026-01-31T12:00:00.000Z",
    time: "1:30",
    empty: [],
    nothing: {},
    text: "a: b # c",
    lines: "a\nb",
    list: [{ x: 1, y: true }, { x: 2 }],
    long: "word ".repeat(60),
  };
  const text = yamlText(value);
  assertEquals(parse(text), value);
  assertEquals(parse(text, { version: "1.1" }), value);
  assertEquals(text.includes('flag: "yes"'), true);
});

Deno.test("yamlText() writes controls out and still means them", () => {
  const value = { error: "\u001b[31m\u009b\u202e\n\ttail", "k\u202e": "\ud800".slice(0, 0) };
  const text = yamlText(value);
  assertEquals(parse(text), value);
  // deno-lint-ignore no-control-regex -- what must not be there
  assertEquals(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/.test(text), false);
});
