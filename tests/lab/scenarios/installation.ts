/**
 * Device setup on a device that runs already. Every scenario begins with a setup by `install.sh`.
 *
 * @module
 */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { AGENT, UPDATER } from "../lab_fleet.ts";
import { assertEnd, assertSound, catchIn, PHASES, type Scenario, upgradeAndBack } from "../scenario.ts";

/** Exit code of install.sh while an upgrade is under way. */
const BUSY = 4;

const installRefused: Scenario = {
  name: "install-refused-in-each-phase",
  title: "device setup is refused in each phase with one line, and the transaction goes on",
  async run(lab) {
    for (const [index, phase] of PHASES.entries()) {
      const version = `2.${index}.0`;
      const attempt = await catchIn(lab, phase, version);
      const { code, stderr } = await lab.installAgain();
      assertEquals([code, stderr.trim().split("\n").length], [BUSY, 1], stderr);
      const rolledBack = phase === "rolling-back";
      await assertEnd(lab, attempt, {
        version: rolledBack ? "1.0.0" : version,
        phase: rolledBack ? "failed" : "complete",
      });
      await lab.behave({});
      if (!rolledBack) {
        await assertEnd(lab, await lab.release({ version: "1.0.0" }), { version: "1.0.0", phase: "complete" });
      }
    }
  },
};

const installAgain: Scenario = {
  name: "install-again",
  title: "device setup again changes nothing and restarts nothing; uninstalling leaves configuration and data",
  async run(lab) {
    const { device, paths } = lab;
    await upgradeAndBack(lab, "2.0.0");
    // The lab has started the units itself: the first run makes up for what install.sh was told to leave out.
    const first = await lab.installAgain();
    assertEquals(first.code, 0, first.stderr);
    const pids = [await device.property(AGENT, "MainPID"), await device.property(UPDATER, "MainPID")];
    const again = await lab.installAgain();
    assertEquals(again.code, 0, again.stderr);
    assertEquals([await device.property(AGENT, "MainPID"), await device.property(UPDATER, "MainPID")], pids);
    await assertSound(lab, "1.0.0");
    const removed = await lab.installAgain("--uninstall");
    assertEquals(removed.code, 0, removed.stderr);
    for (const unit of [AGENT, UPDATER]) assertEquals(await device.property(unit, "LoadState"), "not-found", unit);
    assertStringIncludes(await device.sh(`cat ${paths.agentConfig}`), '"deviceId"');
    assertStringIncludes(await device.sh(`cat ${paths.journal}`), "committed");
  },
};

/** Device setup. */
export const INSTALLATION: readonly Scenario[] = [installRefused, installAgain];
