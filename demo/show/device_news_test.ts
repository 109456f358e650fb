import { assertEquals, assertStrictEquals } from "@std/assert";
import type { AgentUpgradeStatus } from "../../contracts/agent_upgrade.ts";
import type { DeviceInfo } from "../../contracts/device.ts";
import { statusComplete, statusPreparing, statusRolledBack } from "../../tests/golden/upgrade_documents.ts";
import { changedRows, changeLine, deviceRow, noNews, withInfo, withStatus } from "./device_news.ts";

function info(agentVersion: string, step: DeviceInfo["step"]): DeviceInfo {
  return { agentVersion, step } as DeviceInfo;
}

/** A status as it was after its n-th transition. */
function upTo(status: AgentUpgradeStatus, count: number): AgentUpgradeStatus {
  const transitions = status.transitions.slice(0, count);
  return { ...status, transitions, phase: transitions.at(-1)?.phase ?? status.phase };
}

const NEW = noNews("device-1");
const READY = withInfo(NEW, info("1.3.0", "ready"));

Deno.test("a device appears with its first word, and is told of again when it is READY", () => {
  const starting = withInfo(NEW, info("1.3.0", "device-info"));
  const further = withInfo(starting, info("1.3.0", "updater"));
  assertEquals(deviceRow(NEW).happens, "not seen yet");
  assertEquals(changedRows(NEW, starting).map(({ happens }) => happens), ["starts, at step device-info"]);
  assertEquals(changedRows(starting, further), []);
  assertEquals(deviceRow(further).happens, "starts, at step updater");
  const [row] = changedRows(further, withInfo(further, info("1.3.0", "ready")));
  assertEquals(row, {
    device: "device-1",
    agent: "1.3.0",
    phase: "-",
    happens: "READY, nothing to do",
    tone: undefined,
  });
});

Deno.test("every phase of an upgrade is a row, also those that were passed between two looks", () => {
  const done = withStatus(READY, statusComplete);
  assertEquals(changedRows(READY, done).map(({ agent, phase }) => `${agent} ${phase}`), [
    "1.3.0 preparing",
    "1.3.0 stopping",
    "- starting",
    "1.4.0 complete",
  ]);
  const begun = withStatus(READY, upTo(statusComplete, 2));
  assertEquals(changedRows(begun, done).map(({ phase }) => phase), ["starting", "complete"]);
  assertEquals(changedRows(done, done), []);
  assertEquals(deviceRow(done).agent, "1.4.0");
});

Deno.test("a rollback ends with the version before, and says why", () => {
  const found = withStatus(READY, statusRolledBack);
  const rows = changedRows(READY, found);
  assertEquals(rows.slice(-2).map(({ agent, happens }) => `${agent} ${happens}`), [
    "- ExitedBeforeReady: 1.3.0 is brought back",
    "1.3.0 ExitedBeforeReady (version): 1.3.0 is back and READY",
  ]);
  assertEquals(deviceRow(found).agent, "1.3.0");
});

Deno.test("what was refused before the switch never stopped the agent", () => {
  const refused: AgentUpgradeStatus = {
    ...statusPreparing,
    phase: "failed",
    reason: "DigestMismatch",
    failureClass: "policy",
    transitions: [...statusPreparing.transitions, { phase: "failed", at: "2026-11-30T08:00:01.000Z" }],
  };
  assertEquals(
    deviceRow(withStatus(READY, refused)).happens,
    "DigestMismatch (policy): nothing was switched, 1.3.0 never stopped",
  );
});

Deno.test("an older status, which comes the longer way, changes nothing", () => {
  const done = withStatus(READY, statusComplete);
  assertStrictEquals(withStatus(done, upTo(statusComplete, 3)), done);
  assertStrictEquals(withStatus(done, statusComplete), done);
  const before = { ...statusComplete, attemptId: "0197b3a2-4f6c-7d11-8a55-6f2f4f0d9a12" };
  assertStrictEquals(withStatus(done, { ...before, startedAt: "2026-11-30T07:00:00.000Z" }), done);
  const later = { ...before, startedAt: "2026-11-30T09:00:00.000Z" };
  assertEquals(withStatus(done, later).status, later);
});

Deno.test("what the demo does to a device goes before what the device says", () => {
  const before = withStatus(READY, upTo(statusComplete, 3));
  const after = { ...before, note: "SIGKILL" };
  assertEquals(changedRows(before, after).map(({ phase, happens }) => [phase, happens]), [["starting", "SIGKILL"]]);
  assertEquals(changedRows(after, before), []);
});

Deno.test("changeLine() has a time and the columns of the table", () => {
  assertEquals(
    changeLine(deviceRow(READY), 7_049),
    "    7.0 s  device-1  1.3.0  -             READY, nothing to do\n",
  );
});
