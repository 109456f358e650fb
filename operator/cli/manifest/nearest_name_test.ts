import { assertEquals } from "@std/assert";
import { nearestName } from "./nearest_name.ts";

const KNOWN = ["version", "artifacts", "revision", "paused", "allowedGroups", "targetSelector", "priority"];

Deno.test("nearestName() finds typos, swapped letters and other spellings", () => {
  const cases = { verson: "version", artifact: "artifacts", allowed_groups: "allowedGroups", puased: "paused" };
  for (const [name, expected] of Object.entries(cases)) assertEquals(nearestName(name, KNOWN), expected);
  assertEquals(nearestName("ALLOWEDGROUPS", KNOWN), "allowedGroups");
});

Deno.test("nearestName() does not guess what is far away", () => {
  for (const name of ["image", "replicas", "x", ""]) assertEquals(nearestName(name, KNOWN), undefined, name);
});

Deno.test("nearestName() takes the nearest of several", () => {
  assertEquals(nearestName("labls", ["label", "labels"]), "labels");
  assertEquals(nearestName("sha", ["sha1", "sha256"]), "sha1");
});
