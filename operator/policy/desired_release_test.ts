import { assertEquals } from "@std/assert";
import { TIED_RELEASES_MAX } from "../../contracts/limits.ts";
import { selectRelease } from "./desired_release.ts";
import { release } from "../../tests/fakes/operator_samples.ts";

const SUBJECT = { groups: ["edge"], labels: { "device-id": "d1", site: "north" } };

function selected(...releases: ReturnType<typeof release>[]): unknown {
  const desired = selectRelease(releases, SUBJECT);
  return desired.kind === "release" ? desired.release.metadata.name : desired;
}

Deno.test("the one release that places the device decides", () => {
  assertEquals(selected(release({ name: "a" }), release({ name: "b", allowedGroups: ["core"] })), "a");
});

Deno.test("the highest priority decides, wherever it stands", () => {
  const [low, mid, high] = [-5, 0, 7].map((priority) => release({ name: `p${priority}`, priority }));
  if (low === undefined || mid === undefined || high === undefined) throw new Error("three releases");
  for (const order of [[low, mid, high], [high, mid, low], [mid, high, low]]) assertEquals(selected(...order), "p7");
});

Deno.test("a release that does not place the device does not compete", () => {
  const other = release({ name: "b", priority: 9, targetSelector: { matchLabels: { site: "south" } } });
  const closed = release({ name: "c", priority: 9, targetSelector: { matchExpressions: [] } });
  assertEquals(selected(release({ name: "a" }), other, closed), "a");
});

Deno.test("a paused release decides all the same", () => {
  assertEquals(selected(release({ name: "a" }), release({ name: "b", priority: 1, paused: true })), "b");
});

Deno.test("a tie decides nothing and names the releases in order", () => {
  const tie = { kind: "tie", names: ["a", "b"], priority: 3 };
  const low = release({ name: "low" });
  assertEquals(selected(release({ name: "b", priority: 3 }), low, release({ name: "a", priority: 3 })), tie);
});

Deno.test("a tie below the highest priority does not matter", () => {
  assertEquals(selected(release({ name: "a" }), release({ name: "b" }), release({ name: "c", priority: 1 })), "c");
});

for (const count of [TIED_RELEASES_MAX - 1, TIED_RELEASES_MAX, TIED_RELEASES_MAX + 1]) {
  Deno.test(`a tie of ${count} names at most ${TIED_RELEASES_MAX}`, () => {
    const names = Array.from({ length: count }, (_, index) => `r${index}`);
    const desired = selectRelease(names.map((name) => release({ name })), SUBJECT);
    assertEquals(desired.kind === "tie" ? desired.names : [], names.slice(0, TIED_RELEASES_MAX));
  });
}

Deno.test("no group, or no release for it, is said as such", () => {
  const none = selectRelease([release({ name: "a" })], { groups: [], labels: {} });
  assertEquals(none, { kind: "none", reason: "NoGroups" });
  assertEquals(selected(release({ name: "a", allowedGroups: ["core"] })), { kind: "none", reason: "NoRelease" });
  assertEquals(selected(), { kind: "none", reason: "NoRelease" });
});
