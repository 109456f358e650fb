/**
 * Last chapter: one good release brings all devices to one version.
 *
 * @module
 */
import { expectEqual, tally } from "../expectation.ts";
import type { Story } from "../story.ts";
import { checkEveryUpgrade } from "./every_upgrade.ts";
import { DEVICE_IDS } from "../world/demo_world.ts";

const VERSION = "2.0.0";
const NAME = "agent-2-0";
const PRIORITY = 30;

/** Tells it. */
export async function uniteFleet(story: Story): Promise<void> {
  const { screen, world } = story;
  screen.heading("4. One good release for all");
  screen.say(
    "Whatever has failed before, a device takes the next release at once. This one has the highest priority, so it " +
      "decides for all five; the bad ones need not even be deleted.",
  );
  const release = await world.publish({ name: NAME, build: { version: VERSION }, priority: PRIORITY });
  await story.fleetctl("apply", "-f", release.file);
  await checkEveryUpgrade(story, VERSION);
  await story.fleetctl("get", "devices");
  await story.fleetctl("get", "releases");
  const devices = await world.devices();
  story.check(expectEqual(
    "devices in the end",
    `${DEVICE_IDS.length} x agent ${VERSION}, UpToDate, Online`,
    tally(devices.map(({ status }) => `agent ${status?.agentVersion}, ${status?.desiredReason}, ${status?.liveness}`)),
  ));
}
