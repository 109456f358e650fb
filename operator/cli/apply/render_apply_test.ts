import { assertEquals } from "@std/assert";
import { FIELD_CHANGE_MAX_CHARS } from "../../../contracts/limits.ts";
import { plainPaint } from "../render/paint.ts";
import type { FleetImpact } from "./fleet_impact.ts";
import { renderPreview, renderProblems } from "./render_apply.ts";

const NO_IMPACT: FleetImpact = {
  groupsFrom: "Device.spec.groups",
  releases: [],
  deployments: [],
  devices: [],
  newAttempts: 0,
  workloadsChanged: 0,
};

Deno.test("renderPreview() shows a changed field whole up to its limit", () => {
  const line = (chars: number) => {
    const to = "x".repeat(chars - '+ spec.a: ""'.length);
    const result = {
      kind: "Device",
      name: "d",
      action: "configured",
      changes: [{ path: "spec.a", to }],
      warnings: [],
    } as const;
    return renderPreview([result], NO_IMPACT, plainPaint).split("\n")[1]?.slice(2) ?? "";
  };
  for (const chars of [FIELD_CHANGE_MAX_CHARS - 1, FIELD_CHANGE_MAX_CHARS]) {
    assertEquals(line(chars).endsWith('x"'), true);
  }
  assertEquals([line(FIELD_CHANGE_MAX_CHARS + 1).length, line(FIELD_CHANGE_MAX_CHARS + 1).at(-1)], [
    FIELD_CHANGE_MAX_CHARS,
    "…",
  ]);
});

Deno.test("renderPreview() tells who comes, who goes, who is tied, and who would not upgrade", () => {
  const release = { release: "r", targets: 1, wouldUpgrade: 0, others: { Paused: 1 }, gained: 1, lost: 2, tied: 3 };
  const result = { kind: "AgentRelease", name: "r", action: "unchanged", changes: [], warnings: [] } as const;
  assertEquals(
    renderPreview([result], { ...NO_IMPACT, releases: [release] }, plainPaint),
    [
      "agentrelease/r unchanged (dry run)",
      "  targets 1 device: 0 would upgrade; would not: 1 Paused",
      "  decides for 1 device for which it does not decide now",
      "  lets 2 devices go for which it decides now",
      "  is tied on 3 devices with a release of the same priority: none is installed there",
      "nothing was changed; by the groups of Device.spec.groups, applying this would start no upgrade",
      "",
    ].join("\n"),
  );
});

Deno.test("renderProblems() writes out controls of a file that somebody else made", () => {
  const problem = {
    file: "f\u001b[2J",
    line: 3,
    document: 1,
    subject: "Device/d",
    path: "a",
    message: "a: is\nwrong",
    hint: "try b",
  };
  assertEquals(renderProblems([problem]), "f\\u001b[2J:3: document 1 (Device/d): a: is\\nwrong; try b\n");
  assertEquals(
    renderProblems([{ file: "f", path: "", message: "file: has no documents" }]),
    "f: file: has no documents\n",
  );
});
