/**
 * Cuts of power while `install.sh` sets a device up: the device boots, and the next run of it finishes the work.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { seededRandom } from "../fakes/seeded_random.ts";
import type { LabFleet } from "../lab/lab_fleet.ts";
import { assertEnd, assertSound, type NoteFigure } from "../lab/scenario.ts";
import { sayVm } from "./say.ts";
import type { CutRequest } from "./vm_request.ts";

/** install.sh does what it is asked to. */
async function install(lab: LabFleet, options: string): Promise<void> {
  const { code, stdout, stderr } = await lab.installAgain(options);
  assertEquals([code, stderr], [0, ""], stdout);
}

/**
 * Removes a device's installation, sets it up and cuts its power on the way, again and again.
 *
 * @param lab The device
 * @param request How often, and the seed of the moments
 * @param note Takes figures
 */
export async function installCuts(lab: LabFleet, { cuts, seed }: CutRequest, note: NoteFigure): Promise<void> {
  const random = seededRandom(seed);
  await install(lab, "--uninstall --purge");
  const startMs = performance.now();
  await install(lab, lab.configuration);
  const setupMs = performance.now() - startMs;
  note("setup_s", Math.round(setupMs / 1_000));
  sayVm(`setup: takes ${Math.round(setupMs / 1_000)} s; ${cuts} cuts, seed ${seed}`);
  for (let round = 1; round <= cuts; round++) {
    const fraction = random();
    await install(lab, "--uninstall --purge");
    await lab.device.sh("sync");
    const cutShort = lab.installAgain(lab.configuration);
    await new Promise((resolve) => setTimeout(resolve, fraction * setupMs));
    await lab.device.cut();
    await cutShort;
    await lab.device.boot();
    await lab.device.exec(["systemctl", "is-system-running", "--wait"]);
    await install(lab, lab.configuration);
    await assertSound(lab, "1.0.0");
    sayVm(`setup: cut ${round} of ${cuts} (seed ${seed}), ${Math.round(fraction * 100)}% of it: the next run finished`);
    note("cuts", round);
  }
  await assertEnd(lab, await lab.release({ version: "2.0.0" }), { version: "2.0.0", phase: "complete" });
}
