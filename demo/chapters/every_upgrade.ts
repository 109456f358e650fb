/**
 * What two chapters wait for: one release has reached every device.
 *
 * @module
 */
import { COMPLETES } from "../expectation.ts";
import type { Story } from "../story.ts";
import { DEVICE_IDS } from "../world/demo_world.ts";

/**
 * Checks that the upgrade of every device completes, and waits until each has reported the version.
 *
 * @param story The demo
 * @param version The release's version
 */
export async function checkEveryUpgrade(story: Story, version: string): Promise<void> {
  await Promise.all(DEVICE_IDS.map(async (id) => {
    const { status } = await story.checkEnd(version, id, version, { phases: COMPLETES, runs: version });
    story.upgrades.push(status);
  }));
  for (const id of DEVICE_IDS) {
    await story.deviceStatus(
      id,
      `a report of ${version}`,
      ({ agentVersion, step, desiredReason }) =>
        agentVersion === version && step === undefined && desiredReason === "UpToDate",
    );
  }
}
