/**
 * The first lines of a program in script form: read by `/bin/sh` they start deno on the file itself; read by deno they
 * are a comment and an expression without effect.
 *
 * A plain `#!/usr/bin/env -S deno run …` line does not do: Linux cuts it off after 255 bytes (127 before 5.1) without
 * an error, which would drop permission flags, and gives the interpreter at most one argument. `exec` keeps the
 * process id, so that signals, `READY=1` and the service manager's main process are those of deno.
 *
 * @module
 */

import type { Program } from "./programs.ts";

/** What every program is started with, whatever it does: nothing is read, fetched or asked for besides the file. */
const COMMON_FLAGS = [
  "--quiet",
  "--no-config",
  "--no-lock",
  "--no-npm",
  "--no-remote",
  "--cached-only",
  "--no-prompt",
  "--unstable-net",
  // The name ends in a version, and `-v1.0.0-rc.ts` must not be read as another language.
  "--ext=js",
];

/**
 * The header lines for a program that the deno at `denoPath` runs, each ended by a newline. The variable `FLEET_DENO`
 * names another deno, where the program's own place for it is not there yet.
 */
export function scriptHeader(program: Program, denoPath: string): string {
  if (!denoPath.startsWith("/")) {
    throw new Error(`Cannot write the script header: "${denoPath}" is not an absolute path`);
  }
  const words = ["run", ...COMMON_FLAGS, ...program.permissions];
  if (program.v8Flags.length > 0) words.push(`--v8-flags=${program.v8Flags.join(",")}`);
  const deno = `deno=${shellWord(denoPath)}; exec "\${FLEET_DENO:-$deno}"`;
  return `#!/bin/sh\n":" //; ${deno} ${words.map(shellWord).join(" ")} "$0" "$@"\n`;
}

function shellWord(word: string): string {
  // Any of the line ends of JavaScript would end the comment and run the rest of the line as code.
  if (/[\n\r\u2028\u2029\0]/.test(word)) {
    throw new Error(`Cannot write the script header: ${JSON.stringify(word)} has a line end`);
  }
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
