/**
 * The demo as a process, in a temporary folder of its own, so that a test sees what it leaves behind.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { waitUntil } from "../nats/wait_until.ts";

const MAIN = fileURLToPath(new URL("../../demo/main.ts", import.meta.url));
const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** A running demo. */
export class DemoProcess implements AsyncDisposable {
  /** What it has printed so far, standard output and error. */
  output = "";
  readonly folder: string;
  readonly #child: Deno.ChildProcess;
  readonly #reading: Promise<unknown>;

  private constructor(folder: string, args: readonly string[], env: Readonly<Record<string, string>>) {
    this.folder = folder;
    this.#child = new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "--allow-all", MAIN, ...args],
      cwd: ROOT,
      env: { TMPDIR: folder, NO_COLOR: "1", ...env },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#reading = Promise.all([this.#read(this.#child.stdout), this.#read(this.#child.stderr)]);
  }

  /** Starts it. */
  static async start(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<DemoProcess> {
    return new DemoProcess(await Deno.makeTempDir({ prefix: "demo-" }), args, env);
  }

  async #read(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of stream) this.output += decoder.decode(chunk, { stream: true });
  }

  /** Waits until it has printed what matches. */
  async printed(pattern: RegExp, timeoutMs = 180_000): Promise<RegExpExecArray> {
    let ended = false;
    void this.#child.status.then(() => ended = true);
    return await waitUntil(`${pattern} in the output of the demo`, () => {
      const found = pattern.exec(this.output);
      if (found === null && ended) throw new Error(`The demo has ended without ${pattern}:\n${this.output}`);
      return found;
    }, timeoutMs);
  }

  /** Waits for its end. @returns the exit code */
  async end(signal?: Deno.Signal): Promise<number> {
    if (signal !== undefined) this.#child.kill(signal);
    const { code } = await this.#child.status;
    await this.#reading;
    return code;
  }

  /** What stands in its temporary folder. */
  async files(): Promise<string[]> {
    const names: string[] = [];
    for await (const { name } of Deno.readDir(this.folder)) names.push(name);
    return names;
  }

  /** How many processes are its own. */
  async processes(): Promise<number> {
    return (await this.processIds("")).length;
  }

  /** Processes on whose command line its folder and a name stand; the demo itself is none of them. */
  async processIds(name: string): Promise<number[]> {
    const found: number[] = [];
    for await (const { name: pid } of Deno.readDir("/proc")) {
      if (!/^[0-9]+$/.test(pid)) continue;
      // It may have ended meanwhile.
      const commandLine = await Deno.readTextFile(`/proc/${pid}/cmdline`).catch(() => "");
      if (commandLine.includes(this.folder) && commandLine.includes(name)) found.push(Number(pid));
    }
    return found;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end("SIGTERM").catch(() => {});
    await Deno.remove(this.folder, { recursive: true });
  }
}
