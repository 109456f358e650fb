/**
 * Second chapter: bad releases.
 *
 * @module
 */
import { type BadRelease, FIRST_BAD_RELEASES, SECOND_BAD_RELEASES } from "../bad_releases.ts";
import { expectEqual, ROLLED_BACK } from "../expectation.ts";
import { seconds } from "../figures.ts";
import type { Story } from "../story.ts";
import { START_TIMEOUT_MS } from "../world/demo_world.ts";

const PREVIOUS = "1.1.0";
/** The one whose post-mortem is shown. */
const SHOWN = "device-3";

/** Tells it. @returns the attempt of {@link SHOWN} that failed, which must never be repeated */
export async function refuseBadReleases(story: Story): Promise<string | undefined> {
  const { screen } = story;
  screen.heading("2. Seven bad releases");
  screen.say(
    "Now the same with releases that are broken on purpose, one for each device: a selector names the device, and a " +
      "higher priority puts it before the good release. Whatever is wrong, 1.1.0 must run on in the end. An agent that " +
      `never says READY is given ${seconds(START_TIMEOUT_MS)} here, four minutes on a device.`,
  );
  await applyAll(story, FIRST_BAD_RELEASES);
  const first = new Map(FIRST_BAD_RELEASES.map((release) => [release.deviceId, checkBad(story, release)]));
  const second = async () => {
    // A device takes one attempt after the other.
    await Promise.all(SECOND_BAD_RELEASES.map(({ deviceId }) => first.get(deviceId)));
    screen.say("Two devices are done already; they get the two whose document does not fit the artifact.");
    await applyAll(story, SECOND_BAD_RELEASES);
    await Promise.all(SECOND_BAD_RELEASES.map((release) => checkBad(story, release)));
  };
  await Promise.all([...first.values(), second()]);
  return await showPostMortem(story);
}

async function applyAll(story: Story, releases: readonly BadRelease[]): Promise<void> {
  const files: string[] = [];
  for (const release of releases) files.push("-f", (await story.world.publish(release)).file);
  await story.fleetctl("apply", ...files);
}

async function checkBad(story: Story, release: BadRelease): Promise<void> {
  const { deviceId, what, end, claims, build } = release;
  const expected = { ...end, runs: PREVIOUS };
  const { status } = await story.checkEnd(`a release that ${what}`, deviceId, claims ?? build.version, expected);
  if (end.phases === ROLLED_BACK) story.rollbacks.push(status);
}

async function showPostMortem(story: Story): Promise<string | undefined> {
  const { screen, world } = story;
  for (const { deviceId, end } of [...FIRST_BAD_RELEASES, ...SECOND_BAD_RELEASES]) {
    const wanted = end.phases === ROLLED_BACK ? "RolledBack" : "Failed";
    await story.deviceStatus(
      deviceId,
      `counted as ${wanted}`,
      ({ desiredReason, agentVersion, step }) =>
        desiredReason === wanted && agentVersion === PREVIOUS && step === undefined,
    );
  }
  await story.fleetctl("get", "devices");
  screen.say("What the person on call asks next is why. The device has sent what is left of the candidate:");
  await story.fleetctl("describe", "device", SHOWN);
  const status = await world.fleet.status(SHOWN);
  const { exitCode, lastLines = [] } = status?.postMortem ?? {};
  story.check(expectEqual(`${SHOWN}, exit code in the post-mortem`, "1", String(exitCode)));
  story.check(expectEqual(
    `${SHOWN}, last line in the post-mortem`,
    "broken on purpose: exits with 1",
    lastLines.at(-1) ?? "none",
  ));
  screen.say(
    '"Failed before" is why the operator leaves it at that: it remembers the identity of the failed release (version, ' +
      "artifact, revision), and what has failed on a device is not tried there again, until the release itself changes " +
      'or a person says "fleetctl release retry". A selector or a label changes nothing about it.',
  );
  for (const { deviceId } of FIRST_BAD_RELEASES) {
    const ended = await world.fleet.status(deviceId);
    const written = await world.intent(deviceId);
    story.check(expectEqual(
      `${deviceId}, a further attempt of what has failed`,
      "none",
      written?.attemptId === ended?.attemptId ? "none" : `${written?.attemptId}`,
    ));
  }
  return status?.attemptId;
}

/** The check, some time later, that {@link SHOWN} was left alone. */
export async function checkNeverRetried(
  story: Story,
  failedAttempt: string | undefined,
  sinceMs: number,
): Promise<void> {
  const written = await story.world.intent(SHOWN);
  story.check(expectEqual(
    `${SHOWN}, ${seconds(performance.now() - sinceMs)} later`,
    "still the attempt that failed",
    written?.attemptId === failedAttempt ? "still the attempt that failed" : `attempt ${written?.attemptId}`,
  ));
}
