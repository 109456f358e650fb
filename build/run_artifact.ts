/**
 * Runs a finished artifact once: it counts as built when it says what it is (DESIGN 11).
 *
 * @module
 */

import type { Architecture } from "../contracts/formats.ts";
import type { ProgramName } from "./programs.ts";
import type { BuildForm } from "./stamp_bundle.ts";

/** How an artifact was run. */
export type ArtifactRun = "native" | "emulated" | "not-run";

/** Runs programs of another architecture. */
export interface Emulator {
  /** Words before the program's path. */
  readonly command: readonly string[];
}

/** An emulated start of a program takes some 10 s, and a busy machine several times that. */
const RUN_TIMEOUT_MS = 180_000;

/**
 * Finds qemu-user and the libraries of an architecture.
 *
 * @param arch The architecture
 * @param env Reads a variable
 * @returns null where one of them is missing
 */
export async function findEmulator(
  arch: Architecture,
  env: (name: string) => string | undefined,
): Promise<Emulator | null> {
  const prefix = env("QEMU_LD_PREFIX") ?? `/usr/${arch}-linux-gnu`;
  const folders = (env("PATH") ?? "").split(":").filter((folder) => folder !== "");
  for (const name of [`qemu-${arch}-static`, `qemu-${arch}`]) {
    for (const folder of folders) {
      if (await isFile(`${folder}/${name}`) && await hasLoader(prefix)) {
        return { command: [`${folder}/${name}`, "-L", prefix] };
      }
    }
  }
  return null;
}

async function isFile(path: string): Promise<boolean> {
  return await Deno.stat(path).then((info) => info.isFile, () => false);
}

async function hasLoader(prefix: string): Promise<boolean> {
  try {
    return [...Deno.readDirSync(`${prefix}/lib`)].some(({ name }) => name.startsWith("ld-linux"));
  } catch {
    return false;
  }
}

/** What {@link runArtifact} takes. */
export interface RunArtifactOptions {
  readonly path: string;
  readonly program: ProgramName;
  readonly version: string;
  readonly form: BuildForm;
  readonly emulator?: Emulator;
  /** The deno that runs a script. */
  readonly denoPath: string;
}

/**
 * Runs an artifact with `--version`.
 *
 * @throws {Error} when it does not print its name, version and form
 */
export async function runArtifact(options: RunArtifactOptions): Promise<void> {
  const { form, path, program, version } = options;
  const [command = path, ...args] = [...options.emulator?.command ?? [], path, "--version"];
  const output = await new Deno.Command(command, {
    args,
    env: { FLEET_DENO: options.denoPath },
    stdin: "null",
    signal: AbortSignal.timeout(RUN_TIMEOUT_MS),
  }).output();
  const said = new TextDecoder().decode(output.stdout).trim();
  if (output.success && said.startsWith(`${program} ${version} (`) && said.endsWith(`${form})`)) return;
  const why = new TextDecoder().decode(output.stderr).trim().split("\n")[0];
  throw new Error(
    `Cannot use ${path}: --version printed "${said}", wanted ${program} ${version} and ${form}${why && `: ${why}`}`,
  );
}
