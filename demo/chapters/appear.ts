/**
 * First chapter: devices appear, get a group, and upgrade.
 *
 * @module
 */
import { expectEqual, tally } from "../expectation.ts";
import type { Story } from "../story.ts";
import { checkEveryUpgrade } from "./every_upgrade.ts";
import { DEVICE_IDS, GROUP } from "../world/demo_world.ts";

const VERSION = "1.1.0";

/** Tells it. */
export async function appearAndUpgrade(story: Story): Promise<void> {
  const { screen, world } = story;
  screen.heading("1. Five devices appear, and upgrade");
  screen.say(
    "Each device has an updater, which runs an agent. The agent reports to NATS; at its first word the operator makes " +
      "a Device of it, without a group. What is in no group gets nothing.",
  );
  for (const id of DEVICE_IDS) {
    await story.deviceStatus(
      id,
      "its resource",
      ({ step, liveness, desiredReason }) =>
        step === undefined && liveness === "Online" && desiredReason === "NoGroups",
    );
  }
  screen.command(`export PATH=${world.directory}:$PATH FLEETCTL_CONFIG=${world.fleetctl.configFile}`);
  screen.command(`cd ${world.manifests}`);
  await story.fleetctl("get", "devices");
  const devices = await world.devices();
  story.check(expectEqual(
    "devices without a group",
    `${DEVICE_IDS.length} x agent 1.0.0, NoGroups`,
    tally(devices.map(({ status }) => `agent ${status?.agentVersion}, ${status?.desiredReason}`)),
  ));
  await giveGroup(story);
  await upgradeAll(story);
}

async function giveGroup(story: Story): Promise<void> {
  story.screen.say(`A person decides who belongs to the fleet: all five go into the group "${GROUP}".`);
  await story.fleetctl("apply", "-f", "devices.yaml");
}

async function upgradeAll(story: Story): Promise<void> {
  const { screen, world } = story;
  const release = await world.publish({ name: "agent-1-1", build: { version: VERSION } });
  story.artifactBytes = release.artifactBytes;
  screen.say("A release names a version of the agent, where its bytes are, their SHA-256, and who shall run it:");
  screen.command(`cat ${release.file}`);
  screen.output(release.text);
  await story.fleetctl("apply", "-f", release.file, "--dry-run");
  screen.say(
    "Applied, it makes the operator write one attempt for each device. The agent hands it to its updater, which " +
      "fetches the artifact over TLS, checks it, tries it with --self-test, stops the old agent, moves one link, and " +
      "starts the new one. READY=1 from the new agent commits; nothing else does.",
  );
  await story.fleetctl("apply", "-f", release.file);
  await checkEveryUpgrade(story, VERSION);
  await story.fleetctl("get", "releases");
}
