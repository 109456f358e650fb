/**
 * The compiled form of a program: the bundle behind a base runtime, one file of 80 to 90 MiB that needs nothing on the
 * device (DESIGN 11).
 *
 * @module
 */

import { join } from "node:path";
import type { Architecture } from "../contracts/formats.ts";
import { bundleProgram } from "./bundle.ts";
import { elfArchitecture } from "./elf_architecture.ts";
import { type Program, type ProgramName, PROGRAMS } from "./programs.ts";
import { stampBundle } from "./stamp_bundle.ts";

/** What compiles. */
export interface Compiler {
  /** The deno that compiles; of the same version as the base runtimes. */
  readonly denoPath: string;
  /** The base runtimes that were given; deno downloads its own for an architecture that is not in here. */
  readonly baseRuntimes: ReadonlyMap<Architecture, string>;
  /** Where deno keeps what it downloads. */
  readonly cacheDir: string;
}

/** What {@link compileProgram} takes. */
export interface CompileOptions {
  readonly program: ProgramName;
  readonly version: string;
  readonly arch: Architecture;
  readonly outPath: string;
  readonly compiler: Compiler;
  /** JavaScript that runs before the program's own modules. */
  readonly prelude?: string;
  readonly signal?: AbortSignal;
}

/** There is no base runtime for an architecture: the compiled form cannot be built here. */
export class NoBaseRuntimeError extends Error {
  override readonly name = "NoBaseRuntimeError";
}

/** Nothing is read, fetched or asked for besides the one bundle that is compiled in. */
const COMPILE_FLAGS = [
  "--quiet",
  "--no-config",
  "--no-lock",
  "--no-npm",
  "--no-remote",
  "--no-check",
  "--no-prompt",
  "--unstable-net",
];

/**
 * Sorts base runtimes by the architecture that their headers name.
 *
 * @param list Paths, separated by colons, as in `DENORT_BIN`
 * @throws {Error} when one is no program, or two are for the same architecture
 */
export async function baseRuntimes(list: string): Promise<Map<Architecture, string>> {
  const found = new Map<Architecture, string>();
  for (const path of list.split(":").filter((part) => part !== "")) {
    const arch = await elfArchitecture(path);
    const other = found.get(arch);
    if (other !== undefined) throw new Error(`Cannot use DENORT_BIN: ${other} and ${path} are both for ${arch}`);
    found.set(arch, path);
  }
  return found;
}

/** The flags of a program that is compiled. */
export function compileFlags({ permissions, v8Flags }: Program): string[] {
  return [...COMPILE_FLAGS, ...permissions, ...(v8Flags.length === 0 ? [] : [`--v8-flags=${v8Flags.join(",")}`])];
}

/**
 * Compiles a program. The same sources, options and base runtime give the same bytes.
 *
 * @throws {NoBaseRuntimeError} when there is none and deno cannot download it
 * @throws {Error} when the program does not bundle or compile
 */
export async function compileProgram(options: CompileOptions): Promise<void> {
  const { arch, compiler, outPath, signal, version } = options;
  const program = PROGRAMS[options.program];
  const bundle = await bundleProgram({ name: program.name, entryPoint: program.entryPoint });
  const prelude = options.prelude === undefined ? "" : `${options.prelude}\n`;
  // A folder of its own: whatever lies beside the bundle may be compiled in too.
  const folder = await Deno.makeTempDir({ prefix: "compile-" });
  try {
    const source = join(folder, "main.js");
    await Deno.writeTextFile(source, prelude + stampBundle(bundle, version, "compiled"));
    // The file's time is compiled in too.
    await Deno.utime(source, 0, 0);
    const output = await new Deno.Command(compiler.denoPath, {
      args: [
        "compile",
        ...compileFlags(program),
        `--target=${arch}-unknown-linux-gnu`,
        `--output=${outPath}`,
        source,
      ],
      cwd: folder,
      env: compilerEnvironment(compiler.cacheDir, compiler.baseRuntimes.get(arch)),
      clearEnv: true,
      stdin: "null",
      ...(signal === undefined ? {} : { signal }),
    }).output();
    signal?.throwIfAborted();
    if (!output.success) throw compileError(options.program, arch, new TextDecoder().decode(output.stderr));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/* Our DENORT_BIN may be a list, and deno's is one path. */
function compilerEnvironment(cacheDir: string, base: string | undefined): Record<string, string> {
  const { DENORT_BIN: _list, ...inherited } = Deno.env.toObject();
  return { ...inherited, DENO_DIR: cacheDir, NO_COLOR: "1", ...(base === undefined ? {} : { DENORT_BIN: base }) };
}

function compileError(program: string, arch: Architecture, said: string): Error {
  if (!said.includes("Setting up base binary")) {
    return new Error(`Cannot compile ${program} for ${arch}: ${said.trim()}`);
  }
  const url = /https:\/\/\S+?\.zip/.exec(said)?.[0] ?? "its download host";
  return new NoBaseRuntimeError(
    `the compiled form for ${arch} is left out: it needs a base runtime, and ${url} cannot be reached; ` +
      `set DENORT_BIN to one (./dev build --help)`,
  );
}
