/**
 * The managed paths (DESIGN 5). All of them are derived from the root and from validated versions; none is ever taken
 * from a request.
 *
 * @module
 */
import { decodeError } from "./codec.ts";
import { version } from "./formats.ts";

/** Where everything stands on a device. */
export interface ManagedPaths {
  /** Directory of the versioned binaries. */
  readonly binariesDirectory: string;
  /** The symbolic link that selects the agent. */
  readonly agentLink: string;
  /** State of the updater, root only. */
  readonly stateDirectory: string;
  /** The journal. */
  readonly journal: string;
  /** Preallocated journal slots. */
  readonly reserveDirectory: string;
  /** The ledger of system upgrades. */
  readonly ledger: string;
  /** Preallocated slots of the ledger. */
  readonly ledgerReserveDirectory: string;
  /** What the units that change packages leave for the updater: that they began, and how they ended. */
  readonly systemUpgradeDirectory: string;
  /** Lock of the one updater. */
  readonly updaterLock: string;
  /** What the process adapter knows of the agent's process. */
  readonly processRecord: string;
  /** Last output of the agent under the process adapter. */
  readonly agentOutput: string;
  /** Directory of the sockets. */
  readonly runDirectory: string;
  /** Where the agent asks for an upgrade. */
  readonly updaterSocket: string;
  /** Where root repairs. */
  readonly repairSocket: string;
  /** Where the process adapter receives the agent's notifications. */
  readonly notifySocket: string;
  /** Configuration of the agent. */
  readonly agentConfig: string;
  /** Configuration of the updater. */
  readonly updaterConfig: string;
  /** State of the agent. */
  readonly agentStateDirectory: string;
  /** Lock of the one agent. */
  readonly agentLock: string;
  /** What the last agent says of its drain, for the next one. */
  readonly lastDrain: string;
}

/**
 * The managed paths below a root.
 *
 * @param root Prefix of all of them. Default none
 */
export function managedPaths(root = ""): ManagedPaths {
  const base = root.replace(/\/+$/, "");
  const state = `${base}/var/lib/harmony-fleet/updater`;
  const run = `${base}/run/harmony-fleet`;
  const agent = `${base}/var/lib/harmony-fleet/agent`;
  return {
    binariesDirectory: `${base}/usr/lib/harmony-fleet`,
    agentLink: `${base}/usr/local/bin/fleet-agent`,
    stateDirectory: state,
    journal: `${state}/upgrade.json`,
    reserveDirectory: `${state}/reserve`,
    ledger: `${state}/system-upgrade.json`,
    ledgerReserveDirectory: `${state}/ledger-reserve`,
    systemUpgradeDirectory: `${state}/system-upgrade`,
    updaterLock: `${state}/updater.lock`,
    processRecord: `${state}/agent-process.json`,
    agentOutput: `${state}/agent-output.log`,
    runDirectory: run,
    updaterSocket: `${run}/updater.sock`,
    repairSocket: `${run}/repair.sock`,
    notifySocket: `${run}/notify.sock`,
    agentConfig: `${base}/etc/harmony-fleet/agent.json`,
    updaterConfig: `${base}/etc/harmony-fleet/updater.json`,
    agentStateDirectory: agent,
    agentLock: `${agent}/agent.lock`,
    lastDrain: `${agent}/last-drain.json`,
  };
}

const BINARY_PREFIX = "fleet-agent-v";

/**
 * Path of a version's binary.
 *
 * @param paths The managed paths
 * @param targetVersion A version; it is validated again here, since it enters a path
 * @throws {FleetError} `E_DECODE` when it is not a semantic version
 */
export function binaryPath(paths: ManagedPaths, targetVersion: string): string {
  return `${paths.binariesDirectory}/${BINARY_PREFIX}${version(targetVersion, "targetVersion")}`;
}

/**
 * The version that a managed binary's path names.
 *
 * @param paths The managed paths
 * @param path A path that claims to be a managed binary
 * @throws {FleetError} `E_DECODE` when it is not one
 */
export function versionOfBinary(paths: ManagedPaths, path: string): string {
  const prefix = `${paths.binariesDirectory}/${BINARY_PREFIX}`;
  if (!path.startsWith(prefix)) throw decodeError("path", `is not below ${paths.binariesDirectory}`);
  return version(path.slice(prefix.length), "path");
}
