/**
 * The command line of `./dev build`.
 *
 * @module
 */

import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { errorText } from "../contracts/errors.ts";
import { type Architecture, ARCHITECTURES, version as versionText } from "../contracts/formats.ts";
import { isProgramName, type ProgramName, PROGRAMS } from "./programs.ts";
import type { BuildForm } from "./stamp_bundle.ts";

/** Where the deno that runs scripts stands on a device (docs/decisions/0008). */
export const DEVICE_DENO_PATH = "/usr/lib/harmony-fleet/deno";

const FORMS: readonly BuildForm[] = ["compiled", "script"];

/** What `--help` prints. */
export const BUILD_USAGE = `usage: ./dev build [PROGRAM...] [OPTIONS]

Makes a release folder: programs, SHA256SUMS, an OCI layout, systemd units and install.sh.

  PROGRAM          ${Object.keys(PROGRAMS).join(", ")}; default: all of them
  --version V      the version that is compiled in; default: the one in deno.json
  --arch LIST      of the compiled programs; default: ${ARCHITECTURES.join(",")}
  --format LIST    default: ${FORMS.join(",")}
  --out DIR        the release folder, replaced whole; default: dist/release
  --runtime FILE   a deno to put into the release for the script form; may be repeated, once per architecture
  --deno PATH      the deno that scripts name; default: ${DEVICE_DENO_PATH}, where install.sh puts it
  --prelude FILE   JavaScript that runs before every program: for labs

environment:
  DENORT_BIN       base runtimes of deno for compiled programs, separated by colons; each file's header says its
                   architecture; default: deno downloads its own
  HARMONY_DENO     the deno that compiles: of the version of the base runtimes; default: the pinned one
  QEMU_LD_PREFIX   where the libraries of a foreign architecture are, for qemu-user; default: /usr/ARCH-linux-gnu
`;

/** What to build. */
export interface BuildRequest {
  readonly programs: readonly ProgramName[];
  readonly version: string;
  readonly architectures: readonly Architecture[];
  readonly forms: readonly BuildForm[];
  readonly outDir: string;
  /** Each is a deno; its header says the architecture. */
  readonly runtimePaths: readonly string[];
  readonly scriptDenoPath: string;
  readonly preludePath?: string;
}

function listOf<T extends string>(text: string, known: readonly T[], option: string): T[] {
  const wanted = text.split(",");
  const unknown = wanted.find((word) => !known.some((name) => name === word));
  if (unknown !== undefined) throw new TypeError(`${option}: "${unknown}" is not one of ${known.join(", ")}`);
  return known.filter((name) => wanted.includes(name));
}

/**
 * Reads the command line.
 *
 * @param args Words after `build`
 * @param defaults Version and folder unless they are given
 * @returns the request, or a text that says what is wrong
 */
export function parseBuildArgs(
  args: readonly string[],
  defaults: Pick<BuildRequest, "version" | "outDir">,
): BuildRequest | string {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        version: { type: "string", default: defaults.version },
        arch: { type: "string", default: ARCHITECTURES.join(",") },
        format: { type: "string", default: FORMS.join(",") },
        out: { type: "string", default: defaults.outDir },
        runtime: { type: "string", multiple: true, default: [] },
        deno: { type: "string", default: DEVICE_DENO_PATH },
        prelude: { type: "string" },
      },
    });
    const unknown = positionals.find((name) => !isProgramName(name));
    if (unknown !== undefined) return `unknown program "${unknown}"`;
    const programs = positionals.filter(isProgramName);
    return {
      programs: programs.length > 0 ? programs : Object.keys(PROGRAMS).filter(isProgramName),
      version: versionText(values.version, "--version"),
      architectures: listOf(values.arch, ARCHITECTURES, "--arch"),
      forms: listOf(values.format, FORMS, "--format"),
      outDir: resolve(values.out),
      runtimePaths: values.runtime.map((path) => resolve(path)),
      scriptDenoPath: resolve(values.deno),
      ...(values.prelude === undefined ? {} : { preludePath: resolve(values.prelude) }),
    };
  } catch (error) {
    return errorText(error);
  }
}
