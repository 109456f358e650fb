/**
 * What a scenario of the lab is, and the checks that every one ends with.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import type { AgentUpgradeAttempt, AgentUpgradeStatus } from "../../contracts/agent_upgrade.ts";
import { waitUntil } from "../nats/wait_until.ts";
import { AGENT, DEVICE_ID, type LabFleet, type LabFleetOptions, UPDATER } from "./lab_fleet.ts";

/** What a scenario measures; units are in the names. */
export type NoteFigure = (name: string, value: number) => void;

/** One story of a device. */
export interface Scenario {
  readonly name: string;
  readonly title: string;
  readonly options?: Omit<LabFleetOptions, "system">;
  /** Whether a short run has the time for it. Default no */
  readonly inShort?: boolean;
  /** Programs of this machine that it needs besides those of the lab. */
  readonly tools?: readonly string[];
  /** Runs on a device whose agent 1.0.0 is READY. */
  run(lab: LabFleet, note: NoteFigure): Promise<void>;
}

/** Phases in which a transaction can be caught. */
export const PHASES = ["preparing", "stopping", "starting", "rolling-back"] as const;
/** One of {@link PHASES}. */
export type CaughtPhase = (typeof PHASES)[number];

/**
 * Begins an upgrade from 1.0.0 and waits until it is in a phase, which is slowed down. Once it has gone on, or been
 * interrupted, agents behave again from their next start on.
 *
 * @param lab The fleet
 * @param phase The phase
 * @param version Of the candidate
 */
export async function catchIn(lab: LabFleet, phase: CaughtPhase, version: string): Promise<AgentUpgradeAttempt> {
  const { holdMs } = lab.kind;
  const behaviour = {
    "preparing": { [version]: { probeDelayMs: holdMs } },
    "stopping": { "1.0.0": { stopDelayMs: holdMs } },
    "starting": { [version]: { startDelayMs: holdMs } },
    "rolling-back": { [version]: { exitCode: 1 }, "1.0.0": { startDelayMs: holdMs } },
  }[phase];
  await lab.behave(behaviour);
  if (phase === "stopping") {
    // What an agent does at its end is decided at its start.
    await lab.device.sh(`systemctl restart ${AGENT}`);
    await lab.agentReady("1.0.0");
  }
  const attempt = await lab.release({ version });
  await lab.inPhase(attempt, phase);
  return attempt;
}

/** What a device must look like. */
export interface Expected {
  readonly version: string;
  readonly phase: AgentUpgradeStatus["phase"];
  readonly reason?: string;
}

/**
 * Waits for an attempt's end and checks binaries, link, journal, status in NATS, units and the agent's life.
 *
 * @param lab The fleet
 * @param attempt The attempt
 * @param expected How it must have ended
 */
export async function assertEnd(
  lab: LabFleet,
  attempt: AgentUpgradeAttempt,
  expected: Expected,
): Promise<AgentUpgradeStatus> {
  const status = await lab.ended(attempt);
  const { phase, reason } = status;
  assertEquals(
    { phase, ...(expected.reason === undefined ? {} : { reason }) },
    { phase: expected.phase, ...(expected.reason === undefined ? {} : { reason: expected.reason }) },
    `${status.error ?? ""} ${status.detail ?? ""}`,
  );
  await assertSound(lab, expected.version);
  if (expected.phase === "complete") {
    // What a killed transfer left behind goes with the next one.
    const temporary = await lab.device.sh(`ls -A ${lab.paths.binariesDirectory} | grep '^\\.' || true`);
    assertEquals(temporary, "", "temporary files");
  }
  assertEquals(await journalPhase(lab), expected.phase === "complete" ? "committed" : expected.phase);
  return status;
}

/** Phase that the journal on the disk holds. */
export async function journalPhase(lab: LabFleet): Promise<string | undefined> {
  const journal: unknown = JSON.parse(await lab.device.sh(`cat ${lab.paths.journal}`));
  return (journal as { body?: { transaction?: { phase?: string } } }).body?.transaction?.phase;
}

/* A process that ends while it is looked at is none: those of containers come and go. */
const AGENT_PROCESSES = `for process in /proc/[0-9]*; do
  [ "$(stat -c %U $process)" = fleet-agent ] && group=$(cat $process/cgroup) && [ -n "$group" ] || continue
  case $group in *user.slice*) ;; *) echo \${process#/proc/} ;; esac
done 2>/dev/null`;

/**
 * Checks that a device runs an agent of a version under its unit, and that nothing is left over.
 *
 * @param lab The fleet
 * @param version The version
 */
export async function assertSound(lab: LabFleet, version: string): Promise<void> {
  await lab.agentReady(version);
  const { device, paths } = lab;
  assertEquals(await lab.selected(), version);
  await waitUntil("the updater to be active", async () => await device.property(UPDATER, "ActiveState") === "active");
  assertEquals(await device.sh("systemctl list-units --failed --plain --no-legend 'fleet-*'"), "", "failed units");
  assertEquals(await device.sh(`ls -A ${paths.stateDirectory} | grep '\\.tmp$' || true`), "", "temporary files");
  // One agent, and it is the unit's; what else its user has runs under the user's own manager.
  assertEquals(await device.sh(AGENT_PROCESSES), await device.property(AGENT, "MainPID"), "agents");
  assertEquals(await device.sh(`stat -c %U:%G:%a ${paths.updaterSocket}`), "root:fleet-agent:660");
}

/**
 * Runs a good upgrade, which shows that nothing of what happened before stands in its way, and goes back to 1.0.0.
 *
 * @param lab The fleet
 * @param version A version that has not been used
 */
export async function upgradeAndBack(lab: LabFleet, version: string): Promise<void> {
  await lab.behave({});
  await assertEnd(lab, await lab.release({ version }), { version, phase: "complete" });
  await assertEnd(lab, await lab.release({ version: "1.0.0" }), { version: "1.0.0", phase: "complete" });
}

/** The status that the device has published last. */
export async function publishedStatus(lab: LabFleet): Promise<AgentUpgradeStatus | null> {
  return await lab.fleet.status(DEVICE_ID);
}
