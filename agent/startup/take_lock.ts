/**
 * The step that makes this the one agent of the device (`Fleet agent upgrades`, Ownership).
 *
 * @module
 */
import type { ManagedPaths } from "../../contracts/managed_paths.ts";
import type { ProcessLock } from "../../lib/durable/process_lock.ts";
import type { AgentPorts } from "../agent_ports.ts";
import { StartupError } from "./startup_error.ts";

/** Mode of the agent's state directory where nobody has made it yet. */
const STATE_DIRECTORY_MODE = 0o750;

/**
 * Takes the lock. Nothing else has been touched before.
 *
 * @param ports File system and lock
 * @param paths Where the lock is
 * @throws {StartupError} of class `environment` when another agent has it: a leftover says nothing about this binary
 */
export async function takeLock(
  ports: Pick<AgentPorts, "fileSystem" | "lock">,
  paths: Pick<ManagedPaths, "agentLock" | "agentStateDirectory">,
): Promise<ProcessLock> {
  await ports.fileSystem.makeDirectory(paths.agentStateDirectory, STATE_DIRECTORY_MODE);
  const lock = await ports.lock(paths.agentLock);
  if (lock !== null) return lock;
  throw new StartupError("lock", `Cannot start: another agent holds the lock ${paths.agentLock}`, "environment");
}
