/**
 * Makes the release folder that install.sh takes (docs/decisions/0008).
 *
 * @module
 */

import { dirname, join, relative } from "node:path";
import { type Architecture, ARCHITECTURES } from "../contracts/formats.ts";
import { ARTIFACT_MAX_BYTES } from "../contracts/limits.ts";
import { digestFile } from "../lib/digest/sha256_stream.ts";
import { osFileSystem } from "../lib/durable/os_file_system.ts";
import type { BuildRequest } from "./build_request.ts";
import { REPOSITORY_ROOT } from "./bundle.ts";
import { compileProgram, type Compiler, NoBaseRuntimeError } from "./compiled_form.ts";
import { elfArchitecture } from "./elf_architecture.ts";
import { type AgentArtifact, writeOciLayout } from "./oci_layout.ts";
import type { ProgramName } from "./programs.ts";
import { withProgress, type WriteLine } from "./progress.ts";
import { replaceFolder } from "./replace_folder.ts";
import { type ArtifactRun, type Emulator, runArtifact } from "./run_artifact.ts";
import { buildScript } from "./script_form.ts";
import type { BuildForm } from "./stamp_bundle.ts";
import { sourcePaths } from "./source_tree.ts";

/** The one file that every release folder holds. */
const MARK = "release.json";
const MIB = 1024 * 1024;

/** A program in the release. */
export interface ReleaseArtifact {
  readonly program: ProgramName;
  readonly form: BuildForm;
  readonly architectures: readonly Architecture[];
  /** Relative to the release folder. */
  readonly path: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly run: ArtifactRun;
}

/** What a release is made with. */
export interface ReleaseTools {
  readonly compiler: Compiler;
  /** For the architectures that are not this machine's. */
  readonly emulators: ReadonlyMap<Architecture, Emulator>;
  readonly write: WriteLine;
  readonly signal: AbortSignal;
}

/** What was built. */
export interface BuiltRelease {
  readonly artifacts: readonly ReleaseArtifact[];
  /** One line for each architecture whose compiled form could not be built here. */
  readonly leftOut: readonly string[];
}

/**
 * Builds a release.
 *
 * @param request What to build
 * @param tools What with
 * @throws {Error} when a program does not build, is too large, or does not say what it is; the place of the release is
 * then as before
 */
export async function buildRelease(request: BuildRequest, tools: ReleaseTools): Promise<BuiltRelease> {
  let built: BuiltRelease = { artifacts: [], leftOut: [] };
  await replaceFolder(request.outDir, { mark: MARK }, async (folder) => {
    built = await buildPrograms(request, tools, folder);
    if (built.artifacts.length === 0) throw new Error(built.leftOut.join("\n") || "nothing to build");
    await copyRuntimes(request, tools, folder);
    await copySupport(folder);
    const oci = await writeOciLayout(join(folder, "oci"), request.version, agentsOf(folder, built.artifacts));
    await writeManifest(folder, request, built.artifacts, oci);
  });
  return built;
}

async function buildPrograms(request: BuildRequest, tools: ReleaseTools, folder: string): Promise<BuiltRelease> {
  const prelude = request.preludePath === undefined ? {} : { prelude: await Deno.readTextFile(request.preludePath) };
  const artifacts: ReleaseArtifact[] = [];
  const leftOut: string[] = [];
  if (request.forms.includes("script")) {
    await Deno.mkdir(join(folder, "bin", "script"), { recursive: true });
    for (const program of request.programs) {
      tools.signal.throwIfAborted();
      const outPath = join(folder, "bin", "script", program);
      await buildScript({ program, version: request.version, outPath, denoPath: request.scriptDenoPath, ...prelude });
      artifacts.push(
        await finish({ program, form: "script", architectures: ARCHITECTURES, outPath, folder }, request, tools),
      );
    }
  }
  for (const arch of request.forms.includes("compiled") ? request.architectures : []) {
    await Deno.mkdir(join(folder, "bin", arch), { recursive: true });
    try {
      for (const program of request.programs) {
        tools.signal.throwIfAborted();
        const outPath = join(folder, "bin", arch, program);
        await withProgress(
          `compiling ${program} for ${arch}`,
          tools.write,
          () => compileProgram({ ...tools, program, version: request.version, arch, outPath, ...prelude }),
        );
        artifacts.push(
          await finish({ program, form: "compiled", architectures: [arch], outPath, folder }, request, tools),
        );
      }
    } catch (error) {
      if (!(error instanceof NoBaseRuntimeError)) throw error;
      await Deno.remove(join(folder, "bin", arch), { recursive: true });
      leftOut.push(error.message);
    }
  }
  return { artifacts, leftOut };
}

interface Unfinished {
  readonly program: ProgramName;
  readonly form: BuildForm;
  readonly architectures: readonly Architecture[];
  readonly outPath: string;
  readonly folder: string;
}

/**
 * Checks the size of an artifact against what every updater accepts.
 *
 * @throws {Error} above {@link ARTIFACT_MAX_BYTES}
 */
export function checkSize(program: ProgramName, sizeBytes: number): void {
  if (sizeBytes <= ARTIFACT_MAX_BYTES) return;
  throw new Error(`Cannot use ${program}: it has ${sizeBytes} bytes, an artifact has at most ${ARTIFACT_MAX_BYTES}`);
}

/** Measures and runs an artifact; only then it counts as built. */
async function finish(
  { program, form, architectures, outPath, folder }: Unfinished,
  { version }: BuildRequest,
  { emulators, write }: ReleaseTools,
): Promise<ReleaseArtifact> {
  const sizeBytes = (await Deno.stat(outPath)).size;
  checkSize(program, sizeBytes);
  await Deno.chmod(outPath, 0o755);
  const run = await runOnce();
  const sha256 = await digestOf(outPath);
  const path = relative(folder, outPath);
  write(`${path.padEnd(28)} ${version}  ${(sizeBytes / MIB).toFixed(1).padStart(5)} MiB  ${run}`);
  return { program, form, architectures, path, sizeBytes, sha256, run };

  async function runOnce(): Promise<ArtifactRun> {
    const check = { path: outPath, program, version, form, denoPath: Deno.execPath() };
    const [foreign] = architectures;
    if (foreign === undefined || architectures.some((arch) => arch === Deno.build.arch)) {
      await runArtifact(check);
      return "native";
    }
    const emulator = emulators.get(foreign);
    if (emulator === undefined) return "not-run";
    await withProgress(
      `running ${program} for ${foreign} by emulation`,
      write,
      () => runArtifact({ ...check, emulator }),
    );
    return "emulated";
  }
}

async function copyRuntimes({ runtimePaths }: BuildRequest, { write }: ReleaseTools, folder: string): Promise<void> {
  for (const source of runtimePaths) {
    const path = join("runtime", await elfArchitecture(source), "deno");
    await Deno.mkdir(join(folder, dirname(path)), { recursive: true });
    await Deno.copyFile(source, join(folder, path));
    await Deno.chmod(join(folder, path), 0o755);
    write(`${path.padEnd(28)} from ${source}`);
  }
}

async function copySupport(folder: string): Promise<void> {
  await Deno.mkdir(join(folder, "systemd"));
  const units = [...Deno.readDirSync(join(REPOSITORY_ROOT, "deploy", "systemd"))].map(({ name }) => name)
    .filter((name) => name.endsWith(".service"));
  for (const name of units) {
    await Deno.copyFile(join(REPOSITORY_ROOT, "deploy", "systemd", name), join(folder, "systemd", name));
    await Deno.chmod(join(folder, "systemd", name), 0o644);
  }
  await Deno.copyFile(join(REPOSITORY_ROOT, "install.sh"), join(folder, "install.sh"));
  await Deno.chmod(join(folder, "install.sh"), 0o755);
}

async function digestOf(path: string): Promise<string> {
  const digest = await digestFile(osFileSystem, path, { maxBytes: Number.MAX_SAFE_INTEGER });
  if (digest === null) throw new Error(`Cannot read ${path}: it is gone`);
  return digest.sha256;
}

function agentsOf(folder: string, artifacts: readonly ReleaseArtifact[]): AgentArtifact[] {
  return artifacts.filter(({ program }) => program === "fleet-agent").flatMap((artifact) =>
    artifact.architectures.map((arch) => ({ ...artifact, arch, path: join(folder, artifact.path) }))
  );
}

async function writeManifest(
  folder: string,
  { version }: BuildRequest,
  artifacts: readonly ReleaseArtifact[],
  oci: Readonly<Record<string, string>>,
): Promise<void> {
  const manifest = { schema: 1, version, bundledWith: `deno ${Deno.version.deno}`, artifacts, oci };
  await Deno.writeTextFile(join(folder, "VERSION"), `${version}\n`);
  await Deno.writeTextFile(join(folder, MARK), `${JSON.stringify(manifest, null, 2)}\n`);
  const known = new Map(artifacts.map(({ path, sha256 }) => [path, sha256]));
  const lines: string[] = [];
  for (const path of await sourcePaths(folder)) {
    const blob = /^oci\/blobs\/sha256\/([0-9a-f]{64})$/.exec(path)?.[1];
    const digest = known.get(path) ?? blob ??
      await digestOf(join(folder, path));
    lines.push(`${digest}  ${path}\n`);
  }
  await Deno.writeTextFile(join(folder, "SHA256SUMS"), lines.join(""));
}
