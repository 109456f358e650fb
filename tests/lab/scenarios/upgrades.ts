/**
 * Upgrades that work, and releases that do not.
 *
 * @module
 */
import { assertEquals, assertLessOrEqual, assertStringIncludes } from "@std/assert";
import type { LabBehaviour } from "../lab_agent.ts";
import { AGENT, UPDATER } from "../lab_fleet.ts";
import { assertEnd, type Scenario } from "../scenario.ts";

const goodUpgrade: Scenario = {
  name: "good-upgrade",
  inShort: true,
  title: "a good release is installed, and so is one three versions on",
  async run(lab) {
    const first = await assertEnd(lab, await lab.release({ version: "2.0.0" }), {
      version: "2.0.0",
      phase: "complete",
    });
    assertEquals(first.transitions.map(({ phase }) => phase), ["preparing", "stopping", "starting", "complete"]);
    assertEquals(first.journalUnit, AGENT);
    // The invocation leads to the agent's log.
    assertEquals(first.invocationId, await lab.device.property(AGENT, "InvocationID"));
    const log = await lab.device.sh(`journalctl -q -o cat _SYSTEMD_INVOCATION_ID=${first.invocationId}`);
    assertStringIncludes(log, '"message":"ready"');
    await assertEnd(lab, await lab.release({ version: "5.1.2" }), { version: "5.1.2", phase: "complete" });
    const binaries = await lab.device.sh(`cd ${lab.paths.binariesDirectory} && stat -c %n:%U:%G:%a fleet-agent-v*`);
    assertEquals(binaries.split("\n"), [
      "fleet-agent-v1.0.0:root:root:755",
      "fleet-agent-v2.0.0:root:root:755",
      "fleet-agent-v5.1.2:root:root:755",
    ]);
  },
};

interface BadRelease {
  readonly version: string;
  readonly behaviour: LabBehaviour;
  readonly reason: string;
  readonly failureClass: string;
  readonly exitCode?: number;
}

const BAD_RELEASES: readonly BadRelease[] = [
  { version: "2.1.0", behaviour: { exitCode: 0 }, reason: "ExitedBeforeReady", failureClass: "version", exitCode: 0 },
  { version: "2.2.0", behaviour: { exitCode: 1 }, reason: "ExitedBeforeReady", failureClass: "version", exitCode: 1 },
  {
    version: "2.3.0",
    behaviour: { exitCode: 75 },
    reason: "EnvironmentUnavailable",
    failureClass: "environment",
    exitCode: 75,
  },
  { version: "2.4.0", behaviour: { startDelayMs: 600_000 }, reason: "NeverReady", failureClass: "version" },
];

const badReleases: Scenario = {
  name: "bad-releases",
  inShort: true,
  title: "a release that exits with 0, 1 or 75, or is never ready, is rolled back and says why",
  options: { startTimeoutSec: 6 },
  async run(lab, note) {
    for (const { version, behaviour, reason, failureClass, exitCode } of BAD_RELEASES) {
      await lab.behave({ [version]: behaviour });
      const status = await assertEnd(lab, await lab.release({ version }), {
        version: "1.0.0",
        phase: "failed",
        reason,
      });
      assertEquals([status.failureClass, status.postMortem?.exitCode], [failureClass, exitCode], reason);
      assertEquals(status.transitions.map(({ phase }) => phase), [
        "preparing",
        "stopping",
        "starting",
        "rolling-back",
        "failed",
      ]);
      if (exitCode === undefined) continue;
      assertStringIncludes(status.postMortem?.lastLines?.join("\n") ?? "", "broken on purpose");
      note(`rollback_${exitCode}_ms`, Date.parse(status.updatedAt) - Date.parse(status.transitions[3]?.at ?? ""));
    }
    // An identity that failed is not tried again; another good release is.
    await assertEnd(lab, await lab.release({ version: "2.6.0" }), { version: "2.6.0", phase: "complete" });
  },
};

const REPEATED = 20;

/** Open files and resident KiB of a unit's main process. */
async function footprint(device: { sh(script: string): Promise<string> }, unit: string): Promise<readonly number[]> {
  const pid = await device.sh(`systemctl show ${unit} -p MainPID --value`);
  const files = Number(await device.sh(`ls /proc/${pid}/fd | wc -l`));
  const residentKib = Number(await device.sh(`awk '/^VmRSS/ { print $2 }' /proc/${pid}/status`));
  return [files, residentKib];
}

const twentyUpgrades: Scenario = {
  name: "twenty-upgrades",
  title: "twenty upgrades in a row leave no leak of memory, files, sockets or units",
  async run(lab, note) {
    await assertEnd(lab, await lab.release({ version: "2.0.0" }), { version: "2.0.0", phase: "complete" });
    const [openBefore = 0, kibBefore = 0] = await footprint(lab.device, UPDATER);
    const unitsBefore = await lab.device.sh("systemctl list-units --all --plain --no-legend 'fleet-*' | wc -l");
    const files = `find ${lab.paths.stateDirectory} ${lab.paths.runDirectory} | sort`;
    const filesBefore = await lab.device.sh(files);
    const pid = await lab.device.property(UPDATER, "MainPID");
    for (let round = 1; round <= REPEATED; round++) {
      const version = `3.${round}.0`;
      await assertEnd(lab, await lab.release({ version }), { version, phase: "complete" });
    }
    // The same updater all the time.
    assertEquals(await lab.device.property(UPDATER, "MainPID"), pid);
    const [openAfter = 0, kibAfter = 0] = await footprint(lab.device, UPDATER);
    note("updater_files_before", openBefore);
    note("updater_files_after", openAfter);
    note("updater_rss_growth_kib", kibAfter - kibBefore);
    assertLessOrEqual(openAfter, openBefore + 2);
    // The heap's and the runtime's first growth, which a thirtieth upgrade does not repeat, is 18 MiB.
    assertLessOrEqual(kibAfter, kibBefore + 32 * 1024);
    assertEquals(await lab.device.sh("systemctl list-units --all --plain --no-legend 'fleet-*' | wc -l"), unitsBefore);
    assertEquals(await lab.device.sh(files), filesBefore);
  },
};

/** Upgrades. */
export const UPGRADES: readonly Scenario[] = [goodUpgrade, badReleases, twentyUpgrades];
