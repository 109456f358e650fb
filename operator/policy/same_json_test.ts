import { assertEquals } from "@std/assert";
import { canonicalJson } from "../../contracts/canonical_json.ts";
import { sameJson } from "./same_json.ts";

const VALUES: readonly unknown[] = [
  null,
  0,
  1,
  "",
  "1",
  true,
  false,
  [],
  [1],
  [1, 2],
  [2, 1],
  [[1]],
  {},
  { a: 1 },
  { a: 1, b: 2 },
  { b: 2, a: 1 },
  { a: { b: [1, { c: null }] } },
  { a: { b: [1, { c: 0 }] } },
  { 0: 1 },
  { length: 0 },
  JSON.parse('{"__proto__": 1}'),
  JSON.parse('{"toString": 1}'),
  { toString: null },
];

Deno.test("two values are the same if and only if their canonical texts are", () => {
  for (const a of VALUES) {
    for (const b of VALUES) {
      assertEquals(sameJson(a, b), canonicalJson(a) === canonicalJson(b), `${canonicalJson(a)} ${canonicalJson(b)}`);
    }
  }
});

Deno.test("a copy is the same", () => {
  for (const value of VALUES) assertEquals(sameJson(value, structuredClone(value)), true);
});

Deno.test("a member that is undefined is not there", () => {
  assertEquals(sameJson({ a: undefined }, {}), true);
  assertEquals(sameJson({}, { a: undefined }), true);
  assertEquals(sameJson({ a: undefined }, { a: null }), false);
});
