/**
 * What interrupts a transaction, in every phase: the end of the system, of the updater, a person's command.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import type { AgentUpgradeAttempt } from "../../../contracts/agent_upgrade.ts";
import { waitUntil } from "../../nats/wait_until.ts";
import { AGENT, type LabFleet, UPDATER } from "../lab_fleet.ts";
import { assertEnd, catchIn, type CaughtPhase, PHASES, type Scenario, upgradeAndBack } from "../scenario.ts";

type Interrupt = (lab: LabFleet, attempt: AgentUpgradeAttempt, phase: CaughtPhase) => Promise<void>;

/** Interrupts a transaction in every phase: the previous agent is READY afterwards, and the next attempt works. */
function inEveryPhase(interrupt: Interrupt): Scenario["run"] {
  return async (lab) => {
    for (const [index, phase] of PHASES.entries()) {
      const attempt = await catchIn(lab, phase, `2.${index}.0`);
      await lab.behave({});
      await interrupt(lab, attempt, phase);
      // A candidate that had failed by itself has failed for that; the others were interrupted.
      const reason = phase === "rolling-back" ? "ExitedBeforeReady" : "Interrupted";
      await assertEnd(lab, attempt, { version: "1.0.0", phase: "failed", reason });
    }
    await upgradeAndBack(lab, "3.0.0");
  };
}

const reboot: Scenario = {
  name: "reboot-in-each-phase",
  inShort: true,
  title: "systemctl reboot in each phase is no verdict: the previous agent comes up",
  run: inEveryPhase(async (lab) => {
    await lab.device.shutDown("reboot");
    await lab.device.boot();
  }),
};

const poweroff: Scenario = {
  name: "poweroff-in-each-phase",
  title: "systemctl poweroff in each phase is no verdict, whatever is left undone",
  run: inEveryPhase(async (lab) => {
    await lab.device.shutDown("poweroff");
    await lab.device.boot();
  }),
};

const cut: Scenario = {
  name: "cut-in-each-phase",
  title: "every process ends at once in each phase: the previous agent comes up",
  run: inEveryPhase(async (lab) => {
    await lab.device.cut();
    await lab.device.boot();
  }),
};

const updaterKilled: Scenario = {
  name: "updater-killed-in-each-phase",
  title: "the updater is killed in each phase: systemd starts it again and it recovers",
  run: inEveryPhase(async (lab) => {
    await lab.device.sh(`systemctl kill --signal=SIGKILL --kill-who=main ${UPDATER}`);
  }),
};

const updaterRestarted: Scenario = {
  name: "updater-restarted-in-each-phase",
  title: "the updater is restarted in each phase: its end is no verdict, and it recovers",
  run: inEveryPhase(async (lab) => {
    await lab.device.sh(`systemctl restart ${UPDATER}`);
  }),
};

const agentRestarted: Scenario = {
  name: "agent-restarted-by-hand",
  title: "systemctl restart fleet-agent in each phase changes nothing of the outcome",
  async run(lab) {
    for (const [index, phase] of PHASES.entries()) {
      const version = `2.${index}.0`;
      const attempt = await catchIn(lab, phase, version);
      await lab.device.exec(["systemctl", "restart", "--no-block", AGENT]);
      const rolledBack = phase === "rolling-back";
      await assertEnd(lab, attempt, {
        version: rolledBack ? "1.0.0" : version,
        phase: rolledBack ? "failed" : "complete",
        ...(rolledBack ? { reason: "ExitedBeforeReady" } : {}),
      });
      if (!rolledBack) {
        await lab.behave({});
        await assertEnd(lab, await lab.release({ version: "1.0.0" }), { version: "1.0.0", phase: "complete" });
      }
    }
    await upgradeAndBack(lab, "3.0.0");
  },
};

/** Starts that the outage must have ended: each is one whole window of the agent, and a pause. */
const FAILED_STARTS = 3;

const outageAfterCut: Scenario = {
  name: "outage-after-cut-in-each-phase",
  title: "no network for longer than every bound after a cut in each phase: never rollback-failed",
  // Bounds are lowered, so that the outage soon outlasts each of them several times.
  options: {
    startTimeoutSec: 6,
    agentBounds: {
      natsConnectTimeoutMs: 500,
      natsRetryWindowMs: 2_000,
      natsReconnectMinMs: 50,
      natsReconnectMaxMs: 500,
      startupRetryMs: 100,
      updaterPollActiveMs: 100,
      updaterPollIdleMs: 300,
      heartbeatIntervalMs: 1_000,
      intentRecheckMs: 300,
    },
  },
  async run(lab) {
    const failedStarts = `journalctl -q -b -o cat -u ${AGENT} | grep -c 'Failed with result' || true`;
    for (const [index, phase] of PHASES.entries()) {
      const attempt = await catchIn(lab, phase, `2.${index}.0`);
      await lab.behave({});
      await lab.fleet.server.kill9();
      await lab.device.cut();
      await lab.device.boot();
      await waitUntil(
        "starts to fail",
        async () => Number(await lab.device.sh(failedStarts)) >= FAILED_STARTS,
        90_000,
      );
      const state = await lab.state();
      assertEquals(state?.quarantined, false, `${phase}: quarantined by an outage`);
      await lab.fleet.server.restart();
      const reason = phase === "rolling-back" ? "ExitedBeforeReady" : "Interrupted";
      await assertEnd(lab, attempt, { version: "1.0.0", phase: "failed", reason });
    }
    await upgradeAndBack(lab, "3.0.0");
  },
};

/** Interruptions. */
export const INTERRUPTIONS: readonly Scenario[] = [
  reboot,
  poweroff,
  cut,
  updaterKilled,
  updaterRestarted,
  agentRestarted,
  outageAfterCut,
];
