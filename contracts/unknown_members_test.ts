import { assertEquals } from "@std/assert";
import { agentReleaseSpec } from "./agent_release.ts";
import { flag, integer, list, map, nullable, object, optional, refined, structureOf } from "./codec.ts";
import { targetSelector } from "./placement.ts";
import { unknownMembers } from "./unknown_members.ts";

const paths = (...args: Parameters<typeof unknownMembers>) => unknownMembers(...args).map(({ path }) => path);

Deno.test("unknownMembers() names what an object's decoder ignores, with the names that it knows", () => {
  const decoder = object({ a: integer(0), b: optional(flag) });
  assertEquals(unknownMembers(decoder, { a: 1, c: 2 }), [{ path: "c", name: "c", known: ["a", "b"] }]);
  assertEquals(unknownMembers(decoder, { a: 1, b: true }), []);
});

Deno.test("unknownMembers() looks into lists, maps, optional, nullable and refined members", () => {
  const inner = object({ x: integer(0) });
  const decoder = refined(
    object({ l: list(inner, 9), m: map((value) => String(value), inner, 9), o: optional(inner), n: nullable(inner) }),
    (value) => value,
  );
  const value = { l: [{ x: 1 }, { y: 1 }], m: { any: { z: 1 } }, o: { x: 1, q: 1 }, n: { w: 1 } };
  assertEquals(paths(decoder, value), ["l[1].y", "m.any.z", "o.q", "n.w"]);
});

Deno.test("unknownMembers() leaves values of a wrong type to the decoder", () => {
  const decoder = object({ l: list(object({}), 9), o: object({}) });
  assertEquals(paths(decoder, { l: "text", o: [1] }), []);
  assertEquals(paths(decoder, null), []);
  assertEquals(paths(decoder, [{ x: 1 }]), []);
});

Deno.test("unknownMembers() treats inherited names as unknown", () => {
  assertEquals(paths(object({}), JSON.parse('{"__proto__": 1, "toString": 2}')), ["__proto__", "toString"]);
});

Deno.test("unknownMembers() knows the members of a release, and leaves matchExpressions alone", () => {
  const artifact = { arch: "x86_64", form: "script", url: "https://a/b", sha256: "0".repeat(64), maxByte: 1 };
  const spec = { version: "1.0.0", artifacts: [artifact], allowedGroups: ["a"], targetSelector: {}, prioriti: 1 };
  assertEquals(paths(agentReleaseSpec, spec), ["artifacts[0].maxByte", "prioriti"]);
  assertEquals(paths(targetSelector, { matchExpressions: [{ anything: 1 }], matchLabel: {} }), ["matchLabel"]);
});

Deno.test("structureOf() is undefined for scalars and decoders made by hand", () => {
  assertEquals(structureOf(integer(0)), undefined);
  assertEquals(structureOf((value) => value), undefined);
});
