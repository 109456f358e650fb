import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { statusComplete, statusRolledBack } from "../tests/golden/upgrade_documents.ts";
import { COMPLETES, expectEnd, expectEqual, findingLines, REFUSED, ROLLED_BACK, tally } from "./expectation.ts";

const ROLLED_BACK_END = {
  phases: ROLLED_BACK,
  reason: "ExitedBeforeReady",
  failureClass: "version",
  runs: "1.3.0",
};
const FOUND = { status: statusRolledBack, selected: "1.3.0", lives: true };

Deno.test("expectEnd() is met by exactly that end", () => {
  assert(
    expectEnd("it", { phases: COMPLETES, runs: "1.4.0" }, {
      status: statusComplete,
      selected: "1.4.0",
      lives: true,
    }).met,
  );
  const finding = expectEnd("it", ROLLED_BACK_END, FOUND);
  assert(finding.met, finding.found);
  assertEquals(
    finding.found,
    "preparing > stopping > starting > rolling-back > failed (ExitedBeforeReady, version); 1.3.0 runs",
  );
});

Deno.test("expectEnd() is not met when one thing differs", () => {
  const differing = [
    expectEnd("phases", { ...ROLLED_BACK_END, phases: REFUSED }, FOUND),
    expectEnd("reason", { ...ROLLED_BACK_END, reason: "NeverReady" }, FOUND),
    expectEnd("class", { ...ROLLED_BACK_END, failureClass: "environment" }, FOUND),
    expectEnd("version", { ...ROLLED_BACK_END, runs: "1.4.0" }, FOUND),
    expectEnd("life", ROLLED_BACK_END, { ...FOUND, lives: false }),
    expectEnd("order", ROLLED_BACK_END, {
      ...FOUND,
      status: { ...statusRolledBack, transitions: statusRolledBack.transitions.toReversed() },
    }),
  ];
  for (const { what, met, expected, found } of differing) {
    assert(!met, what);
    assert(expected !== found, what);
  }
  assertStringIncludes(differing[4]?.found ?? "", "no agent runs, 1.3.0 is selected");
});

Deno.test("expectEnd() does not take a reason where none is expected", () => {
  assert(!expectEnd("it", { phases: ROLLED_BACK, runs: "1.3.0" }, FOUND).met);
});

Deno.test("findingLines() has one line for what is met, and both sides for what is not", () => {
  assertEquals(findingLines(expectEqual("exit code", 0, 0)), "  ok     exit code: 0\n");
  assertEquals(
    findingLines(expectEqual("exit code", 0, 7)),
    "  WRONG  exit code\n         expected  0\n         found     7\n",
  );
});

Deno.test("findingLines() breaks what is long", () => {
  const text = findingLines(expectEnd("device-2, a release that exits 0 before READY", ROLLED_BACK_END, FOUND));
  const lines = text.trimEnd().split("\n");
  assertEquals(lines.length, 2);
  assert(lines.every((line) => line.length <= 100), text);
  assert(lines[1]?.startsWith("         ") && text.startsWith("  ok     device-2"), text);
});

Deno.test("tally() counts equal texts", () => {
  assertEquals(tally([]), "");
  assertEquals(tally(["a", "b", "a"]), "2 x a; 1 x b");
});
