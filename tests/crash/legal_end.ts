/**
 * What must be true of a device, whatever was interrupted: promise 1 of the design, as an assertion.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import type { UpgradePhase } from "../../contracts/agent_upgrade.ts";
import { binaryPath } from "../../contracts/managed_paths.ts";
import type { FileSystem } from "../../lib/durable/file_system.ts";
import { publicPhase } from "../../updater/core/record.ts";
import { JournalStore } from "../../updater/journal_store.ts";
import { PATHS, type Scenario } from "./simulated_device.ts";
import { type AgentProcess, readAgent } from "./simulated_service.ts";

/** Public phase of the journal on a disk; `none` without a transaction. It throws where the journal is corrupt. */
export async function phaseOn(disk: FileSystem): Promise<UpgradePhase | "none"> {
  const { record } = await JournalStore.open(disk, PATHS);
  return record.transaction === null ? "none" : publicPhase(record.transaction);
}

/**
 * Asserts that a device at rest is as it must be.
 *
 * @param what Where it was interrupted, for the message
 * @param disk Its disk
 * @param process Its processes
 * @param scenario What was tried
 */
export async function assertLegalEnd(
  what: string,
  disk: FileSystem,
  process: AgentProcess,
  scenario: Scenario,
): Promise<UpgradePhase | "none"> {
  const phase = await phaseOn(disk);
  if (phase === "rollback-failed") {
    assertEquals(scenario.ends, "rollback-failed", `${what}: ends in rollback-failed`);
    return phase;
  }
  assert(phase === "none" || phase === "complete" || phase === "failed", `${what}: rests in ${phase}`);
  if (phase === "complete") assertEquals(scenario.ends, "complete", `${what}: ends in complete`);
  const version = phase === "complete" ? "2.0.0" : "1.0.0";
  const selected = await disk.readLink(PATHS.agentLink);
  assertEquals(selected, binaryPath(PATHS, version), `${what}: selects ${selected} in ${phase}`);
  const agent = await readAgent(disk, selected ?? "");
  assertEquals(agent?.version, version, `${what}: the selected binary is not whole`);
  // A previous agent that cannot start is not brought back by anything; its own scenario is about that.
  if (version === "2.0.0" || scenario.previous !== "exits-1") {
    assertEquals(process.running?.version, version, `${what}: the agent does not run`);
  }
  return phase;
}
