/**
 * The operator as a real process, from its sources.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { PROGRAMS } from "../../../build/programs.ts";

const MAIN = fileURLToPath(new URL("../../../operator/main.ts", import.meta.url));

/** A running operator process; its output is read as it comes. */
export class OperatorProcess {
  stdout = "";
  stderr = "";
  readonly #child: Deno.ChildProcess;
  readonly #reading: Promise<unknown>;

  constructor(args: readonly string[]) {
    const { permissions } = PROGRAMS["fleet-operator"];
    this.#child = new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "--no-prompt", ...permissions, MAIN, ...args],
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#reading = Promise.all([
      read(this.#child.stdout, (text) => this.stdout += text),
      read(this.#child.stderr, (text) => this.stderr += text),
    ]);
  }

  /** Waits for its end. @returns the exit code */
  async end(signal?: Deno.Signal): Promise<number> {
    if (signal !== undefined) this.#child.kill(signal);
    const { code } = await this.#child.status;
    await this.#reading;
    return code;
  }
}

async function read(stream: ReadableStream<Uint8Array>, take: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  for await (const chunk of stream) take(decoder.decode(chunk, { stream: true }));
}

/** Writes a configuration for as long as it is used. */
export async function withConfig(config: unknown, use: (path: string) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir();
  try {
    const path = `${directory}/operator.json`;
    await Deno.writeTextFile(path, JSON.stringify(config), { mode: 0o640 });
    await use(path);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}
