/**
 * Builds the programs into `dist/`: `./dev build`.
 *
 * @module
 */

import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { REPOSITORY_ROOT } from "./bundle.ts";
import { isProgramName, type ProgramName, PROGRAMS } from "./programs.ts";
import { buildScript, type BuiltScript } from "./script_form.ts";

const USAGE = `usage: ./dev build [PROGRAM...] [OPTIONS]

  PROGRAM          ${Object.keys(PROGRAMS).join(", ")}; default: all of them
  --format script  one-file scripts that run on an installed deno (the default, and the only form so far)
  --version V      the version that is compiled in; default: the one in deno.json
  --deno PATH      the deno that will run the scripts; default: the one of this repository
  --out DIR        where the programs go; default: dist
`;

interface BuildRequest {
  readonly programs: readonly ProgramName[];
  readonly version: string;
  readonly denoPath: string;
  readonly outDir: string;
}

/** Reads the command line; a text is what is wrong with it. */
export function parseBuildArgs(
  args: readonly string[],
  defaults: Omit<BuildRequest, "programs">,
): BuildRequest | string {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        format: { type: "string", default: "script" },
        version: { type: "string", default: defaults.version },
        deno: { type: "string", default: defaults.denoPath },
        out: { type: "string", default: defaults.outDir },
      },
    });
    if (values.format !== "script") return `unknown format "${values.format}": only "script" can be built`;
    const unknown = positionals.find((name) => !isProgramName(name));
    if (unknown !== undefined) return `unknown program "${unknown}"`;
    const programs = positionals.filter(isProgramName);
    return {
      programs: programs.length > 0 ? programs : Object.keys(PROGRAMS).filter(isProgramName),
      version: values.version,
      denoPath: resolve(values.deno),
      outDir: resolve(values.out),
    };
  } catch (error) {
    if (error instanceof TypeError) return error.message;
    throw error;
  }
}

/* An artifact counts as built when it has run once and says what it is. */
async function checkVersion(script: BuiltScript, version: string): Promise<void> {
  const output = await new Deno.Command(script.path, { args: ["--version"], stdin: "null" }).output();
  const said = new TextDecoder().decode(output.stdout).trim();
  if (output.success && said.split(/\s+/).includes(version)) return;
  const why = new TextDecoder().decode(output.stderr).trim();
  throw new Error(`Cannot use ${script.path}: --version printed "${said}", wanted ${version}${why && `: ${why}`}`);
}

async function build(request: BuildRequest): Promise<void> {
  await Deno.mkdir(request.outDir, { recursive: true });
  const sums: string[] = [];
  for (const program of request.programs) {
    const script = await buildScript({
      program,
      version: request.version,
      outPath: join(request.outDir, program),
      denoPath: request.denoPath,
    });
    await checkVersion(script, request.version);
    sums.push(`${script.sha256}  ${program}\n`);
    await write(`${script.path} ${request.version} (${(script.sizeBytes / 1024).toFixed(0)} KiB)\n`);
  }
  await Deno.writeTextFile(join(request.outDir, "SHA256SUMS"), sums.join(""));
}

async function defaults(): Promise<Omit<BuildRequest, "programs">> {
  const config: { version: string } = JSON.parse(await Deno.readTextFile(join(REPOSITORY_ROOT, "deno.json")));
  return { version: config.version, denoPath: Deno.execPath(), outDir: join(REPOSITORY_ROOT, "dist") };
}

async function write(text: string): Promise<void> {
  await Deno.stdout.write(new TextEncoder().encode(text));
}

async function complain(text: string): Promise<void> {
  await Deno.stderr.write(new TextEncoder().encode(`build: ${text}\n`));
}

async function main(args: readonly string[]): Promise<number> {
  if (args.includes("--help")) {
    await write(USAGE);
    return 0;
  }
  const request = parseBuildArgs(args, await defaults());
  if (typeof request === "string") {
    await complain(`${request}\n${USAGE.trimEnd()}`);
    return 64;
  }
  try {
    await build(request);
    return 0;
  } catch (error) {
    await complain(error instanceof Error ? error.message : String(error));
    return 1;
  }
}

if (import.meta.main) Deno.exit(await main(Deno.args));
