import { assert, assertEquals } from "@std/assert";
import { type AgentUpgradeAttempt, isTerminalPhase, type UpgradePhase } from "../../contracts/agent_upgrade.ts";
import { FAST_AGENT, FAST_UPDATER, Fleet } from "../fleet/fleet.ts";
import type { FleetDevice } from "../fleet/fleet_device.ts";
import { waitUntil } from "../nats/wait_until.ts";

/** The product's bounds, scaled down together: an outage that outlasts all of them is then one of seconds. */
const AGENT_BOUNDS = { ...FAST_AGENT, natsConnectTimeoutMs: 500, natsRetryWindowMs: 1_500, natsReconnectMaxMs: 200 };
const UPDATER_BOUNDS = { ...FAST_UPDATER, startTimeoutMs: 3_000, stopTimeoutMs: 2_000, probeTimeoutMs: 3_000 };
/** Starts of the previous agent that must have failed for want of NATS before it comes back. */
const FAILED_STARTS = 3;

async function failedStarts(device: FleetDevice): Promise<number> {
  return (await Deno.readTextFile(device.updaterLog)).split('"agent not ready"').length - 1;
}

async function waitForPhase(device: FleetDevice, ...phases: readonly UpgradePhase[]): Promise<void> {
  await device.waitForState(
    phases.join(" or "),
    ({ transaction }) => transaction !== null && phases.includes(transaction.status.phase),
  );
}

/** Sends an attempt and brings the device into a phase of it, with NATS gone from then on. */
async function bringInto(fleet: Fleet, device: FleetDevice, phase: UpgradePhase): Promise<AgentUpgradeAttempt> {
  const artifact = await fleet.publish({ version: "1.1.0" });
  const url = phase === "preparing" ? fleet.host.answer("/stalls", { kind: "stall-before-header" }) : artifact.url;
  const attempt = fleet.attempt(device.id, "1.1.0", { ...artifact, url });
  const agent = await device.agentPid();
  assert(agent !== null);
  await fleet.send(attempt);
  await waitForPhase(device, "preparing", "stopping", "starting");
  if (phase === "preparing") {
    await fleet.server.kill9();
    // The previous agent has to start again, and finds no NATS.
    Deno.kill(agent, "SIGKILL");
    return attempt;
  }
  // A stopped process cannot drain: the updater stays in `stopping` until its bound.
  Deno.kill(agent, "SIGSTOP");
  await waitForPhase(device, "stopping");
  await fleet.server.kill9();
  if (phase !== "stopping") await waitForPhase(device, phase);
  return attempt;
}

for (const phase of ["preparing", "stopping", "starting", "rolling-back"] as const) {
  Deno.test(`NATS away longer than every bound after a kill in ${phase}: no rollback-failed, and it goes on`, async () => {
    await using fleet = await Fleet.start({
      deviceIds: ["device-1"],
      agentBounds: AGENT_BOUNDS,
      updaterBounds: UPDATER_BOUNDS,
    });
    const device = fleet.device("device-1");
    await fleet.ready();
    const attempt = await bringInto(fleet, device, phase);
    await device.killUpdater();
    const before = await failedStarts(device);
    device.startUpdater();
    await waitUntil(
      "the previous agent to fail its starts",
      async () => await failedStarts(device) >= before + FAILED_STARTS,
      90_000,
    );
    const during = await device.state();
    assertEquals(during?.transaction?.status.phase, "rolling-back");
    await fleet.server.restart();
    const status = await fleet.waitForStatus(
      device.id,
      "the attempt to end",
      (one) => one.attemptId === attempt.attemptId && isTerminalPhase(one.phase),
    );
    assertEquals([status.phase, status.failureClass], ["failed", "environment"]);
    assertEquals(await device.selectedVersion(), "1.0.0");
    const next = await fleet.publish({ version: "1.2.0" });
    const second = fleet.attempt(device.id, "1.2.0", next);
    await fleet.send(second);
    await fleet.waitForStatus(
      device.id,
      "the next attempt to complete",
      ({ phase, attemptId }) => phase === "complete" && attemptId === second.attemptId,
    );
  });
}
