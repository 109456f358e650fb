import { assertEquals } from "@std/assert";
import { DETAIL_MAX_CHARS } from "../contracts/limits.ts";
import { Blockers } from "./blockers.ts";

Deno.test("Blockers says every cause until it is gone, and tells changes only", () => {
  let changes = 0;
  const blockers = new Blockers(() => changes++);
  blockers.set("updater", null);
  assertEquals([blockers.text(), changes], [undefined, 0]);
  blockers.set("updater", "away");
  blockers.set("updater", "away");
  blockers.set("journal", "of another device");
  assertEquals([blockers.text(), changes], ["updater: away; journal: of another device", 2]);
  blockers.set("updater", null);
  blockers.set("journal", null);
  assertEquals([blockers.text(), changes], [undefined, 4]);
});

for (const extra of [-1, 0, 1]) {
  Deno.test(`Blockers with a text of ${DETAIL_MAX_CHARS + extra} characters`, () => {
    const blockers = new Blockers();
    blockers.set("x", "y".repeat(DETAIL_MAX_CHARS + extra - 3));
    assertEquals(blockers.text()?.length, Math.min(DETAIL_MAX_CHARS, DETAIL_MAX_CHARS + extra));
  });
}
