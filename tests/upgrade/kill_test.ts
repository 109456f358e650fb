import { assert, assertEquals } from "@std/assert";
import { type AgentUpgradeAttempt, isTerminalPhase, type UpgradePhase } from "../../contracts/agent_upgrade.ts";
import { freshSeed, seededRandom } from "../fakes/seeded_random.ts";
import { report } from "../fakes/report.ts";
import { Fleet } from "../fleet/fleet.ts";
import { waitUntil } from "../nats/wait_until.ts";

/** Kills in one run. */
const KILLS = 12;
/** Longest time from an intent to a kill: a little more than an upgrade takes here. */
const LONGEST_WAIT_MS = 2_500;

/** Waits for the end of an attempt, which no kill may lose, and asserts that the device is not stranded. */
async function endOf(
  what: string,
  fleet: Fleet,
  attempt: AgentUpgradeAttempt,
  previous: string,
): Promise<UpgradePhase> {
  const device = fleet.device(attempt.deviceId);
  const { phase, error } = await fleet.waitForStatus(
    device.id,
    `${what}: the attempt to end`,
    (status) => status.attemptId === attempt.attemptId && isTerminalPhase(status.phase),
  );
  assert(phase !== "rollback-failed", `${what}: ${error}`);
  const version = await device.selectedVersion();
  assertEquals(version, phase === "complete" ? attempt.targetVersion : previous, `${what}: ${phase}`);
  await waitUntil(`${what}: an agent to run`, async () => await device.agentPid() !== null);
  return phase;
}

for (const victim of ["updater", "agent"] as const) {
  Deno.test(`SIGKILL of the ${victim} at a random moment of an upgrade never strands the device`, async () => {
    const seed = Number(Deno.env.get("KILL_SEED") ?? freshSeed());
    report(`kill: seed ${seed}`);
    const random = seededRandom(seed);
    await using fleet = await Fleet.start({ deviceIds: ["device-1"] });
    const device = fleet.device("device-1");
    await fleet.ready();
    let current = "1.0.0";
    const ends = new Map<string, number>();
    for (let kill = 1; kill <= KILLS; kill++) {
      const target = `1.${kill}.0`;
      const artifact = await fleet.publish({ version: target });
      const attempt = fleet.attempt("device-1", target, artifact);
      await fleet.send(attempt);
      const waitMs = Math.round(random() * LONGEST_WAIT_MS);
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      const what = `seed ${seed}, kill ${kill} after ${waitMs} ms`;
      if (victim === "updater") {
        await device.killUpdater();
        device.startUpdater();
      } else {
        const pid = await device.agentPid();
        if (pid !== null) Deno.kill(pid, "SIGKILL");
      }
      const phase = await endOf(what, fleet, attempt, current);
      ends.set(phase, (ends.get(phase) ?? 0) + 1);
      current = await device.selectedVersion();
    }
    const last = await fleet.publish({ version: "2.0.0" });
    await fleet.send(fleet.attempt("device-1", "2.0.0", last));
    await fleet.waitForStatus(
      "device-1",
      "the next attempt to complete",
      ({ phase, targetVersion }) => phase === "complete" && targetVersion === "2.0.0",
    );
    report(`kill: ${victim}: ${KILLS} kills, ends: ${JSON.stringify(Object.fromEntries(ends))}`);
  });
}
