/**
 * A device for install.sh without root and systemd: a root folder, a release of small programs, and stand-ins for the
 * system's commands in front of `PATH`.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { sourcePaths } from "../../build/source_tree.ts";

const INSTALL = fileURLToPath(new URL("../../install.sh", import.meta.url));
const FAKES = fileURLToPath(new URL("fakes", import.meta.url));
const UNITS = fileURLToPath(new URL("../../deploy/systemd", import.meta.url));

const FAKE_COMMANDS: Readonly<Record<string, readonly string[]>> = {
  systemctl: ["systemctl"],
  accounts: ["getent", "groupadd", "groupdel", "useradd", "userdel", "usermod", "loginctl", "chown"],
  machine: ["uname", "getconf", "id"],
};
/** Real commands that change something: a run may be killed before each call of one. */
const CHANGING_COMMANDS = ["mkdir", "mv", "ln", "chmod", "rm", "cp"];

/** How a run ended. */
export interface InstallRun {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** What a run is given beside its arguments. */
export interface InstallRunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** The shell. Default dash, or what `sh` is. */
  readonly shell?: string;
  /** Kill everything before the call with this number of a command that changes something. */
  readonly killAt?: number;
}

/** A device and the releases for it; everything stands below one temporary folder. */
export class InstallWorld {
  readonly directory: string;
  readonly root: string;
  readonly state: string;

  private constructor(directory: string) {
    this.directory = directory;
    this.root = join(directory, "root");
    this.state = join(directory, "state");
  }

  /** Runs a test in a world of its own. */
  static async use(fn: (world: InstallWorld) => Promise<void>): Promise<void> {
    const directory = await Deno.realPath(await Deno.makeTempDir());
    try {
      const world = new InstallWorld(directory);
      await world.#make();
      await fn(world);
    } finally {
      await Deno.remove(directory, { recursive: true });
    }
  }

  async #make(): Promise<void> {
    for (const folder of ["etc", "run/systemd/system", "usr/lib", "var/lib"]) {
      await Deno.mkdir(join(this.root, folder), { recursive: true });
    }
    for (const folder of ["state", "fakes", "killers"]) await Deno.mkdir(join(this.directory, folder));
    for (const [fake, names] of Object.entries(FAKE_COMMANDS)) {
      for (const name of names) await Deno.symlink(join(FAKES, fake), join(this.directory, "fakes", name));
    }
    for (const name of [...CHANGING_COMMANDS, ...Object.values(FAKE_COMMANDS).flat()]) {
      await Deno.symlink(join(FAKES, "killer"), join(this.directory, "killers", name));
    }
    await Deno.writeTextFile(this.path("password"), "secret\n", { mode: 0o600 });
  }

  /** Puts stand-ins for rootless Podman in place. */
  async addPodman(): Promise<void> {
    for (const name of ["podman", "newuidmap"]) {
      await Deno.symlink(join(FAKES, "accounts"), join(this.directory, "fakes", name));
    }
  }

  /** A path of the test's own. */
  path(...names: string[]): string {
    return join(this.directory, ...names);
  }

  /** Where something of the device stands. */
  device(path: string): string {
    return this.root + path;
  }

  /**
   * Makes a release.
   *
   * @param version The version
   * @param places Folders of `bin/` that it has
   */
  async release(version: string, places: readonly string[] = ["x86_64", "script"]): Promise<string> {
    const release = this.path(`release-${version}`);
    const template = await Deno.readTextFile(join(FAKES, "program"));
    for (const place of places) {
      for (const name of ["fleet-agent", "fleet-updater"]) {
        const form = place === "script" ? "script" : "compiled";
        const text = template.replaceAll("NAME", name).replaceAll("VERSION", version).replaceAll("FORM", form);
        await this.write(join(release, "bin", place, name), text, 0o755);
      }
    }
    for (const unit of ["fleet-agent.service", "fleet-updater.service"]) {
      await this.write(join(release, "systemd", unit), await Deno.readTextFile(join(UNITS, unit)));
    }
    await this.write(join(release, "VERSION"), `${version}\n`);
    await this.sign(release);
    return release;
  }

  /** Writes the SHA256SUMS of a release anew. */
  async sign(release: string): Promise<void> {
    const paths = (await sourcePaths(release)).filter((path) => path !== "SHA256SUMS");
    const lines = await Promise.all(paths.map(async (path) => {
      const digest = createHash("sha256").update(await Deno.readFile(join(release, path))).digest("hex");
      return `${digest}  ${path}\n`;
    }));
    await Deno.writeTextFile(join(release, "SHA256SUMS"), lines.join(""));
  }

  /** Writes a file and the folders above it. */
  async write(path: string, text: string, mode = 0o644): Promise<void> {
    await Deno.mkdir(dirname(path), { recursive: true });
    await Deno.writeTextFile(path, text, { mode });
  }

  /** Runs install.sh on the device, with the system's commands replaced. */
  async live(args: readonly string[], options: InstallRunOptions = {}): Promise<InstallRun> {
    return await this.run(["--root", this.root, "--live", ...args], options);
  }

  /** Runs install.sh. */
  async run(args: readonly string[], options: InstallRunOptions = {}): Promise<InstallRun> {
    const { env = {}, killAt, shell = "sh" } = options;
    const fakes = this.path("fakes");
    const path = await systemPath();
    const count = this.path("kill-count");
    await Deno.writeTextFile(count, "0\n");
    const { code, stderr, stdout } = await new Deno.Command("setsid", {
      args: ["--wait", shell, INSTALL, ...args],
      clearEnv: true,
      env: {
        PATH: killAt === undefined ? `${fakes}:${path}` : `${this.path("killers")}:${fakes}:${path}`,
        FAKE_STATE: this.state,
        FAKE_ROOT: this.root,
        FAKE_UNITS: this.device("/etc/systemd/system"),
        FAKE_LINKS: this.path("links"),
        FAKE_HOME: this.device("/var/lib/harmony-fleet/home"),
        KILL_AT: String(killAt ?? 0),
        KILL_COUNT: count,
        KILL_FAKES: fakes,
        KILL_PATH: `${fakes}:${path}`,
        TMPDIR: this.directory,
        ...env,
      },
      stdin: "null",
    }).output();
    return { code, out: new TextDecoder().decode(stdout), err: new TextDecoder().decode(stderr) };
  }

  /** How many calls of changing commands the last run made. */
  async calls(): Promise<number> {
    return Number(await Deno.readTextFile(this.path("kill-count")));
  }

  /** What was ordered of the system, one order per line. */
  async orders(): Promise<string[]> {
    return (await Deno.readTextFile(join(this.state, "log")).catch(() => "")).split("\n").filter((line) => line !== "");
  }

  /** Says something to a stand-in. */
  async tell(name: string, text: string): Promise<void> {
    await Deno.writeTextFile(join(this.state, name), text);
  }

  /** Everything on the device: mode, and content or target, by path. */
  async tree(folder = this.root): Promise<Record<string, string>> {
    const found: Record<string, string> = {};
    const walk = async (current: string): Promise<void> => {
      for await (const { name } of Deno.readDir(current)) {
        const path = join(current, name);
        const info = await Deno.lstat(path);
        const shown = path.slice(folder.length);
        const mode = ((info.mode ?? 0) & 0o7777).toString(8);
        if (info.isSymlink) found[shown] = `-> ${await Deno.readLink(path)}`;
        else if (info.isDirectory) {
          found[shown] = `${mode} folder`;
          await walk(path);
        } else found[shown] = `${mode} ${await Deno.readTextFile(path)}`;
      }
    };
    await walk(folder);
    return Object.fromEntries(Object.entries(found).sort(([a], [b]) => a < b ? -1 : 1));
  }
}

/** What a device has only when a test gives it: the machine may have it or not. */
const GIVEN_BY_TESTS: ReadonlySet<string> = new Set(["deno", "podman", "newuidmap"]);

let madePath: Promise<string> | undefined;

/** The machine's `PATH` without them, made once: a folder of programs is thousands of links. */
function systemPath(): Promise<string> {
  return madePath ??= makeSystemPath();
}

async function makeSystemPath(): Promise<string> {
  const target = await Deno.makeTempDir();
  addEventListener("unload", () => Deno.removeSync(target, { recursive: true }));
  const folders: string[] = [];
  for (const folder of (Deno.env.get("PATH") ?? "").split(":")) {
    const names = (await Array.fromAsync(Deno.readDir(folder)).catch(() => [])).map(({ name }) => name);
    if (!names.some((name) => GIVEN_BY_TESTS.has(name))) {
      folders.push(folder);
      continue;
    }
    const links = join(target, String(folders.length));
    await Deno.mkdir(links);
    for (const name of names) if (!GIVEN_BY_TESTS.has(name)) await Deno.symlink(join(folder, name), join(links, name));
    folders.push(links);
  }
  return folders.join(":");
}

/** Options of a first install. */
export function firstInstall(world: InstallWorld, release: string): string[] {
  return [
    ...["--from", release, "--device-id", "device-1", "--nats-server", "tls://nats.example:4222"],
    ...["--nats-user", "device-1", "--nats-password-file", world.path("password")],
  ];
}
