import { assertEquals } from "@std/assert";
import { assertRejected, assertStrictDecoder } from "../tests/assert/strict_decoder.ts";
import { GROUPS_MAX, LABELS_MAX } from "./limits.ts";
import { allowedGroups, place, type PlacementRule, targetSelector } from "./placement.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const subject = { groups: ["production", "eu"], labels: { "device-id": "device-1", site: "basel", canary: "" } };

function verdict(groups: readonly string[], selector: PlacementRule["targetSelector"], of = subject): string {
  const placement = place({ allowedGroups: groups, targetSelector: selector }, of);
  return placement.placed ? "placed" : placement.reason;
}

pure("place(): one group is enough, none is not", () => {
  assertEquals(verdict(["production"], {}), "placed");
  assertEquals(verdict(["staging", "eu"], {}), "placed");
  assertEquals(verdict(["staging"], {}), "NotInAllowedGroup");
  assertEquals(verdict([], {}), "NotInAllowedGroup");
  assertEquals(verdict(["production"], {}, { ...subject, groups: [] }), "NotInAllowedGroup");
  assertEquals(verdict(["Production"], {}), "NotInAllowedGroup");
});

pure("place(): labels are a conjunction, and an empty selector matches every authorized device", () => {
  assertEquals(verdict(["eu"], { matchLabels: {} }), "placed");
  assertEquals(verdict(["eu"], { matchLabels: { site: "basel" } }), "placed");
  assertEquals(verdict(["eu"], { matchLabels: { site: "basel", "device-id": "device-1" } }), "placed");
  assertEquals(verdict(["eu"], { matchLabels: { site: "basel", "device-id": "device-2" } }), "LabelsDiffer");
  assertEquals(verdict(["eu"], { matchLabels: { canary: "" } }), "placed");
  assertEquals(verdict(["eu"], { matchLabels: { missing: "" } }), "LabelsDiffer");
  // Inherited members are no labels.
  assertEquals(verdict(["eu"], { matchLabels: { toString: "x" } }), "LabelsDiffer");
  assertEquals(verdict(["eu"], { matchLabels: { constructor: String(Object) } }), "LabelsDiffer");
});

pure("place(): matchExpressions fails closed, whatever it holds and whoever asks", () => {
  for (const matchExpressions of [[], null, {}, [{ key: "site", operator: "Exists" }], "x", false]) {
    assertEquals(verdict(["eu"], { matchExpressions }), "MatchExpressionsUnsupported");
    assertEquals(verdict(["none"], { matchExpressions, matchLabels: { no: "no" } }), "MatchExpressionsUnsupported");
    const decoded = targetSelector(JSON.parse(JSON.stringify({ matchExpressions })), "");
    assertEquals(verdict(["eu"], decoded), "MatchExpressionsUnsupported");
  }
});

pure("selector: strict in every field, labels at their limit", () => {
  const document = { matchLabels: { site: "basel" }, matchExpressions: [] };
  assertStrictDecoder(targetSelector, document, { anything: ["matchExpressions"] });
  const many = (count: number) => ({
    matchLabels: Object.fromEntries(Array.from({ length: count }, (_, index) => [`l${index}`, "v"])),
  });
  for (const count of [0, LABELS_MAX - 1, LABELS_MAX]) targetSelector(many(count), "");
  assertRejected(targetSelector, many(LABELS_MAX + 1), "matchLabels");
});

pure("allowedGroups: one to the limit, none twice", () => {
  const of = (count: number) => Array.from({ length: count }, (_, index) => `g${index}`);
  for (const count of [1, GROUPS_MAX - 1, GROUPS_MAX]) assertEquals(allowedGroups(of(count), "").length, count);
  assertRejected(allowedGroups, [], "", "none", "at least 1");
  assertRejected(allowedGroups, of(GROUPS_MAX + 1), "", "too many", `at most ${GROUPS_MAX}`);
  assertRejected(allowedGroups, ["a", "b", "a"], "", "twice", "names a group twice");
  assertRejected(allowedGroups, ["a", "b c"], "[1]");
  for (const bad of ["a", null, {}, 1]) assertRejected(allowedGroups, bad, "");
});
