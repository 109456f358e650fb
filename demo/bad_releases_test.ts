import { assert, assertEquals } from "@std/assert";
import { FIRST_BAD_RELEASES, SECOND_BAD_RELEASES } from "./bad_releases.ts";

Deno.test("bad releases have names and versions of their own, and the later ones go before the earlier ones", () => {
  const all = [...FIRST_BAD_RELEASES, ...SECOND_BAD_RELEASES];
  assertEquals(new Set(all.map(({ name }) => name)).size, 7);
  assertEquals(new Set(all.map(({ claims, build }) => claims ?? build.version)).size, 7);
  assertEquals(new Set(FIRST_BAD_RELEASES.map(({ deviceId }) => deviceId)).size, 5);
  assertEquals(new Set(SECOND_BAD_RELEASES.map(({ deviceId }) => deviceId)).size, 2);
  for (const later of SECOND_BAD_RELEASES) {
    for (const { priority = 0 } of FIRST_BAD_RELEASES) assert((later.priority ?? 0) > priority && priority > 0);
  }
});
