/**
 * Candidates that fail in ways of their own, and a jump over versions.
 *
 * @module
 */
import { assert, assertEquals, assertLessOrEqual, assertStringIncludes } from "@std/assert";
import { AGENT } from "../lab_fleet.ts";
import { assertEnd, type Scenario, upgradeAndBack } from "../scenario.ts";

const jump: Scenario = {
  name: "jump-over-versions",
  title: "from 1.0.0 over three versions that the device never had, back down, and up to one of those between",
  async run(lab) {
    const up = await lab.release({ version: "5.0.0" });
    await assertEnd(lab, up, { version: "5.0.0", phase: "complete" });
    await assertEnd(lab, await lab.release({ version: "1.0.0" }), { version: "1.0.0", phase: "complete" });
    await assertEnd(lab, await lab.release({ version: "3.0.0" }), { version: "3.0.0", phase: "complete" });
    const binaries = await lab.device.sh(`ls ${lab.paths.binariesDirectory} | grep ^fleet-agent-v`);
    assertEquals(binaries.split("\n"), ["fleet-agent-v1.0.0", "fleet-agent-v3.0.0", "fleet-agent-v5.0.0"]);
    // The attempt that is over is answered, and not run again, though it is sent once more.
    await lab.fleet.send(up);
    await assertEnd(lab, up, { version: "3.0.0", phase: "complete" });
  },
};

const crashingCandidate: Scenario = {
  name: "crash-loop-before-ready",
  title:
    "a candidate that crashes at every start is taken back, and systemd keeps the previous agent alive from then on",
  async run(lab, note) {
    const { device } = lab;
    const starts = async (version: string) =>
      Number(await device.sh(`journalctl -q -o cat -u ${AGENT} | grep -c '^broken on purpose ${version}$' || true`));
    for (const version of ["2.0.0", "2.1.0"]) {
      const prelude = `if (Deno.args.includes("--config") && !Deno.args.includes("--self-test")) {
        console.error("broken on purpose ${version}");
        Deno.kill(Deno.pid, "SIGKILL");
      }`;
      const status = await assertEnd(lab, await lab.release({ version, prelude }), {
        version: "1.0.0",
        phase: "failed",
        reason: "KilledBeforeReady",
      });
      assertEquals([status.failureClass, status.postMortem?.signal], ["version", "SIGKILL"]);
      // One on a quiet machine: it is stopped before the unit's own pause is over.
      const started = await starts(version);
      assert(started >= 1, `${version} was started ${started} times`);
      note(`starts_of_${version}`, started);
      // It is over: the previous agent is the one that systemd keeps alive.
      const restarts = Number(await device.property(AGENT, "NRestarts"));
      await device.sh(`systemctl kill --signal=SIGKILL ${AGENT}`);
      await lab.restarted(restarts);
      await lab.agentReady("1.0.0");
      assertEquals(await starts(version), started);
    }
    await upgradeAndBack(lab, "3.0.0");
  },
};

const failingSelfTests: Scenario = {
  name: "self-test-fails",
  title: "a self-test that fails, hangs, prints anything or tells of another version: the agent is never stopped",
  // Long enough for a self-test that works on a busy machine.
  options: { updaterBounds: { probeTimeoutMs: 20_000 } },
  async run(lab) {
    const pid = await lab.device.property(AGENT, "MainPID");
    await lab.behave({ "2.1.0": { probeDelayMs: 600_000 } });
    const garbage = 'if (Deno.args.includes("--self-test")) { console.log("all is well"); Deno.exit(0); }';
    const stories = [
      { version: "2.0.0", build: { version: "2.0.0", defect: "self-test-fails" }, reason: "SelfTestFailed" },
      { version: "2.1.0", build: { version: "2.1.0" }, reason: "ProbeTimeout" },
      { version: "2.2.0", build: { version: "2.2.0", prelude: garbage }, reason: "ReportInvalid" },
      { version: "2.3.0", build: { version: "9.9.9" }, reason: "VersionMismatch" },
    ] as const;
    for (const { version, build, reason } of stories) {
      const status = await assertEnd(lab, await lab.upgrade(version, await lab.publish(build)), {
        version: "1.0.0",
        phase: "failed",
        reason,
      });
      assertEquals([status.failureClass, status.postMortem?.stage], ["version", "probe"], reason);
      assertEquals(status.transitions.map(({ phase }) => phase), ["preparing", "failed"]);
      assertEquals(await lab.device.property(AGENT, "MainPID"), pid, reason);
      if (reason === "SelfTestFailed") assertEquals(status.postMortem?.failedCheck?.name, "config");
    }
    // No process of a self-test is left, not even of the one that hung.
    assertEquals(
      await lab.device.sh("systemctl list-units --all --plain --no-legend 'fleet-agent-probe*' | wc -l"),
      "0",
    );
    await upgradeAndBack(lab, "3.0.0");
  },
};

/** `TimeoutStopSec=` of the product's unit, in seconds. */
const STOP_TIMEOUT_SEC = 60;

const hangingStop: Scenario = {
  name: "hanging-stop",
  title: "an agent that hangs on its stop for more than 60 s is killed after them, and the upgrade goes on",
  options: { stopTimeoutSec: STOP_TIMEOUT_SEC },
  async run(lab) {
    const { device } = lab;
    assertStringIncludes(await device.sh("cat /etc/systemd/system/fleet-agent.service"), "\nTimeoutStopSec=60s\n");
    await lab.behave({ "1.0.0": { stopDelayMs: 10 * STOP_TIMEOUT_SEC * 1_000 } });
    await device.sh(`systemctl kill --signal=SIGKILL ${AGENT}`);
    await lab.restarted(0);
    await lab.agentReady("1.0.0");
    const attempt = await lab.release({ version: "2.0.0" });
    await lab.ended(attempt, 120_000);
    const status = await assertEnd(lab, attempt, { version: "2.0.0", phase: "complete" });
    const at = new Map(status.transitions.map(({ phase, at }) => [phase, Date.parse(at)]));
    const stoppedMs = (at.get("starting") ?? 0) - (at.get("stopping") ?? 0);
    assert(stoppedMs >= STOP_TIMEOUT_SEC * 1_000, `stopped within ${stoppedMs} ms`);
    // The updater's own bound.
    assertLessOrEqual(stoppedMs, 65_000);
  },
};

/** Candidates. */
export const CANDIDATES: readonly Scenario[] = [jump, crashingCandidate, failingSelfTests, hangingStop];
