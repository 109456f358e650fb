import { assertEquals } from "@std/assert";
import { canUpgradeSystem, TargetCollector, targetRole } from "./task_targets.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const RULE = { allowedGroups: ["edge"], targetSelector: { matchLabels: { site: "basel" } } };
const CAPABLE = ["https", "AptFullUpgradeV1"];
const device = (id: string, changes: Record<string, unknown> = {}) => ({
  id,
  groups: ["edge"],
  labels: { "device-id": id, site: "basel" },
  capabilities: CAPABLE,
  ...changes,
});

pure("targetRole(): every way to be a target, and not to be one", () => {
  const canary = { "device-id": "d", site: "basel", canary: "true" };
  const cases: [ReturnType<typeof device>, string][] = [
    [device("d"), "other"],
    [device("d", { labels: canary }), "canary"],
    [device("d", { labels: { ...canary, canary: "True" } }), "other"],
    [device("d", { labels: { ...canary, canary: "false" } }), "other"],
    [device("d", { capabilities: ["https"] }), "incapable"],
    [device("d", { capabilities: [] }), "incapable"],
    [device("d", { capabilities: undefined }), "incapable"],
    [device("d", { labels: canary, capabilities: ["https"] }), "incapable"],
    [device("d", { groups: [] }), "unplaced"],
    [device("d", { groups: ["core"] }), "unplaced"],
    [device("d", { labels: { "device-id": "d" } }), "unplaced"],
    [device("d", { groups: [], capabilities: ["https"] }), "unplaced"],
  ];
  for (const [subject, role] of cases) assertEquals(targetRole(RULE, subject), role, JSON.stringify(subject));
});

pure("targetRole(): an empty selector takes every authorized device, matchExpressions none", () => {
  const plain = device("d", { labels: { "device-id": "d" } });
  assertEquals(targetRole({ allowedGroups: ["edge"], targetSelector: {} }, plain), "other");
  assertEquals(targetRole({ allowedGroups: ["edge"], targetSelector: { matchExpressions: [] } }, plain), "unplaced");
});

pure("canUpgradeSystem(): the updater itself must say so", () => {
  assertEquals([canUpgradeSystem(CAPABLE), canUpgradeSystem(["https"]), canUpgradeSystem(undefined)], [
    true,
    false,
    false,
  ]);
});

pure("TargetCollector: the same targets in the same order, whatever order the fleet is told in", () => {
  const fleet = [
    device("d2"),
    device("d10", { labels: { "device-id": "d10", site: "basel", canary: "true" } }),
    device("d1"),
    device("d3", { capabilities: ["https"] }),
    device("d4", { groups: ["core"] }),
  ];
  for (const order of [fleet, fleet.toReversed()]) {
    const collector = new TargetCollector(RULE);
    for (const each of order) collector.add(each);
    assertEquals(collector.targets(), { canaries: ["d10"], others: ["d1", "d2"], incapable: 1 });
  }
});
