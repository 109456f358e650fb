/**
 * Programs for devices of the lab, in the form and for the architecture that a scenario asks for, from the product's own
 * sources. Compiled ones have the base runtime of package registries, and in front what that lacks.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { compileProgram, type Compiler } from "../../build/compiled_form.ts";
import type { ProgramName } from "../../build/programs.ts";
import { buildScript } from "../../build/script_form.ts";
import { type Architecture, ARCHITECTURES, type BinaryForm } from "../../contracts/formats.ts";
import { LAB_PRELUDE_PATH, labToolchain } from "./lab_toolchain.ts";

/** Which program. */
export interface LabProgram {
  readonly program: ProgramName;
  readonly version: string;
  /** Default `script` */
  readonly form?: BinaryForm;
  /** Of a compiled one. Default this machine's */
  readonly arch?: Architecture;
  /** JavaScript that runs before the program's own. */
  readonly prelude?: string;
  readonly outPath: string;
  /** Where devices have their deno, for a script. */
  readonly denoPath: string;
}

const COMPILE_CACHE = fileURLToPath(new URL("../../.tools/compile-dir", import.meta.url));
let compiler: Promise<Compiler> | undefined;

async function labCompiler(): Promise<Compiler> {
  const say = (line: string) => void Deno.stderr.writeSync(new TextEncoder().encode(`lab: ${line}\n`));
  const { denoPath, baseRuntimes } = await labToolchain(say);
  return {
    denoPath,
    baseRuntimes: new Map(ARCHITECTURES.map((arch) => [arch, baseRuntimes[arch]])),
    cacheDir: COMPILE_CACHE,
  };
}

/**
 * Builds a program.
 *
 * @param program Which, and where it goes
 */
export async function buildLabProgram(
  { program, version, form = "script", arch = Deno.build.arch, prelude = "", outPath, denoPath }: LabProgram,
): Promise<void> {
  if (form === "script") {
    await buildScript({ program, version, outPath, denoPath, ...(prelude === "" ? {} : { prelude }) });
    return;
  }
  compiler ??= labCompiler();
  await compileProgram({
    program,
    version,
    arch,
    outPath,
    compiler: await compiler,
    prelude: `${await Deno.readTextFile(LAB_PRELUDE_PATH)}\n${prelude}`,
  });
}
