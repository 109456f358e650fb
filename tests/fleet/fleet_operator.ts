/**
 * The operator of a fleet on this machine: the built `fleet-operator` as a real process, configured as a person would.
 *
 * @module
 */
import { buildScript } from "../../build/script_form.ts";
import { type Child, startChild } from "./child_process.ts";

/** Times of the operator, lowered so that a test need not wait for them. */
export const FAST_OPERATOR = {
  natsReconnectMinMs: 50,
  natsReconnectMaxMs: 500,
  heartbeatIntervalMs: 1_000,
  statusWriteIntervalMs: 100,
  foreignWriteSettleMs: 200,
} as const;

/** What an operator is set up with. */
export interface OperatorSetup {
  /** Where its program, configuration and log go; several operators in one directory need a name each. */
  readonly directory: string;
  /** Default `operator`. */
  readonly name?: string;
  readonly servers: readonly string[];
  readonly user: string;
  readonly password: string;
  /** Devices that the buckets are made for. */
  readonly fleetSize: number;
  /** Default `1.0.0`. */
  readonly version?: string;
  readonly bounds?: Readonly<Record<string, number>>;
}

/** One operator. */
export class FleetOperator implements AsyncDisposable {
  readonly logFile: string;
  readonly configFile: string;
  readonly #program: string;
  #child: Child | null = null;

  private constructor(program: string, configFile: string, logFile: string) {
    this.#program = program;
    this.configFile = configFile;
    this.logFile = logFile;
  }

  /**
   * Builds and configures an operator. It does not start it.
   *
   * @param setup What it is set up with
   */
  static async create(setup: OperatorSetup): Promise<FleetOperator> {
    const { directory, name = "operator", servers, user, password, fleetSize, version = "1.0.0" } = setup;
    const program = await buildScript({ program: "fleet-operator", version, outPath: `${directory}/fleet-operator` });
    const passwordFile = `${directory}/${name}-password`;
    await Deno.writeTextFile(passwordFile, `${password}\n`, { mode: 0o600 });
    const configFile = `${directory}/${name}.json`;
    const config = { nats: { servers, user, passwordFile }, fleetSize, bounds: setup.bounds ?? FAST_OPERATOR };
    await Deno.writeTextFile(configFile, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o640 });
    return new FleetOperator(program.path, configFile, `${directory}/${name}.log`);
  }

  /** Starts it; nothing happens while it runs. */
  start(): void {
    if (this.#child !== null && !this.#child.hasEnded) return;
    this.#child = startChild({ command: [this.#program, "--config", this.configFile], logFile: this.logFile });
  }

  /** Its process, while one was started. */
  get child(): Child | null {
    return this.#child;
  }

  /** SIGKILL, and waits until it is gone. */
  async kill9(): Promise<void> {
    this.#child?.kill("SIGKILL");
    await this.#child?.ended;
  }

  /** SIGTERM, and waits until it has ended. */
  async stop(): Promise<void> {
    await this.#child?.stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
