import { assert, assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { assertRejected } from "../tests/assert/strict_decoder.ts";
import {
  decodeBytes,
  decodeError,
  type Decoder,
  flag,
  integer,
  isOptional,
  list,
  map,
  nullable,
  object,
  oneOf,
  oneOfOr,
  optional,
  parseJson,
  refined,
  structureOf,
  text,
} from "./codec.ts";
import { FleetError } from "./errors.ts";
import { JSON_DEPTH_MAX } from "./limits.ts";

const bytes = (source: string) => new TextEncoder().encode(source);

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

pure("decodeError() names the field, and the whole document when there is none", () => {
  const error = decodeError("a.b[3]", "is missing");
  assertEquals([error.code, error.field, error.retry, error.failureClass], [
    "E_DECODE",
    "a.b[3]",
    "permanent",
    "policy",
  ]);
  assertEquals(error.message, "a.b[3]: is missing");
  assertEquals(decodeError("", "is not JSON").message, "document: is not JSON");
});

pure("text() checks type, length, surrogates, pattern and rule, in this order", () => {
  const word = text({ what: "a word", maxChars: 4, pattern: /^[a-z\ud800-\udfff]+$/, check: checkWord });
  assertEquals(word("abc", "w"), "abc");
  assertEquals(word("abcd", "w"), "abcd");
  assertRejected(word, "abcde", "", undefined, "has 5 characters, at most 4");
  assertRejected(word, "", "", undefined, "must be a word of at least 1 characters");
  assertRejected(word, 1, "", undefined, "must be a word, not a number");
  assertRejected(word, null, "", undefined, "must be a word, not null");
  assertRejected(word, [], "", undefined, "must be a word, not a list");
  assertRejected(word, "A", "", undefined, "is not a word");
  assertRejected(word, "\ud83d", "", undefined, "contains a lone surrogate");
  assertRejected(word, "\ude00", "", undefined, "contains a lone surrogate");
  assertEquals(word("\ud83d\ude00", "w"), "😀");
  assertRejected(word, "bad", "", undefined, "is a bad word");
  // The pattern never sees a text of unbounded length.
  assertRejected(word, "!".repeat(1_000_000), "", undefined, "has 1000000 characters");
});

function checkWord(value: string): string | undefined {
  return value === "bad" ? "is a bad word" : undefined;
}

pure("text() takes exactly minChars to maxChars", () => {
  const pair = text({ what: "text", minChars: 2, maxChars: 3 });
  for (const good of ["ab", "abc"]) assertEquals(pair(good, ""), good);
  for (const bad of ["", "a", "abcd"]) assertRejected(pair, bad, "");
  assertEquals(text({ what: "text", minChars: 0, maxChars: 3 })("", ""), "");
});

pure("integer() takes its range and safe integers only", () => {
  const port = integer(1, 65_535);
  for (const good of [1, 2, 65_534, 65_535]) assertEquals(port(good, "p"), good);
  for (const bad of [0, 65_536, -1]) assertRejected(port, bad, "", undefined, "must be from 1 to 65535");
  for (const bad of [1.5, NaN, Infinity, -Infinity, 2 ** 53, 1e300]) {
    assertRejected(integer(0), bad, "", String(bad), "must be an integer");
  }
  assertEquals(integer(0)(Number.MAX_SAFE_INTEGER, ""), Number.MAX_SAFE_INTEGER);
  assertRejected(integer(0), JSON.parse("9007199254740993"), "");
  assertRejected(integer(0), JSON.parse("1e400"), "");
  assertRejected(integer(0), "1", "", undefined, "not a string");
  assertRejected(integer(0), null, "", undefined, "not null");
});

pure("oneOfOr() takes a newer writer's word for another one, and no other type", () => {
  const colour = oneOfOr(["red", "green"], "green");
  assertEquals(colour("red", ""), "red");
  for (const newer of ["blue", "Red", "", "x".repeat(1_000)]) assertEquals(colour(newer, ""), "green");
  for (const bad of [0, null, true, ["red"], { red: 1 }]) assertRejected(colour, bad, "");
});

pure("flag and oneOf() take their values and nothing that looks alike", () => {
  assertStrictEquals(flag(true, ""), true);
  assertStrictEquals(flag(false, ""), false);
  for (const bad of [0, 1, "true", null, [], {}]) assertRejected(flag, bad, "");
  const colour = oneOf(["red", "green"]);
  assertEquals(colour("red", ""), "red");
  for (const bad of ["Red", "red ", "", 0, null, ["red"], { red: 1 }]) assertRejected(colour, bad, "");
  assertEquals(oneOf([1, 2])(2, ""), 2);
  assertRejected(oneOf([1, 2]), "2", "");
  assertRejected(colour, "x".repeat(1_000), "", undefined, "must be one of red, green");
  const error = assertThrows(() => colour("x".repeat(1_000), "c"), FleetError);
  assert(error.message.length < 200, error.message);
});

pure("list() takes minItems to maxItems and names the item", () => {
  const numbers = list(integer(0), 3, 1);
  for (const good of [[1], [1, 2], [1, 2, 3]]) assertEquals(numbers(good, "n"), good);
  assertRejected(numbers, [], "", undefined, "has 0 items, at least 1");
  assertRejected(numbers, [1, 2, 3, 4], "", undefined, "has 4 items, at most 3");
  assertRejected(numbers, [1, "2"], "[1]");
  assertRejected(object({ n: numbers }), { n: [1, 2, -1] }, "n[2]");
  for (const bad of [{ length: 1, 0: 1 }, "1", null]) assertRejected(numbers, bad, "", undefined, "must be a list");
  assertEquals(list(integer(0), 3)([], ""), []);
});

const anyKey: Decoder<string> = text({ what: "a key", maxChars: 80, pattern: /^[^!]*$/ });

pure("map() takes up to maxItems members and names a bad one without breaking a line", () => {
  const counts = map(anyKey, integer(0), 2);
  assertEquals(counts({}, "m"), {});
  assertEquals(counts({ a: 1, b: 2 }, "m"), { a: 1, b: 2 });
  assertRejected(counts, { a: 1, b: 2, c: 3 }, "", undefined, "has 3 members, at most 2");
  assertRejected(object({ m: counts }), { m: { "a/b.c": -1 } }, "m.a/b.c");
  assertRejected(object({ m: counts }), { m: { "a b\n\u001b[31m": -1 } }, 'm."a b\\n\\u001b[31m"');
  assertRejected(counts, { ["k".repeat(79)]: -1 }, "k".repeat(64));
  assertRejected(counts, { "x!": 1 }, '"x!"', undefined, "is not a key");
  for (const bad of [[], null, "a", 1]) assertRejected(counts, bad, "", undefined, "must be an object");
});

pure("map() keeps __proto__ as data", () => {
  const decoded = map(anyKey, integer(0), 9)(JSON.parse('{"__proto__":1,"constructor":2}'), "");
  assertEquals(Object.entries(decoded), [["__proto__", 1], ["constructor", 2]]);
  assertStrictEquals(Object.getPrototypeOf(decoded), Object.prototype);
});

pure("object() takes what it knows, ignores the rest, and names what is missing", () => {
  const point = object({ x: integer(0), y: integer(0), name: optional(text({ what: "text", maxChars: 9 })) });
  assertEquals(point({ x: 1, y: 2 }, ""), { x: 1, y: 2 });
  assertEquals(point({ x: 1, y: 2, name: "a", z: 3 }, ""), { x: 1, y: 2, name: "a" });
  assertEquals(point({ x: 1, y: 2, name: undefined }, ""), { x: 1, y: 2 });
  assertRejected(point, { x: 1 }, "y", undefined, "is missing");
  assertRejected(object({ p: point }), { p: { x: 1 } }, "p.y");
  assertRejected(point, { x: 1, y: 2, name: null }, "name");
  for (const bad of [[], null, "a", 1, true]) assertRejected(point, bad, "", undefined, "must be an object");
});

pure("object() never reads an inherited member", () => {
  const shape = object({ toString: optional(integer(0)), constructor: integer(0) });
  assertRejected(shape, {}, "constructor", undefined, "is missing");
  assertEquals(shape({ constructor: 1 }, ""), { constructor: 1 } as unknown as ReturnType<typeof shape>);
  const polluted = object({ admin: optional(flag) })(JSON.parse('{"__proto__":{"admin":true}}'), "");
  assertEquals(polluted, {});
  assertStrictEquals((polluted as { admin?: boolean }).admin, undefined);
});

pure("optional(), nullable() and refined() keep the structure that unknown members are found by", () => {
  const inner = object({ a: integer(0) });
  for (const decoder of [optional(inner), nullable(inner), refined(inner, ({ a }) => ({ b: a }))]) {
    assertStrictEquals(structureOf(decoder), structureOf(inner));
  }
  assert(isOptional(optional(flag)));
  assert(!isOptional(nullable(flag)));
  assertStrictEquals(structureOf(flag), undefined);
  assertStrictEquals(nullable(flag)(null, ""), null);
  assertRejected(nullable(flag), 0, "");
  assertRejected(
    object({
      r: refined(inner, (value, path) => {
        throw decodeError(path, `refused ${value.a}`);
      }),
    }),
    { r: { a: 1 } },
    "r",
    undefined,
    "refused 1",
  );
});

function parseRejected(source: string | Uint8Array, bounds: { maxBytes: number; maxDepth?: number }, problem: string) {
  const error = assertThrows(
    () => parseJson(typeof source === "string" ? bytes(source) : source, bounds),
    FleetError,
    problem,
  );
  assertEquals([error.code, error.field], ["E_DECODE", "document"]);
}

pure("parseJson() takes exactly maxBytes, counted in UTF-8", () => {
  assertEquals(parseJson(bytes('"abc"'), { maxBytes: 6 }), "abc");
  assertEquals(parseJson(bytes('"abc"'), { maxBytes: 5 }), "abc");
  parseRejected('"abc"', { maxBytes: 4 }, "has 5 bytes, at most 4");
  assertEquals(parseJson(bytes('"ö"'), { maxBytes: 4 }), "ö");
  parseRejected('"ö"', { maxBytes: 3 }, "has 4 bytes, at most 3");
});

pure("parseJson() takes exactly maxDepth levels, and survives a depth bomb", () => {
  const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
  const maxBytes = 1_000_000;
  for (const levels of [1, JSON_DEPTH_MAX - 1, JSON_DEPTH_MAX]) parseJson(bytes(nested(levels)), { maxBytes });
  const problem = `is nested deeper than ${JSON_DEPTH_MAX} levels`;
  parseRejected(nested(JSON_DEPTH_MAX + 1), { maxBytes }, problem);
  parseRejected("[".repeat(maxBytes), { maxBytes }, problem);
  parseRejected('{"a":'.repeat(100_000), { maxBytes }, problem);
  parseJson(bytes('{"a":[{}]}'), { maxBytes, maxDepth: 3 });
  parseRejected('{"a":[{}]}', { maxBytes, maxDepth: 2 }, "is nested deeper than 2 levels");
  // Brackets inside of texts are no nesting, behind escaped quotes neither.
  assertEquals(parseJson(bytes('{"a":"[[[[\\"[[[[\\\\"}'), { maxBytes, maxDepth: 1 }), { a: '[[[["[[[[\\' });
});

pure("parseJson() refuses what is not UTF-8 or not JSON", () => {
  const bounds = { maxBytes: 100 };
  parseRejected(Uint8Array.of(0x22, 0xff, 0x22), bounds, "is not UTF-8");
  parseRejected(Uint8Array.of(0x22, 0xc0, 0x80, 0x22), bounds, "is not UTF-8");
  parseRejected(Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22), bounds, "is not UTF-8");
  parseRejected("\ufeff{}", bounds, "is not JSON");
  const broken = ["", " ", "{", "{}{}", "{} x", "{'a':1}", "{a:1}", "[1,]", '{"a":1,}', "01", "+1", "NaN", "Infinity"];
  for (const source of [...broken, "undefined", "// x\n1", '"\t"', '"\\x"', "]", "1e", ".5", "tru"]) {
    parseRejected(source, bounds, "is not JSON");
  }
});

pure("parseJson() refuses a lone surrogate anywhere: no digest could bind such a document", () => {
  const bounds = { maxBytes: 100 };
  for (const source of ['"\\ud800"', '["\\udc00x"]', '{"a":{"b":["\\ud83d"]}}', '{"\\ud800":1}', '"\\ude00\\ud83d"']) {
    parseRejected(source, bounds, "contains a lone surrogate");
  }
  assertEquals(parseJson(bytes('{"\\ud83d\\ude00":["\\u00f6\\\\ud800"]}'), bounds), { "😀": ["ö\\ud800"] });
});

pure("parseJson() takes the last of duplicate members, and keeps __proto__ as one", () => {
  assertEquals(parseJson(bytes('{"a":1,"a":2}'), { maxBytes: 100 }), { a: 2 });
  const parsed = parseJson(bytes('{"__proto__":{"x":1}}'), { maxBytes: 100 });
  assertEquals(Object.keys(parsed as object), ["__proto__"]);
  assertStrictEquals((parsed as { x?: number }).x, undefined);
});

pure("decodeBytes() parses and decodes with one bound", () => {
  const decoder = object({ a: integer(0) });
  assertEquals(decodeBytes(decoder, bytes('{"a":1}'), 7), { a: 1 });
  assertThrows(() => decodeBytes(decoder, bytes('{"a":1} '), 7), FleetError, "has 8 bytes, at most 7");
  assertThrows(() => decodeBytes(decoder, bytes("[1]"), 7), FleetError, "document: must be an object, not a list");
});
