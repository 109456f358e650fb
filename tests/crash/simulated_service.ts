/**
 * The agent's unit in a simulated device: it starts what the link on the disk selects, if the bytes are whole.
 *
 * @module
 */
import { FleetError } from "../../contracts/errors.ts";
import { EXIT_ENVIRONMENT } from "../../contracts/readiness.ts";
import type { FileSystem } from "../../lib/durable/file_system.ts";
import type { ServiceManager, ServiceState, StartOutcome, StopOutcome } from "../../updater/ports.ts";
import type { Gate } from "./gated_file_system.ts";

/** How an agent behaves when it is started. */
export type AgentBehaviour = "ready" | "exits-1" | "never-ready";

const BINARY_REGEXP = /^agent ([0-9.]+) (ready|exits-1|never-ready)\n(?:#+\n)$/;
const BINARY_MAX_BYTES = 64 * 1_024;

/**
 * The bytes of an agent. They are longer than a block, so that a torn file can be told from a whole one.
 *
 * @param version Its version
 * @param behaviour What it does
 */
export function agentBinary(version: string, behaviour: AgentBehaviour = "ready"): Uint8Array {
  return new TextEncoder().encode(`agent ${version} ${behaviour}\n${"#".repeat(5_000)}\n`);
}

/**
 * What the bytes at a path would do, or undefined when they are no whole agent.
 *
 * @param fs The disk
 * @param path A binary
 */
export async function readAgent(
  fs: FileSystem,
  path: string,
): Promise<{ readonly version: string; readonly behaviour: AgentBehaviour } | undefined> {
  let bytes: Uint8Array | null;
  try {
    bytes = await fs.readFile(path, BINARY_MAX_BYTES);
  } catch (error) {
    if (error instanceof FleetError) return undefined;
    throw error;
  }
  const match = bytes === null ? null : BINARY_REGEXP.exec(new TextDecoder().decode(bytes));
  if (match === null || bytes?.byteLength !== agentBinary(match[1] ?? "", match[2] as AgentBehaviour).byteLength) {
    return undefined;
  }
  return { version: match[1] ?? "", behaviour: match[2] as AgentBehaviour };
}

/** What lives in memory on a device: it survives the updater's death, and not a power cut. */
export interface AgentProcess {
  running: { readonly version: string } | null;
  /** Starts, by version. */
  readonly starts: Map<string, number>;
  /** Starts that will find no NATS before it is back. */
  outageStarts: number;
  /** Stops that will leave a process behind. */
  refusedStops: number;
}

/** The unit of one simulated device. */
export class SimulatedService implements ServiceManager {
  readonly unit = "fleet-agent.service";
  readonly #disk: FileSystem;
  readonly #link: string;
  readonly #process: AgentProcess;
  readonly #gate: Gate;

  constructor(disk: FileSystem, link: string, process: AgentProcess, gate: Gate) {
    this.#disk = disk;
    this.#link = link;
    this.#process = process;
    this.#gate = gate;
  }

  async start(): Promise<StartOutcome> {
    await this.#gate("start", "before");
    const outcome = await this.#start();
    await this.#gate("start", "after");
    return outcome;
  }

  async stop(): Promise<StopOutcome> {
    await this.#gate("stop", "before");
    if (this.#process.running !== null && this.#process.refusedStops > 0) {
      this.#process.refusedStops--;
      return { kind: "not-stopped", message: "a process is left" };
    }
    this.#process.running = null;
    await this.#gate("stop", "after");
    return { kind: "stopped" };
  }

  /** The start of an enabled unit at boot: with Restart=always it goes on until the outage is over. */
  async boot(): Promise<void> {
    let outcome = await this.#start();
    while (outcome.kind === "failed" && outcome.exitCode === EXIT_ENVIRONMENT) outcome = await this.#start();
  }

  resetFailed(): Promise<void> {
    return Promise.resolve();
  }

  show(): Promise<ServiceState> {
    return Promise.resolve({ active: this.#process.running === null ? "inactive" : "active", restarts: 0 });
  }

  async #start(): Promise<StartOutcome> {
    if (this.#process.running !== null) return { kind: "ready" };
    const path = await this.#disk.readLink(this.#link);
    const agent = path === null ? undefined : await readAgent(this.#disk, path);
    const failed = { kind: "failed", lastLines: [], durationMs: 1 } as const;
    // 203 is what systemd reports for a file that cannot be executed.
    if (agent === undefined) return { ...failed, result: "exit-code", exitCode: 203 };
    this.#process.starts.set(agent.version, (this.#process.starts.get(agent.version) ?? 0) + 1);
    if (agent.behaviour === "exits-1") return { ...failed, result: "exit-code", exitCode: 1 };
    if (agent.behaviour === "never-ready") return { ...failed, result: "timeout" };
    if (this.#process.outageStarts > 0) {
      this.#process.outageStarts--;
      return { ...failed, result: "exit-code", exitCode: EXIT_ENVIRONMENT, statusText: "[nats] cannot be reached" };
    }
    this.#process.running = { version: agent.version };
    return { kind: "ready" };
  }
}
