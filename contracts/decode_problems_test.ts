import { assertEquals } from "@std/assert";
import { decodeError, flag, integer, list, map, nullable, object, optional, refined } from "./codec.ts";
import { decodeProblems } from "./decode_problems.ts";
import { groupName } from "./formats.ts";

const messages = (...args: Parameters<typeof decodeProblems>) => decodeProblems(...args).map(({ message }) => message);

Deno.test("decodeProblems() is empty for a right document", () => {
  assertEquals(messages(object({ a: integer(0), b: optional(flag) }), { a: 1 }), []);
});

Deno.test("decodeProblems() names every member that is wrong, missing or unknown", () => {
  const decoder = object({ a: integer(0), b: flag, c: object({ d: integer(1, 2), e: flag }), o: optional(flag) });
  assertEquals(messages(decoder, { a: -1, c: { d: 3, f: 1 }, z: 1, o: null }), [
    "a: is -1, must be from 0 to 9007199254740991",
    "b: is missing",
    "c.d: is 3, must be from 1 to 2",
    "c.e: is missing",
    "o: must be true or false, not null",
    "c.f: is not known here, known are d, e",
    "z: is not known here, known are a, b, c, o",
  ]);
});

Deno.test("decodeProblems() looks into lists and maps", () => {
  const decoder = object({ l: list(integer(1, 3), 9), m: map(groupName, flag, 9) });
  assertEquals(messages(decoder, { l: [1, 9, "x"], m: { a: 1, b: true } }), [
    "l[1]: is 9, must be from 1 to 3",
    "l[2]: must be an integer, not a string",
    "m.a: must be true or false, not a number",
  ]);
});

Deno.test("decodeProblems() gives the problem of the whole when every part is right", () => {
  const pair = refined(object({ a: integer(0), b: integer(0) }), (value) => {
    if (value.a > value.b) throw decodeError("a", "must not be above b");
    return value;
  });
  assertEquals(messages(pair, { a: 2, b: 1 }), ["a: must not be above b"]);
  assertEquals(messages(list(integer(0), 1), [1, 2]), ["document: has 2 items, at most 1"]);
  assertEquals(messages(map(groupName, flag, 9), { "-": true }), [
    "-: is not a group name (letters, digits and . _ : / -)",
  ]);
});

Deno.test("decodeProblems() takes null where the decoder does, and refuses it elsewhere", () => {
  assertEquals(messages(nullable(object({ a: flag })), null), []);
  assertEquals(messages(object({ a: flag }), null), ["document: must be an object, not null"]);
  assertEquals(messages(object({ a: flag }), [1]), ["document: must be an object, not a list"]);
});
