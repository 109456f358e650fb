import { assert, assertEquals } from "@std/assert";
import {
  COMMAND_REPORT_MAX_BYTES,
  POST_MORTEM_LINE_MAX_CHARS,
  POST_MORTEM_LINES_MAX,
} from "../../../contracts/limits.ts";
import { commandReport } from "../../../contracts/system_upgrade.ts";
import { commandReportOf, findingOf } from "./command_report.ts";

Deno.test("commandReportOf() stays within its bound, and keeps the last lines", () => {
  const lines = Array.from(
    { length: 40 },
    (_, index) => `${index} `.padEnd(POST_MORTEM_LINE_MAX_CHARS, "\u00e4\u20ac"),
  );
  const report = commandReportOf({ command: "x".repeat(1_000), exitCode: 100, lines }, POST_MORTEM_LINES_MAX);
  const sizeBytes = new TextEncoder().encode(JSON.stringify(report)).byteLength;
  assert(sizeBytes <= COMMAND_REPORT_MAX_BYTES, `${sizeBytes}`);
  assertEquals(report.lastLines?.at(-1), lines.at(-1));
  assertEquals(commandReport(report, ""), report);
  const ascii = commandReportOf({ command: "apt-get update", lines: lines.map(() => "a") }, POST_MORTEM_LINES_MAX);
  assertEquals(ascii.lastLines?.length, POST_MORTEM_LINES_MAX);
  assertEquals(commandReportOf({ command: "apt-get update", lines: [] }, POST_MORTEM_LINES_MAX), {
    command: "apt-get update",
  });
});

Deno.test("findingOf() tells a change of packages that was ended from a download that was", () => {
  const end = { command: "apt-get full-upgrade", timedOut: true, lines: ["Setting up lab-app"] };
  assertEquals(findingOf("upgrade", end, 20).reason, "UpgradeTimedOut");
  assertEquals(findingOf("configure", end, 20).reason, "UpgradeTimedOut");
  assertEquals(findingOf("download", end, 20).reason, "DownloadFailed");
});
