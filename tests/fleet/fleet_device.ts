/**
 * One device of a fleet on this machine: its own root, the real updater as a process, and the agent that the updater
 * supervises. No root and no systemd.
 *
 * @module
 */
import { binaryPath, type ManagedPaths, managedPaths, versionOfBinary } from "../../contracts/managed_paths.ts";
import type { UpdaterState } from "../../contracts/updater_protocol.ts";
import { waitUntil } from "../nats/wait_until.ts";
import { askUpdater } from "./ask_updater.ts";
import { type Child, startChild } from "./child_process.ts";

/** What a device is set up with, as `install.sh` would. */
export interface DeviceSetup {
  readonly id: string;
  /** Prefix of its managed paths; short, since Unix socket paths are. */
  readonly root: string;
  readonly servers: readonly string[];
  readonly password: string;
  /** The agent that it begins with. */
  readonly agent: { readonly version: string; readonly path: string };
  /** The updater's program. */
  readonly updater: readonly string[];
  /** Authority of the artifact host. */
  readonly artifactCaFile: string;
  readonly agentBounds?: Readonly<Record<string, number>>;
  readonly updaterBounds?: Readonly<Record<string, number>>;
}

/** One device. */
export class FleetDevice {
  readonly id: string;
  readonly root: string;
  readonly paths: ManagedPaths;
  readonly updaterLog: string;
  readonly #command: readonly string[];
  #updater: Child | null = null;

  private constructor(setup: DeviceSetup) {
    this.id = setup.id;
    this.root = setup.root;
    this.paths = managedPaths(setup.root);
    this.updaterLog = `${setup.root}/updater.log`;
    this.#command = [...setup.updater, "serve", "--root", setup.root];
  }

  /**
   * Sets a device up: directories, configuration, first binary, link. It does not start it.
   *
   * @param setup What it is set up with
   */
  static async create(setup: DeviceSetup): Promise<FleetDevice> {
    const device = new FleetDevice(setup);
    const { paths } = device;
    for (
      const path of [paths.agentLink, paths.agentConfig, `${paths.agentStateDirectory}/x`, `${paths.runDirectory}/x`]
    ) {
      await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    }
    await Deno.mkdir(paths.binariesDirectory, { recursive: true, mode: 0o755 });
    const passwordFile = `${setup.root}/etc/harmony-fleet/nats-password`;
    await Deno.writeTextFile(passwordFile, setup.password, { mode: 0o600 });
    await writeJson(paths.agentConfig, {
      deviceId: setup.id,
      root: setup.root,
      nats: { servers: setup.servers, user: setup.id, passwordFile },
      ...(setup.agentBounds === undefined ? {} : { bounds: setup.agentBounds }),
    });
    await writeJson(paths.updaterConfig, {
      deviceId: setup.id,
      services: { kind: "process" },
      tls: { caFile: setup.artifactCaFile },
      ...(setup.updaterBounds === undefined ? {} : { bounds: setup.updaterBounds }),
    });
    const binary = binaryPath(paths, setup.agent.version);
    await Deno.copyFile(setup.agent.path, binary);
    await Deno.chmod(binary, 0o755);
    await Deno.symlink(binary, paths.agentLink);
    return device;
  }

  /** Starts the updater, which starts the agent. */
  startUpdater(): void {
    if (this.#updater !== null && !this.#updater.hasEnded) return;
    this.#updater = startChild({ command: this.#command, logFile: this.updaterLog });
  }

  /** The updater's process, while one was started. */
  get updater(): Child | null {
    return this.#updater;
  }

  /** SIGKILL to the updater, and waits until it is gone. The agent lives on. */
  async killUpdater(): Promise<void> {
    this.#updater?.kill("SIGKILL");
    await this.#updater?.ended;
  }

  /** Stops the updater, and kills the agent that it leaves behind. */
  async stop(): Promise<void> {
    await this.#updater?.stop();
    const pid = await this.agentPid();
    if (pid !== null) killQuietly(pid);
  }

  /** Process id of the agent, or null when none lives. */
  async agentPid(): Promise<number | null> {
    let record: string;
    try {
      record = await Deno.readTextFile(this.paths.processRecord);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return null;
      throw error;
    }
    const pid = Number(/"pid":([0-9]+)/.exec(record)?.[1] ?? Number.NaN);
    return Number.isNaN(pid) || !await lives(pid) ? null : pid;
  }

  /** Version of the binary that the link selects. */
  async selectedVersion(): Promise<string> {
    return versionOfBinary(this.paths, await Deno.readLink(this.paths.agentLink));
  }

  /** The updater's state, or null while it does not answer. */
  state(): Promise<UpdaterState | null> {
    return askUpdater(this.paths.updaterSocket);
  }

  /**
   * Waits until the updater's transaction is the one of an attempt, or of a version, in a phase.
   *
   * @param what What is waited for
   * @param matches Whether a state is it
   * @param timeoutMs How long
   */
  waitForState(what: string, matches: (state: UpdaterState) => boolean, timeoutMs = 60_000): Promise<UpdaterState> {
    return waitUntil(`${this.id}: ${what}`, async () => {
      const state = await this.state();
      return state !== null && matches(state) ? state : null;
    }, timeoutMs);
  }
}

async function writeJson(path: string, value: unknown): Promise<void> {
  await Deno.writeTextFile(path, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o640 });
}

async function lives(pid: number): Promise<boolean> {
  try {
    const stat = await Deno.readTextFile(`/proc/${pid}/stat`);
    return !/\) Z /.test(stat);
  } catch {
    return false;
  }
}

function killQuietly(pid: number): void {
  try {
    Deno.kill(-pid, "SIGKILL");
  } catch {
    // It ended by itself.
  }
}
