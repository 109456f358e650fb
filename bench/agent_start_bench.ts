/**
 * Start of the agent's script form, up to its version, against the start of a script that does nothing: what the
 * runtime costs is not ours, what is loaded on top of it is.
 *
 * @module
 */
import { join } from "node:path";
import { buildScript } from "../build/script_form.ts";
import { benchDirectory } from "./bench_directory.ts";
import { compare } from "./comparison.ts";
import { runProgram } from "./run_program.ts";

const VERSION = "1.2.3";

const directory = await benchDirectory();
const agent = await buildScript({
  program: "fleet-agent",
  version: VERSION,
  outPath: join(directory, "fleet-agent"),
});
const hello = join(directory, "hello.js");
await Deno.writeTextFile(hello, `console.log(${JSON.stringify(VERSION)});\n`);

async function requireVersion(program: string, args: readonly string[]): Promise<void> {
  const said = await runProgram(program, args);
  if (!said.includes(VERSION)) throw new Error(`${program} says it is ${said.trim()}, not ${VERSION}`);
}

compare({
  group: "agent-start",
  ours: { run: () => requireVersion(agent.path, ["--version"]) },
  theirs: { "deno-run-hello": { run: () => requireVersion(Deno.execPath(), ["run", "--no-config", hello]) } },
  runs: 15,
});
