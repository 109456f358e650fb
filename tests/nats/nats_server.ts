/**
 * A real `nats-server` for tests and the demo: own directory, own port, and the faults that tests need.
 *
 * @module
 */
import { findNatsServer } from "./find_nats_server.ts";
import { waitUntil } from "./wait_until.ts";

/** How a server is started. */
export interface NatsServerOptions {
  /** Lines that are added to the configuration: users, TLS, limits. */
  readonly config?: string;
  /** Default true. */
  readonly jetStream?: boolean;
  /** Default: a free one that the kernel chooses. */
  readonly port?: number;
  /** Where files go. Default: a temporary directory that `stop()` removes. */
  readonly directory?: string;
  /** Sync every message to disk, as a single server in production does. Default false. */
  readonly syncAlways?: boolean;
}

const START_TIMEOUT_MS = 20_000;

/** A running server. Every method that starts or continues it returns when it answers. */
export interface NatsServer {
  readonly port: number;
  /** `nats://127.0.0.1:<port>` */
  readonly url: string;
  readonly directory: string;
  /** Process id of the present life. */
  readonly pid: number;
  /** Ends it as a power cut does. */
  kill9(): Promise<void>;
  /** Starts it again on the same port and data, after {@link kill9}, or ends it first. */
  restart(changes?: Pick<NatsServerOptions, "config">): Promise<void>;
  /** Applies other configuration lines to the running server. */
  reload(config: string): Promise<void>;
  /** Freezes the process (SIGSTOP); returns when all of it stands still. */
  pause(): Promise<void>;
  /** Ends {@link pause}. */
  resume(): void;
  /** What it logged. */
  log(): Promise<string>;
  /** Ends it and removes its temporary directory; idempotent. */
  stop(): Promise<void>;
}

/**
 * Starts a server on 127.0.0.1.
 *
 * @param options Configuration
 * @throws {Error} when there is no `nats-server` program or it does not become ready; the message has its log
 */
export async function startNatsServer(options: NatsServerOptions = {}): Promise<NatsServer> {
  const binary = await findNatsServer();
  const directory = options.directory ?? await Deno.makeTempDir({ prefix: "nats-server-" });
  await Deno.mkdir(`${directory}/ports`, { recursive: true });
  const server = new ServerProcess(binary, directory, options);
  await server.start();
  return server;
}

class ServerProcess implements NatsServer {
  readonly directory: string;
  port: number;
  #binary: string;
  #options: NatsServerOptions;
  #child: Deno.ChildProcess | undefined;
  #stopped = false;

  constructor(binary: string, directory: string, options: NatsServerOptions) {
    this.#binary = binary;
    this.directory = directory;
    this.#options = options;
    this.port = options.port ?? -1;
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  get pid(): number {
    if (this.#child === undefined) throw new Error("Cannot read the process id: the server is not running");
    return this.#child.pid;
  }

  async start(): Promise<void> {
    const deadlineMs = performance.now() + START_TIMEOUT_MS;
    // A port that the kernel gave may be lent out as the source of another connection while the server is down.
    while (!await this.#tryStart()) {
      if (performance.now() > deadlineMs) throw new Error(`Cannot start nats-server: ${await this.log()}`);
    }
  }

  async #tryStart(): Promise<boolean> {
    await this.#writeConfig();
    const logStart = (await this.log()).length;
    const child = new Deno.Command(this.#binary, {
      args: ["--config", `${this.directory}/server.conf`],
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    let ended = false;
    const status = child.status.then(() => {
      ended = true;
    });
    this.#child = child;
    const port = await waitUntil("nats-server", () => ended ? -1 : this.#readyPort(child.pid), START_TIMEOUT_MS);
    if (port < 0) {
      await status;
      this.#child = undefined;
      const log = (await this.log()).slice(logStart);
      if (log.includes("address already in use")) return false;
      throw new Error(`Cannot start nats-server: ${await this.#configProblem()} ${log}`);
    }
    this.port = port;
    return true;
  }

  /** The port that this life listens on, or null while it does not answer. */
  async #readyPort(pid: number): Promise<number | null> {
    try {
      const ports = JSON.parse(await Deno.readTextFile(`${this.directory}/ports/nats-server_${pid}.ports`));
      const port = Number(new URL(ports.nats[0]).port);
      const conn = await Deno.connect({ hostname: "127.0.0.1", port });
      try {
        return await conn.read(new Uint8Array(4_096)) === null ? null : port;
      } finally {
        conn.close();
      }
    } catch {
      return null;
    }
  }

  /** What the program says of its configuration; it does so before it opens its log. */
  async #configProblem(): Promise<string> {
    const args = ["-t", "--config", `${this.directory}/server.conf`];
    const { stderr } = await new Deno.Command(this.#binary, { args, stdout: "null", stderr: "piped" }).output();
    return new TextDecoder().decode(stderr).trim();
  }

  async #writeConfig(): Promise<void> {
    const { jetStream = true, syncAlways = false, config = "" } = this.#options;
    const text = [
      `listen: "127.0.0.1:${this.port}"`,
      `ports_file_dir: ${JSON.stringify(`${this.directory}/ports`)}`,
      `log_file: ${JSON.stringify(`${this.directory}/server.log`)}`,
      ...(jetStream
        ? [
          `jetstream: { store_dir: ${JSON.stringify(`${this.directory}/data`)}, max_mem: 2GB, max_file: 64GB` +
          `${syncAlways ? ", sync_interval: always" : ""} }`,
        ]
        : []),
      config,
    ].join("\n");
    await Deno.writeTextFile(`${this.directory}/server.conf`, `${text}\n`);
  }

  async #end(signal: Deno.Signal): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    this.#child = undefined;
    try {
      child.kill(signal);
      // A frozen process takes only SIGKILL.
      if (signal !== "SIGKILL") child.kill("SIGCONT");
    } catch (error) {
      if (!(error instanceof TypeError) && !(error instanceof Deno.errors.NotFound)) throw error;
    }
    await child.status;
  }

  kill9(): Promise<void> {
    return this.#end("SIGKILL");
  }

  async restart(changes: Pick<NatsServerOptions, "config"> = {}): Promise<void> {
    await this.#end("SIGTERM");
    this.#options = { ...this.#options, ...changes };
    await this.start();
  }

  async reload(config: string): Promise<void> {
    const before = (await this.log()).length;
    this.#options = { ...this.#options, config };
    await this.#writeConfig();
    Deno.kill(this.pid, "SIGHUP");
    await waitUntil(
      "the reload",
      async () => (await this.log()).slice(before).includes("Reloaded server configuration"),
    );
  }

  async pause(): Promise<void> {
    const { pid } = this;
    Deno.kill(pid, "SIGSTOP");
    await waitUntil("the server to stand still", async () => {
      for await (const { name } of Deno.readDir(`/proc/${pid}/task`)) {
        const status = await Deno.readTextFile(`/proc/${pid}/task/${name}/status`);
        if (!/^State:\s+T/m.test(status)) return false;
      }
      return true;
    });
  }

  resume(): void {
    Deno.kill(this.pid, "SIGCONT");
  }

  async log(): Promise<string> {
    try {
      return await Deno.readTextFile(`${this.directory}/server.log`);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return "(no log)";
      throw error;
    }
  }

  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    await this.#end("SIGTERM");
    if (this.#options.directory === undefined) await Deno.remove(this.directory, { recursive: true });
  }
}
