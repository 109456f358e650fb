import { assertEquals, assertThrows } from "@std/assert";
import { FleetError } from "../../contracts/errors.ts";
import { checkFilter, checkKey, matchesFilter } from "./key.ts";

function isRefused(check: (text: string) => void, text: string): boolean {
  try {
    check(text);
    return false;
  } catch (error) {
    assertEquals((error as FleetError).code, "E_BUS_KEY");
    return true;
  }
}

Deno.test({
  name: "checkKey() takes keys, and nothing that means more in a subject",
  permissions: "none",
  fn() {
    for (const key of ["a", "device-1", "d.x", "a._generation", "A=/b.C_1"]) checkKey(key);
    for (const key of ["", ".", "a.", ".a", "a..b", "*", ">", "a.*", "a b", "a\tb", "a\n", "$a", "a:b", "é"]) {
      assertEquals(isRefused(checkKey, key), true, JSON.stringify(key));
    }
  },
});

Deno.test({
  name: "checkFilter() takes whole-token wildcards in the places where they mean something",
  permissions: "none",
  fn() {
    for (const filter of ["a", ">", "*", "a.>", "a.*.b", "*.*", "*.>"]) checkFilter(filter);
    for (const filter of ["", ">.a", "a.>.b", "a*", "a>", "a.b>", "**", ".>", "a.", "a b"]) {
      assertEquals(isRefused(checkFilter, filter), true, JSON.stringify(filter));
    }
  },
});

Deno.test({
  name: "a refused key is shown in part, however long it is",
  permissions: "none",
  fn() {
    const { message } = assertThrows(() => checkKey(" ".repeat(10_000)), FleetError);
    assertEquals(message.length < 250, true, message);
  },
});

Deno.test({
  name: "matchesFilter() matches as NATS does",
  permissions: "none",
  fn() {
    for (
      const [filter, key, expected] of [
        ["a", "a", true],
        ["a", "b", false],
        ["a", "a.b", false],
        ["a.b", "a", false],
        ["*", "a", true],
        ["*", "a.b", false],
        ["*.b", "a.b", true],
        ["a.*", "a", false],
        [">", "a", true],
        [">", "a.b.c", true],
        ["a.>", "a", false],
        ["a.>", "a.b", true],
        ["a.>", "a.b.c", true],
        ["a.>", "ab.c", false],
        ["a.*.c", "a.b.c", true],
        ["a.*.c", "a.b.d", false],
      ] as const
    ) assertEquals(matchesFilter(filter, key), expected, `${filter} ${key}`);
  },
});
