import { assertEquals } from "@std/assert";
import { parseSpanSeconds } from "./parse_span.ts";

Deno.test({
  name: "parseSpanSeconds(): spans, and what is none",
  permissions: "none",
  fn() {
    const spans = [["60", 60], ["60s", 60], ["90m", 5_400], ["6h", 21_600], ["7d", 604_800], ["0", 0]] as const;
    for (const [text, wanted] of spans) assertEquals(parseSpanSeconds(text), wanted, text);
    for (const text of ["", "h", "6 h", "-1", "1.5h", "6H", "1w", "1h30m", "9999999999"]) {
      assertEquals(parseSpanSeconds(text), null, text);
    }
  },
});
