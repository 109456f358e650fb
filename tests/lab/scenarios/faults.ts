/**
 * Faults of a device's surroundings and of its disk, and the ways back that `docs/operations.md` describes.
 *
 * @module
 */
import { assert, assertEquals, assertGreaterOrEqual, assertStringIncludes } from "@std/assert";
import { waitUntil } from "../../nats/wait_until.ts";
import { AGENT, type LabFleet, UPDATER } from "../lab_fleet.ts";
import {
  assertEnd,
  assertSound,
  catchIn,
  journalPhase,
  publishedStatus,
  type Scenario,
  upgradeAndBack,
} from "../scenario.ts";

const QUARANTINED = 3;
const CORRUPT = 78;

const previousGone: Scenario = {
  name: "previous-gone",
  title: "a rollback whose previous binary is gone quarantines the device, until root repairs it by the book",
  async run(lab) {
    const { device, paths } = lab;
    await lab.behave({ "2.0.0": { startDelayMs: 4_000, exitCode: 1 } });
    const attempt = await lab.release({ version: "2.0.0" });
    await lab.inPhase(attempt, "starting");
    const previous = `${paths.binariesDirectory}/fleet-agent-v1.0.0`;
    await device.sh(`mv ${previous} /root/kept`);
    await lab.inPhase(attempt, "rollback-failed");
    assertEquals(await journalPhase(lab), "rollback-failed");
    // Quarantined over restarts of the updater and of the device, too.
    await device.sh(`systemctl restart ${UPDATER}`);
    assertEquals((await waitUntil("the updater", () => lab.state())).quarantined, true);
    // The steps of the runbook: look, mend, repair, check.
    const look = await device.exec(["fleet-updater", "repair"]);
    assertEquals(look.code, QUARANTINED, look.stderr);
    assertStringIncludes(look.stdout, "is not there");
    assertEquals((await device.exec(["fleet-updater", "status"])).code, QUARANTINED);
    assert((await device.exec(["fleet-updater", "repair", "--select", "previous"])).code !== 0);
    await device.sh(`mv /root/kept ${previous}`);
    const repair = await device.exec(["fleet-updater", "repair", "--select", "previous"]);
    assertEquals(repair.code, 0, repair.stderr);
    const check = await device.exec(["fleet-updater", "status"]);
    assertEquals(check.code, 0, check.stderr);
    // While it starts, the agent finds the device quarantined, and says so; then the quarantine is lifted.
    await waitUntil("the repair to be told", async () => (await publishedStatus(lab))?.phase === "failed");
    await assertEnd(lab, attempt, { version: "1.0.0", phase: "failed", reason: "ExitedBeforeReady" });
    await upgradeAndBack(lab, "3.0.0");
  },
};

const corruptJournal: Scenario = {
  name: "corrupt-journal",
  title: "a corrupt journal keeps the socket closed and the agent running, until root repairs it by the book",
  async run(lab) {
    const { device, paths } = lab;
    await assertEnd(lab, await lab.release({ version: "2.0.0" }), { version: "2.0.0", phase: "complete" });
    const pid = await device.property(AGENT, "MainPID");
    await device.sh(`sed -i 's/committed/comMitted/' ${paths.journal}`);
    await device.exec(["systemctl", "restart", UPDATER]);
    await waitUntil(
      "the updater's unit to fail",
      async () => await device.property(UPDATER, "ActiveState") === "failed",
    );
    assertEquals(await device.property(UPDATER, "ExecMainStatus"), `${CORRUPT}`);
    assertStringIncludes(await device.sh(`journalctl -q -o cat -u ${UPDATER}`), "fleet-updater repair");
    assertEquals(await lab.state(), null);
    assertEquals(await device.property(AGENT, "MainPID"), pid);
    assertEquals((await device.exec(["fleet-updater", "repair"])).code, QUARANTINED);
    const repair = device.exec(["fleet-updater", "repair", "--select", "2.0.0"]);
    await waitUntil(
      "the corrupt journal to be archived",
      async () => (await device.exec(["sh", "-c", `ls ${paths.journal}.corrupt-*`])).code === 0,
    );
    await device.sh(`systemctl start ${UPDATER}`);
    const { code, stderr } = await repair;
    assertEquals(code, 0, stderr);
    await assertSound(lab, "2.0.0");
    await assertEnd(lab, await lab.release({ version: "2.1.0" }), { version: "2.1.0", phase: "complete" });
  },
};

/** The agent gives up soon, so that a test need not wait for the product's 3 minutes. */
const IMPATIENT_AGENT = {
  natsConnectTimeoutMs: 500,
  natsRetryWindowMs: 1_000,
  natsReconnectMinMs: 50,
  natsReconnectMaxMs: 500,
  startupRetryMs: 100,
  updaterPollActiveMs: 100,
  updaterPollIdleMs: 300,
  heartbeatIntervalMs: 1_000,
  intentRecheckMs: 300,
};

const natsDownAtBoot: Scenario = {
  name: "nats-down-at-boot",
  title: "without NATS at boot the agent says what it waits for, exits 75 and is started again, until NATS is there",
  options: { agentBounds: IMPATIENT_AGENT },
  async run(lab) {
    const { device } = lab;
    await lab.fleet.server.kill9();
    await device.shutDown("reboot");
    await device.boot();
    await waitUntil("two restarts", async () => Number(await device.property(AGENT, "NRestarts")) >= 2, 60_000);
    await waitUntil(
      "a status that names the network",
      async () => /^\[(?:network|nats)\]/.test(await device.property(AGENT, "StatusText")),
      30_000,
    );
    assertStringIncludes(await device.sh(`journalctl -q -o cat -u ${AGENT}`), "status=75");
    assertEquals((await lab.state())?.busy, false);
    await lab.fleet.server.restart();
    await assertSound(lab, "1.0.0");
  },
};

const hungEventLoop: Scenario = {
  name: "hung-event-loop",
  title: "an agent whose event loop hangs is ended by the watchdog and started again",
  options: { agentDropIn: "WatchdogSec=2s\n" },
  async run(lab) {
    const { device } = lab;
    await lab.behave({ "1.0.0": { hangAfterMs: 2_000 } });
    await device.sh(`systemctl restart ${AGENT}`);
    await waitUntil(
      "the watchdog",
      async () => (await device.sh(`journalctl -q -o cat -u ${AGENT}`)).includes("Watchdog timeout"),
      30_000,
    );
    await lab.behave({});
    await waitUntil("a restart", async () => Number(await device.property(AGENT, "NRestarts")) >= 1, 30_000);
    await assertSound(lab, "1.0.0");
  },
};

const CRASHES = 20;

const crashLoopAfterCommit: Scenario = {
  name: "crashes-after-commit",
  title: "a committed agent that crashes twenty times in a row stays under systemd's care, and is not rolled back",
  options: { agentDropIn: "RestartSec=100ms\n" },
  async run(lab) {
    const { device } = lab;
    await assertEnd(lab, await lab.release({ version: "2.0.0" }), { version: "2.0.0", phase: "complete" });
    await lab.behave({ "2.0.0": { crashAfterMs: 1_000 } });
    await device.sh(`systemctl kill --signal=SIGKILL ${AGENT}`);
    await waitUntil(
      "twenty crashes",
      async () => Number(await device.property(AGENT, "NRestarts")) >= CRASHES,
      120_000,
    );
    assertEquals([await lab.selected(), await journalPhase(lab)], ["2.0.0", "committed"]);
    await lab.behave({});
    await assertSound(lab, "2.0.0");
    assertGreaterOrEqual(Number(await device.property(AGENT, "NRestarts")), CRASHES);
  },
};

const clockIn1970: Scenario = {
  name: "clock-in-1970",
  title: "an agent that believes it is 1970 is ready, and defers an upgrade until its clock is set",
  async run(lab) {
    await lab.behave({ "1.0.0": { nowMs: 1_000 } });
    await lab.device.sh(`systemctl restart ${AGENT}`);
    await waitUntil(
      "the agent to be ready in 1970",
      async () => await lab.device.property(AGENT, "ActiveState") === "active",
    );
    const attempt = await lab.release({ version: "2.0.0" });
    await waitUntil("the deferral to be told", async () => (await lab.heartbeat()).includes("ClockInsane"), 30_000);
    assertEquals((await lab.state())?.transaction, null);
    await lab.behave({});
    await lab.device.sh(`systemctl restart ${AGENT}`);
    await assertEnd(lab, attempt, { version: "2.0.0", phase: "complete" });
  },
};

/** Puts a directory of a device on a small file system of its own. */
async function onSmallDisk(lab: LabFleet, directory: string, sizeMib: number): Promise<void> {
  await lab.device.sh(`
    systemctl stop ${AGENT} ${UPDATER}
    mkdir /root/small && mount -t tmpfs -o size=${sizeMib}m,mode=$(stat -c %a ${directory}) tmpfs /root/small
    cp -a ${directory}/. /root/small/
    mount --bind /root/small ${directory}
    systemctl start ${UPDATER} ${AGENT}`);
  await lab.agentReady("1.0.0");
}

const varFull: Scenario = {
  name: "var-full",
  title: "with /var full from the switch on, upgrade and rollback still reach their ends, from the journal's reserve",
  async run(lab) {
    const { device, paths } = lab;
    await onSmallDisk(lab, paths.stateDirectory, 4);
    const fill = `dd if=/dev/zero of=${paths.stateDirectory}/filler bs=4096 2>/dev/null || true`;
    const freeBytes = `df --output=avail -B1 ${paths.stateDirectory} | tail -1 | tr -d ' '`;
    const rolledBack = await catchIn(lab, "starting", "2.0.0");
    await lab.behave({ "2.0.0": { exitCode: 1 } });
    await device.sh(fill);
    assertEquals(await device.sh(freeBytes), "0");
    // The candidate is killed, and its successor exits: with the disk full, both ends are written.
    await device.exec(["systemctl", "kill", "--signal=SIGKILL", AGENT]);
    await waitUntil("the end", async () => await journalPhase(lab) === "failed", 60_000);
    await device.sh(`rm ${paths.stateDirectory}/filler`);
    await assertEnd(lab, rolledBack, { version: "1.0.0", phase: "failed" });
    const good = await catchIn(lab, "starting", "2.1.0");
    await device.sh(fill);
    await waitUntil("the end", async () => await journalPhase(lab) === "committed", 60_000);
    await device.sh(`rm ${paths.stateDirectory}/filler`);
    await assertEnd(lab, good, { version: "2.1.0", phase: "complete" });
    await waitUntil(
      "the reserve to be full again",
      async () => Number(await device.sh(`ls ${paths.stateDirectory}/reserve | wc -l`)) >= 12,
      30_000,
    );
  },
};

const usrFull: Scenario = {
  name: "usr-full",
  title: "with /usr full an upgrade is deferred and says why, and goes on by itself once there is room",
  async run(lab) {
    const { device, paths } = lab;
    await device.sh(`ln -sf ${lab.denoCopy} ${lab.denoPath}`);
    await onSmallDisk(lab, paths.binariesDirectory, 8);
    const pid = await device.property(AGENT, "MainPID");
    const attempt = await lab.release({ version: "2.0.0" });
    await waitUntil("the deferral to be told", async () => (await lab.heartbeat()).includes("DiskLow"), 30_000);
    assertEquals([(await lab.state())?.transaction, await lab.selected()], [null, "1.0.0"]);
    assertEquals(await device.property(AGENT, "MainPID"), pid);
    await device.sh(`mount -o remount,size=200m /root/small`);
    await assertEnd(lab, attempt, { version: "2.0.0", phase: "complete" });
  },
};

const agentUninstalled: Scenario = {
  name: "agent-uninstalled",
  title: "a unit that is taken away during an upgrade is no verdict: it goes on when the unit is back",
  async run(lab) {
    const attempt = await catchIn(lab, "starting", "2.0.0");
    await lab.behave({});
    const unit = `/etc/systemd/system/${AGENT}`;
    await lab.device.sh(`systemctl stop ${AGENT} && mv ${unit} /root/ && systemctl daemon-reload`);
    // The updater may have begun it anew in between.
    await lab.device.exec(["systemctl", "stop", AGENT]);
    await waitUntil(
      "the updater to say what it waits for",
      async () => (await lab.state())?.transaction?.status.detail?.includes("said nothing"),
      30_000,
    );
    assertEquals((await lab.state())?.transaction?.phase, "activating");
    await lab.device.sh(`mv /root/${AGENT} ${unit} && systemctl daemon-reload`);
    await assertEnd(lab, attempt, { version: "2.0.0", phase: "complete" });
  },
};

const unreadableConfig: Scenario = {
  name: "unreadable-config",
  title: "a configuration that the candidate cannot read fails its self-test: the running agent is not touched",
  async run(lab) {
    const { device, paths } = lab;
    const pid = await device.property(AGENT, "MainPID");
    await device.sh(`chmod 0600 ${paths.agentConfig}`);
    const status = await lab.ended(await lab.release({ version: "2.0.0" }));
    assertEquals([status.phase, status.transitions.map(({ phase }) => phase).join()], ["failed", "preparing,failed"]);
    assertEquals(await device.property(AGENT, "MainPID"), pid);
    await device.sh(`chmod 0640 ${paths.agentConfig}`);
    await upgradeAndBack(lab, "3.0.0");
  },
};

/** Faults. */
export const FAULTS: readonly Scenario[] = [
  previousGone,
  corruptJournal,
  natsDownAtBoot,
  hungEventLoop,
  crashLoopAfterCommit,
  clockIn1970,
  varFull,
  usrFull,
  agentUninstalled,
  unreadableConfig,
];
