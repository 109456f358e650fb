/**
 * A real `nats-server` with a login, and the real `fleetctl` against it, with the permissions of the finished program.
 *
 * @module
 */
import { BUCKET_SPECS, type BucketName, BUCKETS, deviceKey } from "../../../contracts/buckets.ts";
import { PROGRAMS } from "../../../build/programs.ts";
import { connectBus } from "../../../lib/bus/connect.ts";
import type { Bus, BusAdmin } from "../../../lib/bus/port.ts";
import { EmbeddedStore } from "../../../operator/stores/embedded.ts";
import { type NatsServer, startNatsServer } from "../../nats/nats_server.ts";

const USER = "ops";
const PASSWORD = "correct horse battery staple";
const ROOT = new URL("../../../", import.meta.url).pathname;

/** What a run of the program left. */
export interface FleetctlRun {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly durationMs: number;
}

/** How a run differs from the usual. */
export interface FleetctlOptions {
  readonly stdin?: string;
  /** Variables beside those of the connection; an empty one unsets. */
  readonly env?: Readonly<Record<string, string>>;
  /** Permission flags. Default those of the finished program */
  readonly permissions?: readonly string[];
}

/** A fleet without operator: tests write what an operator would. */
export class FleetctlWorld {
  readonly server: NatsServer;
  readonly directory: string;
  readonly bus: Bus & BusAdmin;

  private constructor(server: NatsServer, directory: string, bus: Bus & BusAdmin) {
    this.server = server;
    this.directory = directory;
    this.bus = bus;
  }

  /** Starts a server, with the fleet's buckets unless told otherwise. */
  static async open(options: { readonly buckets?: boolean } = {}): Promise<FleetctlWorld> {
    const config = `authorization { user: ${JSON.stringify(USER)}, password: ${JSON.stringify(PASSWORD)} }`;
    const server = await startNatsServer({ config });
    const directory = await Deno.makeTempDir({ prefix: "fleetctl-" });
    await Deno.writeTextFile(`${directory}/password`, `${PASSWORD}\n`, { mode: 0o600 });
    const bus = await connectBus({
      servers: [server.url],
      name: "test",
      auth: { kind: "password", user: USER, password: { value: PASSWORD } },
    });
    if (options.buckets !== false) await bus.ensureBuckets(BUCKET_SPECS, 100, 1);
    return new FleetctlWorld(server, directory, bus);
  }

  /** The resource store. */
  async store(): Promise<EmbeddedStore> {
    return new EmbeddedStore(await this.bus.bucket(BUCKETS.resources));
  }

  /** Publishes a document as a device would. */
  async report(name: BucketName, deviceId: string, document: unknown): Promise<void> {
    await (await this.bus.bucket(name)).put(deviceKey(deviceId), new TextEncoder().encode(JSON.stringify(document)));
  }

  /** Writes a file into the directory of the test. @returns its path */
  async file(name: string, text: string): Promise<string> {
    const path = `${this.directory}/${name}`;
    await Deno.writeTextFile(path, text);
    return path;
  }

  /** The variables of the connection. */
  get connection(): Record<string, string> {
    return {
      FLEETCTL_SERVERS: this.server.url,
      FLEETCTL_USER: USER,
      FLEETCTL_PASSWORD_FILE: `${this.directory}/password`,
    };
  }

  /** Runs the program to its end. */
  async run(args: readonly string[], options: FleetctlOptions = {}): Promise<FleetctlRun> {
    const startMs = performance.now();
    const child = this.spawn(args, options);
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(options.stdin ?? "")).catch(() => {});
    await writer.close().catch(() => {});
    const { code, stdout, stderr } = await child.output();
    return { code, out: decode(stdout), err: decode(stderr), durationMs: performance.now() - startMs };
  }

  /** Starts the program. */
  spawn(args: readonly string[], options: FleetctlOptions = {}): Deno.ChildProcess {
    return new Deno.Command(Deno.execPath(), {
      args: [...fleetctlArgs(options.permissions), ...args],
      env: this.environment(options),
      clearEnv: true,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
  }

  /** The environment of a run. */
  environment({ env = {} }: FleetctlOptions = {}): Record<string, string> {
    const inherited = Object.entries(Deno.env.toObject()).filter(([name]) => !name.startsWith("FLEETCTL_"));
    return { ...Object.fromEntries(inherited), NO_COLOR: "", ...this.connection, ...env };
  }

  /** Ends everything. */
  async close(): Promise<void> {
    await this.bus.close();
    await this.server.stop();
    await Deno.remove(this.directory, { recursive: true });
  }
}

/** Arguments of `deno` that run the program as it is shipped. */
export function fleetctlArgs(permissions = PROGRAMS.fleetctl.permissions): string[] {
  const { entryPoint } = PROGRAMS.fleetctl;
  return ["run", "--quiet", "--no-prompt", "--cached-only", ...permissions, `${ROOT}${entryPoint}`];
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/**
 * Runs a test in a world of its own.
 *
 * @param name Name of the test, after `fleetctl`
 * @param body The test
 * @param options As {@link FleetctlWorld.open}
 */
export function fleetctlTest(
  name: string,
  body: (world: FleetctlWorld) => Promise<void>,
  options: { readonly buckets?: boolean } = {},
): void {
  Deno.test(`fleetctl: ${name}`, async () => {
    const world = await FleetctlWorld.open(options);
    try {
      await body(world);
    } finally {
      await world.close();
    }
  });
}
