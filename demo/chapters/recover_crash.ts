/**
 * Third chapter: the updater is killed in the middle of a switch.
 *
 * @module
 */
import { sha256Hex } from "../../contracts/digest.ts";
import type { FleetDevice } from "../../tests/fleet/fleet_device.ts";
import { COMPLETES, expectEnd, expectEqual, ROLLED_BACK } from "../expectation.ts";
import type { Story } from "../story.ts";

const DEVICE = "device-2";
const VERSION = "1.3.0";
const PREVIOUS = "1.1.0";
const PRIORITY = 20;
const NAME = "agent-1-3";
/** A good agent that takes its time, so that there is a switch to be killed in. */
const SLOW_START = 'if (!Deno.args.includes("--self-test") && !Deno.args.includes("--version")) ' +
  "await new Promise((resolve) => setTimeout(resolve, 1500));";

/** Tells it. */
export async function recoverCrash(story: Story): Promise<void> {
  const { screen, world } = story;
  const device = world.fleet.device(DEVICE);
  screen.heading("3. The updater is killed in the middle of a switch");
  screen.say(
    `${DEVICE} gets a good release, whose agent takes a second to start. While it starts, SIGKILL ends the updater: the ` +
      "old agent is stopped, the link points at the new one, and nobody is there to decide. A power cut leaves the same journal.",
  );
  const plan = { name: NAME, build: { version: VERSION, prelude: SLOW_START }, deviceId: DEVICE, priority: PRIORITY };
  const release = await world.publish(plan);
  const before = await selectedBinary(device);
  await story.fleetctl("apply", "-f", release.file);
  const failed = await killInSwitch(story, device);
  story.check(expectEqual(`${DEVICE}, selected binary and its SHA-256`, before, await selectedBinary(device)));
  await story.deviceStatus(
    DEVICE,
    "counted as RolledBack",
    ({ desiredReason }) => desiredReason === "RolledBack",
  );
  screen.say(
    'The journal said "activating", so the updater has put the previous agent back before it did anything else. The ' +
      "binary was not to blame, and the operator does not guess: a person says that it may be tried again.",
  );
  await story.fleetctl("release", "retry", NAME);
  const again = await story.endOf(DEVICE, VERSION, failed);
  story.check(expectEnd(`${DEVICE}, ${VERSION} again`, { phases: COMPLETES, runs: VERSION }, again));
}

/** Kills the updater while the candidate starts, starts it again, and checks the end. @returns the attempt */
async function killInSwitch(story: Story, device: FleetDevice): Promise<string | undefined> {
  const { board } = story;
  const starting = await story.wait(`${DEVICE}, the start of ${VERSION}`, async () => {
    const status = (await device.state())?.transaction?.status;
    return status?.targetVersion === VERSION && status.phase === "starting" ? status : null;
  });
  await device.killUpdater();
  board.saw(DEVICE, starting);
  board.note(DEVICE, "SIGKILL: the updater is gone, nobody watches the start");
  story.check(expectEqual(`${DEVICE}, the journal of the killed updater`, "activating", await journalPhase(device)));
  board.note(DEVICE, "the updater is started again and reads its journal");
  device.startUpdater();
  await story.wait(`${DEVICE}, its updater`, async () => await device.state() !== null);
  board.note(DEVICE, null);
  const { status } = await story.checkEnd("an updater that was killed", DEVICE, VERSION, {
    phases: ROLLED_BACK,
    reason: "Interrupted",
    failureClass: "environment",
    runs: PREVIOUS,
  });
  story.rollbacks.push(status);
  return status.attemptId;
}

async function journalPhase({ paths }: FleetDevice): Promise<string> {
  const { body } = JSON.parse(await Deno.readTextFile(paths.journal));
  return body.transaction.phase;
}

async function selectedBinary({ paths, root }: FleetDevice): Promise<string> {
  const path = await Deno.readLink(paths.agentLink);
  return `${path.replace(root, "")} ${sha256Hex(await Deno.readFile(path)).slice(0, 12)}`;
}
