import { assert, assertEquals, assertThrows } from "@std/assert";
import { canonicalJson } from "./canonical_json.ts";
import { FleetError } from "./errors.ts";
import { JSON_DEPTH_MAX } from "./limits.ts";

function refused(value: unknown, field: string, problem: string): void {
  const error = assertThrows(() => canonicalJson(value), FleetError, problem);
  assertEquals(error.code, "E_CANONICAL");
  assertEquals(error.field, field);
  assert(error.message.startsWith(`${field}: `), error.message);
}

function fromBits(bits: string): number {
  return new DataView(BigUint64Array.of(BigInt(`0x${bits}`)).buffer).getFloat64(0, true);
}

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

Deno.test({
  name: "canonicalJson() writes the numbers of RFC 8785, appendix B",
  permissions: "none",
  fn() {
    const vectors: [string, string][] = [
      ["0000000000000000", "0"],
      ["8000000000000000", "0"],
      ["0000000000000001", "5e-324"],
      ["8000000000000001", "-5e-324"],
      ["7fefffffffffffff", "1.7976931348623157e+308"],
      ["ffefffffffffffff", "-1.7976931348623157e+308"],
      ["4340000000000000", "9007199254740992"],
      ["c340000000000000", "-9007199254740992"],
      ["4430000000000000", "295147905179352830000"],
      ["44b52d02c7e14af5", "9.999999999999997e+22"],
      ["44b52d02c7e14af6", "1e+23"],
      ["44b52d02c7e14af7", "1.0000000000000001e+23"],
      ["444b1ae4d6e2ef4e", "999999999999999700000"],
      ["444b1ae4d6e2ef4f", "999999999999999900000"],
      ["444b1ae4d6e2ef50", "1e+21"],
      ["3eb0c6f7a0b5ed8c", "9.999999999999997e-7"],
      ["3eb0c6f7a0b5ed8d", "0.000001"],
      ["41b3de4355555553", "333333333.3333332"],
      ["41b3de4355555554", "333333333.33333325"],
      ["41b3de4355555555", "333333333.3333333"],
      ["41b3de4355555556", "333333333.3333334"],
      ["41b3de4355555557", "333333333.33333343"],
      ["becbf647612f3696", "-0.0000033333333333333333"],
      ["43143ff3c1cb0959", "1424953923781206.2"],
    ];
    for (const [bits, expected] of vectors) assertEquals(canonicalJson(fromBits(bits)), expected, bits);
    refused({ a: fromBits("7fffffffffffffff") }, "a", "is NaN");
    refused({ a: fromBits("7ff0000000000000") }, "a", "is Infinity");
    refused([-Infinity], "[0]", "is -Infinity");
  },
});

Deno.test({
  name: "canonicalJson() writes the sample of RFC 8785, 3.2.2 and 3.2.4",
  permissions: "none",
  fn() {
    const source = String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`;
    const expected = String
      .raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`;
    assertEquals(canonicalJson(JSON.parse(source)), expected);
  },
});

Deno.test({
  name: "canonicalJson() sorts members by UTF-16 code units as RFC 8785, 3.2.3",
  permissions: "none",
  fn() {
    const source = {
      "\u20ac": "Euro Sign",
      "\r": "Carriage Return",
      "\ufb33": "Hebrew Letter Dalet With Dagesh",
      "1": "One",
      "\ud83d\ude00": "Emoji: Grinning Face",
      "\u0080": "Control",
      "\u00f6": "Latin Small Letter O With Diaeresis",
    };
    // The emoji is above U+FB33 as a code point and below it as code units.
    assertEquals(
      canonicalJson(source),
      '{"\\r":"Carriage Return","1":"One","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis",' +
        '"\u20ac":"Euro Sign","\ud83d\ude00":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
    );
    // Integer-like names come first in an object and must not in the text.
    assertEquals(canonicalJson({ 10: 1, 9: 2, "-": 3 }), '{"-":3,"10":1,"9":2}');
  },
});

Deno.test({
  name: "canonicalJson() refuses what JSON does not have, with the field",
  permissions: "none",
  fn() {
    refused(undefined, "document", "is of type undefined");
    refused({ a: undefined }, "a", "is of type undefined");
    refused({ a: [1, 2n] }, "a[1]", "is of type bigint");
    refused({ a: { b: () => 1 } }, "a.b", "is of type function");
    refused([Symbol("s")], "[0]", "is of type symbol");
    refused(new Array(1), "[0]", "is of type undefined");
    refused({ at: new Date(0) }, "at", "is an instance of a class");
    refused(new Map(), "document", "is an instance of a class");
    refused(new Uint8Array(1), "document", "is an instance of a class");
    refused({ a: "\ud800" }, "a", "contains a lone surrogate");
    refused({ a: "x\udc00y" }, "a", "contains a lone surrogate");
    refused({ a: { "\ud800": 1 } }, "a", "contains a lone surrogate");
  },
});

Deno.test({
  name: "canonicalJson() bounds nesting, and so ends on a cycle",
  permissions: "none",
  fn() {
    canonicalJson(nested(JSON_DEPTH_MAX - 1));
    canonicalJson(nested(JSON_DEPTH_MAX));
    const error = assertThrows(() => canonicalJson(nested(JSON_DEPTH_MAX + 1)), FleetError);
    assertEquals(error.code, "E_CANONICAL");
    const cycle: unknown[] = [];
    cycle.push(cycle);
    assertThrows(() => canonicalJson(cycle), FleetError, "is nested deeper than");
  },
});

Deno.test({
  name: "canonicalJson() keeps __proto__ as data and ignores inherited members",
  permissions: "none",
  fn() {
    assertEquals(canonicalJson(JSON.parse('{"b":1,"__proto__":{"a":2}}')), '{"__proto__":{"a":2},"b":1}');
    assertEquals(canonicalJson(Object.assign(Object.create(null), { a: 1 })), '{"a":1}');
    refused(Object.create({ inherited: 1 }), "document", "is an instance of a class");
  },
});

Deno.test({
  name: "canonicalJson() of what it wrote is the same text, whatever the order of members",
  permissions: "none",
  fn() {
    const seed = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
    let state = seed;
    const below = (bound: number) => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return Math.floor((state / 2 ** 32) * bound);
    };
    const character = () =>
      String.fromCodePoint([below(0x80), 0x80 + below(0x700), 0x1f600 + below(64)][below(3)] ?? 0);
    const word = () => Array.from({ length: below(6) }, character).join("");
    const value = (depth: number): unknown => {
      const kind = below(depth > 4 ? 4 : 6);
      if (kind === 0) return (below(2) === 0 ? -1 : 1) * below(2 ** 31) * 10 ** (below(40) - 20);
      if (kind === 1) return word();
      if (kind === 2) return below(2) === 0;
      if (kind === 3) return null;
      if (kind === 4) return Array.from({ length: below(4) }, () => value(depth + 1));
      return Object.fromEntries(Array.from({ length: below(5) }, () => [word(), value(depth + 1)]));
    };
    const reversed = (source: unknown): unknown => {
      if (Array.isArray(source)) return source.map(reversed);
      if (typeof source !== "object" || source === null) return source;
      return Object.fromEntries(Object.entries(source).reverse().map(([name, item]) => [name, reversed(item)]));
    };
    for (let round = 0; round < 2_000; round++) {
      const source = value(0);
      const written = canonicalJson(source);
      const again = canonicalJson(reversed(JSON.parse(written)));
      assertEquals(again, written, `seed ${seed}, round ${round}`);
    }
  },
});
