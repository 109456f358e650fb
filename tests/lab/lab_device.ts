/**
 * A device with systemd as pid 1: a container with a root file system of its own over a system's image, on the host's
 * network. It can be powered off, rebooted and cut off. Everything of it ends with the process that made it.
 *
 * @module
 */
import type { AgentCommand } from "../../updater/process/agent_command.ts";
import { waitUntil } from "../nats/wait_until.ts";
import { Device, type DeviceKind, type DeviceRun, type LabDeviceOptions } from "./device.ts";
import { imagePath, labCache, type LabSystem } from "./lab_image.ts";

const BOOT_TIMEOUT_MS = 90_000;
const POWEROFF_TIMEOUT_MS = 120_000;

/** Where control groups are mounted: the unified hierarchy, alone or beside the legacy ones, and systemd's own there. */
const CONTROL_GROUPS = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/systemd"];

/*
 * The keeper of one device that is on. Each device has control groups of its own: two systems that manage the same ones
 * kill each other's processes. Its overlay is mounted in a mount namespace of its own. The keeper is told by the kernel
 * when the process that started it has died, and then kills everything in the groups at once, as a power cut does, and
 * ends the servers whose files are in the device's folder: a run that is interrupted, however hard, leaves neither a
 * mount nor a process; its files go with the next run.
 */
const KEEPER = `
image=$1; directory=$2; shift 2
groups=
for hierarchy in ${CONTROL_GROUPS.join(" ")}; do
  if [ -f "$hierarchy/cgroup.procs" ]; then groups="$groups $hierarchy/$(basename "$directory")"; fi
done
cut() { for group in $groups; do if [ -f "$group/cgroup.kill" ]; then echo 1 >"$group/cgroup.kill"; fi; done; }
sweep() {
  for process in /proc/[0-9]*; do
    if tr '\\0' ' ' <"$process/cmdline" | grep -qF -- " $directory/"; then kill "\${process#/proc/}"; fi
  done 2>/dev/null
}
trap cut TERM
trap 'cut; sweep' HUP INT
mkdir -p $groups
unshare --mount --propagation private sh -euc '
  groups=$1; image=$2; directory=$3; shift 3
  for group in $groups; do echo $$ >"$group/cgroup.procs"; done
  mount -t overlay overlay -o "lowerdir=$image,upperdir=$directory/upper,workdir=$directory/work" "$directory/root"
  exec systemd-nspawn --directory="$directory/root" "$@"
' sh "$groups" "$image" "$directory" "$@" &
child=$!
until wait $child; [ ! -d /proc/$child ]; do :; done
cut
for try in $(seq 100); do
  find $groups -depth -type d -exec rmdir {} + 2>/dev/null && break
  sleep 0.05
done
exit 0`;

/** A booted, or switched off, device. */
export class LabDevice extends Device {
  override readonly system: LabSystem;
  override readonly directory: string;
  readonly #binds: Record<string, string>;
  #keeper: Deno.ChildProcess | null = null;
  #ended: Promise<unknown> = Promise.resolve();
  #init = 0;
  /** Control group of its systemd. */
  #controlGroup = "";

  private constructor({ system, binds }: LabDeviceOptions, directory: string) {
    super();
    this.system = system;
    this.directory = directory;
    this.#binds = { ...binds };
  }

  /**
   * Makes a device, switched off.
   *
   * @param options System, shared files
   */
  static async create(options: LabDeviceOptions): Promise<LabDevice> {
    const directory = await makeDeviceDirectory();
    for (const name of ["upper", "work", "root"]) await Deno.mkdir(`${directory}/${name}`, { mode: 0o755 });
    return new LabDevice(options, directory);
  }

  override get isOn(): boolean {
    return this.#keeper !== null;
  }

  override share(inside: string, outside: string): void {
    this.#binds[inside] = outside;
  }

  /** Its folders are the host's own. */
  override async refresh(): Promise<void> {}

  override async boot(): Promise<void> {
    const args = [
      "--boot",
      "--register=no",
      "--keep-unit",
      "--console=read-only",
      "--kill-signal=SIGRTMIN+3",
      "--capability=all",
      // Containers on the device make a keyring each.
      "--system-call-filter=@keyring",
      "--machine=device",
      ...Object.entries(this.#binds).map(([inside, outside]) => `--bind-ro=${outside}:${inside}`),
    ];
    const words = ["--pdeathsig", "HUP", "sh", "-c", KEEPER, "sh"];
    const log = await Deno.open(`${this.directory}/console.log`, { create: true, append: true });
    const child = new Deno.Command("setpriv", {
      args: [...words, imagePath(this.system), this.directory, ...args],
      env: { SYSTEMD_NSPAWN_UNIFIED_HIERARCHY: "1" },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#keeper = child;
    const output = Promise.all([
      child.stdout.pipeTo(log.writable, { preventClose: true }),
      child.stderr.pipeTo(new WritableStream({ write: (chunk) => void log.writeSync(chunk) })),
    ]).catch(() => {}).finally(() => log.close());
    this.#ended = Promise.all([child.status, output]).then(() => {
      this.#keeper = null;
      this.#init = 0;
    });
    await waitUntil("the device to boot", async () => {
      if (this.#keeper === null) throw new Error(`Cannot boot the device: see ${this.directory}/console.log`);
      this.#init = await firstChild(await firstChild(child.pid));
      this.#controlGroup = await controlGroup(this.#init);
      // Not before it has left the group above, which must have no process once it has groups below.
      if (!this.#controlGroup.endsWith("/init.scope")) return false;
      const { stdout } = await this.exec(["systemctl", "is-system-running"]);
      return /^(?:initializing|starting|running|degraded)$/.test(stdout.trim());
    }, BOOT_TIMEOUT_MS);
  }

  override hostPath(path: string): string {
    return `/proc/${this.#init}/root${path}`;
  }

  /** A command of the host that is a command of the device. */
  command(inside: AgentCommand): AgentCommand {
    return {
      program: "sh",
      args: this.#enter([inside.program, ...inside.args]),
      environment: inside.environment,
    };
  }

  /*
   * A process of the device is also in its control groups: logind and others refuse one from outside, and what is in
   * them ends with the device.
   */
  #enter(command: readonly string[]): string[] {
    const script = 'echo $$ >"$1" && shift && exec nsenter "$@"';
    const processes = `${this.#controlGroup}/cgroup.procs`;
    return ["-euc", script, "sh", processes, "--target", `${this.#init}`, "--all", "--", ...command];
  }

  override async exec(command: readonly string[], stdin?: string): Promise<DeviceRun> {
    const child = new Deno.Command("sh", {
      args: this.#enter(command),
      env: { LC_ALL: "C.UTF-8", PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" },
      clearEnv: true,
      stdin: stdin === undefined ? "null" : "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    if (stdin !== undefined) {
      const writer = child.stdin.getWriter();
      await writer.write(new TextEncoder().encode(stdin)).then(() => writer.close(), () => {});
    }
    const { code, stdout, stderr } = await child.output();
    return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
  }

  override async shutDown(verb: "poweroff" | "reboot"): Promise<void> {
    await this.exec(["systemctl", "--no-block", verb]);
    await waitUntil(`the device to ${verb}`, () => this.#keeper === null, POWEROFF_TIMEOUT_MS);
  }

  /** Kills every process at once. What was written stays: it is the end of processes, not of a disk. */
  override async cut(): Promise<void> {
    this.#keeper?.kill("SIGTERM");
    await this.#ended;
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.cut();
    await removeDevice(this.directory);
  }
}

async function firstChild(pid: number): Promise<number> {
  if (pid === 0) return 0;
  try {
    return Number((await Deno.readTextFile(`/proc/${pid}/task/${pid}/children`)).trim().split(" ")[0] ?? "0") || 0;
  } catch {
    return 0;
  }
}

/** Folder of a process's control group in the unified hierarchy; empty when there is none, or no such process. */
async function controlGroup(pid: number): Promise<string> {
  const path = /^0::(.*)$/m.exec(await Deno.readTextFile(`/proc/${pid}/cgroup`).catch(() => ""))?.[1];
  if (pid === 0 || path === undefined) return "";
  for (const mount of CONTROL_GROUPS) {
    const folder = `${mount}${path}`;
    if (await exists(`${folder}/cgroup.procs`)) return folder;
  }
  return "";
}

/** Devices that are containers on this machine's network. */
export const CONTAINERS: DeviceKind = {
  create: (options) => LabDevice.create(options),
  hostAddress: "127.0.0.1",
  patience: 1,
  // Long enough to act in it on a busy machine.
  holdMs: 4_000,
  lookIntervalMs: 10,
};

/** A folder for a device, and an end of those that runs which were killed have left. */
export async function makeDeviceDirectory(): Promise<string> {
  await removeStaleDevices();
  const devices = `${labCache()}/devices`;
  await Deno.mkdir(devices, { recursive: true });
  const directory = await Deno.makeTempDir({ dir: devices, prefix: `${Deno.pid}-` });
  // The folder above the device's root must let everybody through.
  await Deno.chmod(directory, 0o755);
  return directory;
}

/** Removes a device's folder. The overlay's work folder has no rights even for its owner; root may all the same. */
export async function removeDevice(directory: string): Promise<void> {
  await new Deno.Command("rm", { args: ["-rf", "--one-file-system", "--", directory], stderr: "null" }).output();
}

/** Removes what runs that were killed have left: their process ids are in the names. */
async function removeStaleDevices(): Promise<void> {
  const devices = `${labCache()}/devices`;
  try {
    for await (const { name } of Deno.readDir(devices)) {
      const pid = name.split("-")[0] ?? "";
      if (await exists(`/proc/${pid}`)) continue;
      await removeDevice(`${devices}/${name}`);
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch {
    return false;
  }
}
