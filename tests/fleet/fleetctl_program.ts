/**
 * The built `fleetctl` with a configuration file, so that no secret stands on a command line.
 *
 * @module
 */
import { buildScript } from "../../build/script_form.ts";

/** What it is set up with. */
export interface FleetctlSetup {
  /** Where program and configuration go. */
  readonly directory: string;
  readonly servers: readonly string[];
  readonly user: string;
  readonly password: string;
  /** Default `1.0.0`. */
  readonly version?: string;
}

/** What a run of it left. */
export interface FleetctlResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** The program. */
export class FleetctlProgram {
  readonly path: string;
  readonly configFile: string;

  private constructor(path: string, configFile: string) {
    this.path = path;
    this.configFile = configFile;
  }

  /**
   * Builds and configures it.
   *
   * @param setup What it is set up with
   */
  static async create(setup: FleetctlSetup): Promise<FleetctlProgram> {
    const { directory, servers, user, password, version = "1.0.0" } = setup;
    const { path } = await buildScript({ program: "fleetctl", version, outPath: `${directory}/fleetctl` });
    await Deno.writeTextFile(`${directory}/fleetctl-password`, `${password}\n`, { mode: 0o600 });
    const configFile = `${directory}/fleetctl.json`;
    // Relative paths in it start where the file stands.
    const config = { servers, user, passwordFile: "fleetctl-password" };
    await Deno.writeTextFile(configFile, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o640 });
    return new FleetctlProgram(path, configFile);
  }

  /**
   * Runs it to its end.
   *
   * @param args Arguments after its name
   * @param options Where it runs, what it reads, and what ends it
   */
  async run(
    args: readonly string[],
    options: { readonly cwd?: string; readonly signal?: AbortSignal } = {},
  ): Promise<FleetctlResult> {
    // The variables of whoever runs this go before a configuration file.
    const inherited = Object.entries(Deno.env.toObject()).filter(([name]) => !name.startsWith("FLEETCTL_"));
    const { code, stdout, stderr } = await new Deno.Command(this.path, {
      args: [...args],
      clearEnv: true,
      env: { ...Object.fromEntries(inherited), FLEETCTL_CONFIG: this.configFile, NO_COLOR: "1" },
      ...options,
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).output();
    return { code, out: new TextDecoder().decode(stdout), err: new TextDecoder().decode(stderr) };
  }
}
