/**
 * An agent and an updater of different ages. Neither has a switch for it: lines in front of the program change the
 * documents that it writes, to what one of another age would write.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import type { AgentUpgradeAttempt } from "../../../contracts/agent_upgrade.ts";
import { DEVICE_ID, type LabFleet } from "../lab_fleet.ts";
import { assertEnd, assertSound, type Scenario, upgradeAndBack } from "../scenario.ts";

/** Changes each document that a program writes and that has some members. */
function rewriting(members: readonly string[], change: string): string {
  return `{
  const stringify = JSON.stringify;
  const withUnknown = (value) => {
    if (Array.isArray(value)) return value.map(withUnknown);
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).map(([name, member]) => [name, withUnknown(member)]);
    return { ...Object.fromEntries(entries), fromLater: { depth: [1, null] } };
  };
  const change = (document) => { ${change} };
  JSON.stringify = (value, ...rest) => {
    const ours = ${
    JSON.stringify(members)
  }.every((name) => typeof value === "object" && value !== null && name in value);
    return stringify(ours ? change(JSON.parse(stringify(value))) : value, ...rest);
  };
}`;
}

const ANSWER = ["protocol", "ok"];

/** An updater that knows members, capabilities and words of which the agent has never heard. */
const NEWER_UPDATER = rewriting(
  ANSWER,
  `const { state, error } = document;
  if (error !== undefined) error.code = "E_MOON";
  if (state !== undefined) {
    state.capabilities.push("torrent", "AptFullUpgradeV9");
    const { status } = state.transaction ?? {};
    if (status?.failureClass !== undefined) status.failureClass = "weather";
    if (status?.postMortem !== undefined) status.postMortem.stage = "orbit";
    if (status?.reason !== undefined) status.reason = "MoonPhase";
  }
  return withUnknown(document);`,
);

/** An updater that has only what every updater had: no capability, and no member that is optional. */
const OLDER_UPDATER = rewriting(
  ANSWER,
  `if (document.state !== undefined) {
    document.state.capabilities = [];
    const { transaction } = document.state;
    const needed = ["updaterVersion", "capabilities", "busy", "quarantined", "transaction"];
    document.state = Object.fromEntries(needed.map((name) => [name, document.state[name]]));
    for (const name of ["detail", "drainMs", "bootId", "invocationId", "journalUnit", "postMortem"]) {
      if (transaction !== null) delete transaction.status[name];
    }
  }
  return document;`,
);

/** An agent that asks in more words, and whose self-test has a check and a result of which the updater never heard. */
const NEWER_AGENT = [
  rewriting(["protocol", "request"], "return { ...document, fromLater: { depth: [1, null] } };"),
  rewriting(
    ["schema", "passed", "checks"],
    `document.checks.push({ name: "moon", result: "warned", reason: "it is full", durationMs: 0 });
  return withUnknown(document);`,
  ),
].join("\n");

/** An attempt of a newer operator. */
const NEWER_ATTEMPT = { rollout: { ring: "canary", weight: 0.5 } } as Partial<AgentUpgradeAttempt>;

async function upgradeByNewerOperator(
  lab: LabFleet,
  version: string,
  prelude = "",
): Promise<AgentUpgradeAttempt> {
  const attempt = await lab.upgrade(version, await lab.publish({ version, prelude }), NEWER_ATTEMPT);
  await assertEnd(lab, attempt, { version, phase: "complete" });
  return attempt;
}

const oldAgent: Scenario = {
  name: "old-agent-newer-updater",
  title: "an agent whose updater is newer upgrades, is rolled back to, and starts again, whatever the updater tells",
  options: { updaterPrelude: NEWER_UPDATER },
  async run(lab) {
    const first = await upgradeByNewerOperator(lab, "2.0.0");
    await lab.behave({ "2.1.0": { exitCode: 1 } });
    const status = await assertEnd(lab, await lab.release({ version: "2.1.0" }), {
      version: "2.0.0",
      phase: "failed",
      reason: "MoonPhase",
    });
    assertEquals([status.failureClass, status.postMortem?.stage], ["internal", "start"]);
    // The status that it cannot read in full stands in the journal, and keeps no start back.
    await lab.device.shutDown("reboot");
    await lab.device.boot();
    await assertSound(lab, "2.0.0");
    // A refusal in a word that it does not know: the UUID was used for something else.
    await lab.fleet.send({ ...first, targetVersion: "2.9.0" });
    const refused = await lab.fleet.waitForStatus(
      DEVICE_ID,
      "the refusal",
      ({ phase, targetVersion }) => targetVersion === "2.9.0" && phase !== "preparing",
    );
    assertEquals([refused.phase, refused.reason, refused.failureClass], ["failed", "UpdaterRefused", "policy"]);
    await lab.behave({});
    await upgradeByNewerOperator(lab, "3.0.0");
  },
};

const newAgent: Scenario = {
  name: "new-agent-older-updater",
  title: "an agent whose updater is older passes its self-test, upgrades, and is rolled back to",
  options: { updaterPrelude: OLDER_UPDATER },
  async run(lab) {
    await upgradeByNewerOperator(lab, "2.0.0", NEWER_AGENT);
    await lab.behave({ "2.1.0": { exitCode: 1 } });
    const status = await assertEnd(lab, await lab.release({ version: "2.1.0", prelude: NEWER_AGENT }), {
      version: "2.0.0",
      phase: "failed",
      reason: "ExitedBeforeReady",
    });
    assertEquals([status.failureClass, status.postMortem], ["version", undefined]);
    await lab.device.shutDown("reboot");
    await lab.device.boot();
    await assertSound(lab, "2.0.0");
    await lab.behave({});
    await upgradeAndBack(lab, "3.0.0");
  },
};

/** Ages. */
export const AGES: readonly Scenario[] = [oldAgent, newAgent];
