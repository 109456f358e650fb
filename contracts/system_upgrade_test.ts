import { assert, assertEquals } from "@std/assert";
import { assertRejected, assertStrictDecoder } from "../tests/assert/strict_decoder.ts";
import { runId, systemAttempt, systemFailed, systemSucceeded } from "../tests/golden/task_documents.ts";
import { COMMAND_REPORT_MAX_BYTES, PACKAGE_NAME_MAX_CHARS, PACKAGES_NAMED_MAX } from "./limits.ts";
import {
  commandReport,
  isTerminalSystemPhase,
  packageGroup,
  packageName,
  SYSTEM_UPGRADE_PHASES,
  SYSTEM_UPGRADE_REASONS,
  systemUpgradeAttempt,
  systemUpgradeStatus,
} from "./system_upgrade.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

pure("system attempt and status: strict in every field", () => {
  assertStrictDecoder(systemUpgradeAttempt, systemAttempt);
  // One that failed can have all but the heartbeat, which the one that succeeded has.
  assertStrictDecoder(systemUpgradeStatus, { ...systemSucceeded, ...systemFailed });
});

pure("system attempt: its id is the run's", () => {
  const other = "7d2f4c1e-7d52-4a7e-9f5e-0d6f1a2b3c4e";
  assertRejected(systemUpgradeAttempt, { ...systemAttempt, attemptId: other }, "attemptId");
  assertRejected(systemUpgradeAttempt, { ...systemAttempt, runId: other }, "attemptId");
  assertRejected(systemUpgradeAttempt, { ...systemAttempt, operation: "rm -rf /" }, "operation");
  assertEquals(systemUpgradeAttempt(systemAttempt, "").runId, runId);
});

pure("system attempt: what a run cannot say is not taken from it", () => {
  const bold = { ...systemAttempt, packages: ["vim"], reboot: "now" };
  assertEquals(systemUpgradeAttempt(bold, ""), systemAttempt);
});

pure("system phases: the last two are terminal", () => {
  assertEquals(SYSTEM_UPGRADE_PHASES.filter(isTerminalSystemPhase), ["succeeded", "failed"]);
});

pure("system reasons: every one can stand in a status, and a newer one can be read", () => {
  assertEquals(new Set(SYSTEM_UPGRADE_REASONS).size, SYSTEM_UPGRADE_REASONS.length);
  for (const reason of [...SYSTEM_UPGRADE_REASONS, "SomethingNewer"]) {
    assertEquals(systemUpgradeStatus({ ...systemFailed, reason }, "").reason, reason);
  }
});

pure("package names: as dpkg has them", () => {
  for (const name of ["libc6", "g++-12", "libstdc++6:armhf", "0ad", "linux-image-6.12.57+deb13-amd64"]) {
    assertEquals(packageName(name, ""), name);
  }
  for (const name of ["", "-x", "Vim", "a b", "a;b", "libc6:", "../x", "a:b:c"]) assertRejected(packageName, name, "");
  assert(packageName("a".repeat(PACKAGE_NAME_MAX_CHARS - 1), ""));
  assert(packageName("a".repeat(PACKAGE_NAME_MAX_CHARS), ""));
  assertRejected(packageName, "a".repeat(PACKAGE_NAME_MAX_CHARS + 1), "");
  for (const count of [PACKAGES_NAMED_MAX - 1, PACKAGES_NAMED_MAX]) {
    assertEquals(packageGroup({ count: 500, names: Array(count).fill("vim") }, "").names.length, count);
  }
  assertRejected(packageGroup, { count: 500, names: Array(PACKAGES_NAMED_MAX + 1).fill("vim") }, "names");
});

pure("command report: bounded as a whole", () => {
  // A control character takes six bytes in JSON.
  const line = (chars: number) => "\u0001".repeat(chars);
  const report = (last: number) => ({
    command: "dpkg --configure -a",
    lastLines: [line(256), line(256), line(256), line(256), line(256), "x".repeat(last)],
  });
  const sizeBytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).byteLength;
  const room = COMMAND_REPORT_MAX_BYTES - sizeBytes(report(0));
  assert(room > 0 && room < 512);
  const lines = (chars: number) => {
    const { lastLines, ...rest } = report(Math.min(chars, 250));
    return chars <= 250 ? { ...rest, lastLines } : { ...rest, lastLines: [...lastLines, "x".repeat(chars - 250 - 3)] };
  };
  assertEquals(sizeBytes(lines(room)), COMMAND_REPORT_MAX_BYTES);
  for (const chars of [room - 1, room]) assertEquals(commandReport(lines(chars), "").command, "dpkg --configure -a");
  assertRejected(commandReport, lines(room + 1), "");
});
