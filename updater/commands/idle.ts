/**
 * `fleet-updater idle`: whether nothing is under way, so that device setup may replace the updater (`Fleet agent
 * upgrades`, Bootstrap). Asks the live updater; without one the journal decides, which is only read.
 *
 * @module
 */
import { isTerminalPhase } from "../../contracts/agent_upgrade.ts";
import { isTerminalSystemPhase } from "../../contracts/system_upgrade.ts";
import { errorText, isFleetError } from "../../contracts/errors.ts";
import type { ManagedPaths } from "../../contracts/managed_paths.ts";
import type { FileSystem } from "../../lib/durable/file_system.ts";
import { EXIT_CODES } from "../../lib/program.ts";
import { isActive, publicPhase } from "../core/record.ts";
import { JournalStore } from "../journal_store.ts";
import { isUpgrading } from "../system_upgrade/core/ledger.ts";
import { LedgerStore } from "../system_upgrade/ledger_store.ts";
import { askState } from "./ask.ts";
import { EXIT_QUARANTINED } from "./status.ts";

/** Exit code of `idle` while an upgrade is under way. */
export const EXIT_ACTIVE = 4;

/** What is under way. */
interface Activity {
  readonly active: boolean;
  readonly quarantined: boolean;
  /** Target and phase of the last upgrade. */
  readonly upgrade?: { readonly targetVersion: string; readonly phase: string };
  /** Whether it is a system upgrade that is under way. */
  readonly system?: boolean;
}

/**
 * Says whether an upgrade is under way.
 *
 * @param paths The managed paths
 * @param fs The file system
 * @param print Takes one line
 * @param signal Ends the question
 * @returns 0 when none is, {@link EXIT_QUARANTINED} while the device waits for repair, {@link EXIT_ACTIVE} during an
 * upgrade, and the code for a wrong configuration when the journal cannot be trusted
 */
export async function idleCommand(
  paths: ManagedPaths,
  fs: FileSystem,
  print: (text: string) => void,
  signal: AbortSignal,
): Promise<number> {
  let activity: Activity;
  try {
    activity = await liveActivity(paths, signal) ?? await journaledActivity(paths, fs);
  } catch (error) {
    if (!isFleetError(error, "E_JOURNAL_CORRUPT")) throw error;
    print(errorText(error));
    return EXIT_CODES.configuration;
  }
  const { active, quarantined, system = false, upgrade } = activity;
  const which = upgrade === undefined ? "" : ` to ${upgrade.targetVersion} (${upgrade.phase})`;
  if (quarantined) print(`quarantined: the upgrade${which} waits for fleet-updater repair`);
  else if (system) print("busy: a system upgrade is under way");
  else if (active) print(`busy: an upgrade${which} is under way`);
  else print(upgrade === undefined ? "idle: no upgrade yet" : `idle: the upgrade${which} is over`);
  return quarantined ? EXIT_QUARANTINED : active ? EXIT_ACTIVE : EXIT_CODES.ok;
}

async function liveActivity(paths: ManagedPaths, signal: AbortSignal): Promise<Activity | null> {
  try {
    const { busy, quarantined, transaction, systemUpgrade } = await askState(paths.updaterSocket, signal);
    const system = systemUpgrade !== undefined && !isTerminalSystemPhase(systemUpgrade.phase);
    if (transaction === null) return { active: busy, quarantined, system };
    const { phase } = transaction.status;
    return {
      active: busy || !isTerminalPhase(phase),
      quarantined,
      system,
      upgrade: { targetVersion: transaction.targetVersion, phase },
    };
  } catch (error) {
    if (isFleetError(error, "E_SOCKET_UNREACHABLE")) return null;
    throw error;
  }
}

/** A ledger that cannot be trusted keeps nobody from setting the device up: its upgrades are off until it is renewed. */
async function isSystemUpgrading(paths: ManagedPaths, fs: FileSystem): Promise<boolean> {
  try {
    return isUpgrading(await LedgerStore.read(fs, paths));
  } catch (error) {
    if (isFleetError(error, "E_LEDGER_CORRUPT")) return false;
    throw error;
  }
}

async function journaledActivity(paths: ManagedPaths, fs: FileSystem): Promise<Activity> {
  const record = await JournalStore.read(fs, paths);
  if (await isSystemUpgrading(paths, fs)) return { active: true, quarantined: false, system: true };
  const { transaction } = record;
  if (transaction === null) return { active: false, quarantined: false };
  const phase = publicPhase(transaction);
  return {
    active: isActive(record),
    quarantined: phase === "rollback-failed",
    upgrade: { targetVersion: transaction.attempt.targetVersion, phase },
  };
}
