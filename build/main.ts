/**
 * Builds a release folder: `./dev build`.
 *
 * @module
 */

import { join } from "node:path";
import { errorText } from "../contracts/errors.ts";
import type { Architecture } from "../contracts/formats.ts";
import { BUILD_USAGE, type BuildRequest, parseBuildArgs } from "./build_request.ts";
import { REPOSITORY_ROOT } from "./bundle.ts";
import { baseRuntimes } from "./compiled_form.ts";
import { buildRelease, type ReleaseTools } from "./release_folder.ts";
import { type Emulator, findEmulator } from "./run_artifact.ts";

const environment = (name: string) => Deno.env.get(name);

function write(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

function complain(text: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`build: ${text}\n`));
}

async function releaseTools(request: BuildRequest, signal: AbortSignal): Promise<ReleaseTools> {
  const emulators = new Map<Architecture, Emulator>();
  for (const arch of request.architectures.filter((name) => name !== Deno.build.arch)) {
    const emulator = await findEmulator(arch, environment);
    if (emulator !== null) emulators.set(arch, emulator);
  }
  return {
    compiler: {
      denoPath: environment("HARMONY_DENO") ?? Deno.execPath(),
      baseRuntimes: await baseRuntimes(environment("DENORT_BIN") ?? ""),
      // A deno of another version keeps caches of another form.
      cacheDir: join(REPOSITORY_ROOT, ".tools", "compile-dir"),
    },
    emulators,
    write,
    signal,
  };
}

async function build(request: BuildRequest): Promise<void> {
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort(new Error("interrupted; the release folder is as it was"));
  for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, interrupt);
  const { artifacts, leftOut } = await buildRelease(request, await releaseTools(request, interrupted.signal));
  for (const line of leftOut) complain(line);
  const notRun = artifacts.filter(({ run }) => run === "not-run").flatMap(({ architectures }) => architectures);
  for (const arch of new Set(notRun)) {
    complain(`programs for ${arch} were not run: that needs qemu-${arch}-static and /usr/${arch}-linux-gnu`);
  }
  write(`release ${request.version}: ${request.outDir}`);
}

async function defaults(): Promise<Pick<BuildRequest, "version" | "outDir">> {
  const config: { version: string } = JSON.parse(await Deno.readTextFile(join(REPOSITORY_ROOT, "deno.json")));
  return { version: config.version, outDir: join(REPOSITORY_ROOT, "dist", "release") };
}

async function main(args: readonly string[]): Promise<number> {
  if (args.includes("--help")) {
    write(BUILD_USAGE.trimEnd());
    return 0;
  }
  const request = parseBuildArgs(args, await defaults());
  if (typeof request === "string") {
    complain(`${request}\n${BUILD_USAGE.trimEnd()}`);
    return 64;
  }
  try {
    await build(request);
    return 0;
  } catch (error) {
    complain(errorText(error));
    return 1;
  }
}

if (import.meta.main) Deno.exit(await main(Deno.args));
