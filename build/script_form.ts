/**
 * The script form of a program: one executable file of about 0.3 MiB that runs on an installed deno (DESIGN 11).
 *
 * @module
 */

import { createHash } from "node:crypto";
import { basename, dirname } from "node:path";
import { bundleProgram } from "./bundle.ts";
import { type Program, type ProgramName, PROGRAMS } from "./programs.ts";
import { scriptHeader } from "./script_header.ts";
import { stampBundle } from "./stamp_bundle.ts";

/** What {@link buildScript} takes. */
export interface BuildScriptOptions {
  /** A program of the product, or another one described in full. */
  readonly program: ProgramName | Program;
  /** The semantic version that is compiled in, without a leading `v`. */
  readonly version: string;
  /** Where the script goes; an existing file is replaced in one step. */
  readonly outPath: string;
  /** The absolute path of the deno that will run the script. @default the one that runs this */
  readonly denoPath?: string;
  /** JavaScript that runs before the program's own modules (after the runtime's); tests break releases with it. */
  readonly prelude?: string;
  /** Where bundles are kept between builds. @default `.tools/bundles` */
  readonly cacheDir?: string;
}

/** A finished script. */
export interface BuiltScript {
  readonly path: string;
  readonly sizeBytes: number;
  /** SHA-256 of the file, lower-case hex. */
  readonly sha256: string;
}

/**
 * Builds a program as one executable script. The same sources and options give the same bytes.
 *
 * @throws {Error} when the program does not bundle or its version placeholder is not found exactly once.
 */
export async function buildScript(options: BuildScriptOptions): Promise<BuiltScript> {
  const program = typeof options.program === "string" ? PROGRAMS[options.program] : options.program;
  const bundle = await bundleProgram({
    name: program.name,
    entryPoint: program.entryPoint,
    ...(options.cacheDir === undefined ? {} : { cacheDir: options.cacheDir }),
  });
  const body = stampBundle(bundle, options.version, "script");
  const prelude = options.prelude === undefined ? "" : `${options.prelude}\n`;
  const bytes = new TextEncoder().encode(
    scriptHeader(program, options.denoPath ?? Deno.execPath()) + prelude + body,
  );
  await writeExecutable(options.outPath, bytes);
  return {
    path: options.outPath,
    sizeBytes: bytes.length,
    sha256: createHash("sha256").update(bytes).digest("hex"),
  };
}

async function writeExecutable(path: string, bytes: Uint8Array): Promise<void> {
  const temp = await Deno.makeTempFile({ dir: dirname(path), prefix: `.${basename(path)}-` });
  try {
    await Deno.writeFile(temp, bytes);
    await Deno.chmod(temp, 0o755);
    await Deno.rename(temp, path);
  } catch (error) {
    await Deno.remove(temp);
    throw error;
  }
}
