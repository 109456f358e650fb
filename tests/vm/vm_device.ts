/**
 * A device that is a virtual machine: a kernel and a disk of its own, emulated by qemu. A cut of its power is SIGKILL to
 * qemu: what the device had not written to its disk is gone with its memory. Everything of it ends with the process that
 * made it.
 *
 * @module
 */
import { Device, type DeviceKind, type DeviceRun, type LabDeviceOptions } from "../lab/device.ts";
import { makeDeviceDirectory, removeDevice } from "../lab/lab_device.ts";
import type { LabSystem } from "../lab/lab_image.ts";
import { waitUntil } from "../nats/wait_until.ts";
import { GUEST_PORTS, SHARED_FOLDER, vmImage } from "./vm_image.ts";
import { bridgeSocket, freePort, runScript, sendFiles, shellQuote } from "./vm_wires.ts";

const BOOT_TIMEOUT_MS = 1_800_000;
const POWEROFF_TIMEOUT_MS = 1_800_000;
const PROBE_TIMEOUT_MS = 15_000;
const COMMAND_TIMEOUT_MS = 1_800_000;
const MEMORY_MIB = 1024;
/** One is faster where other work competes: two wait for one another. */
const PROCESSORS = Deno.env.get("HARMONY_VM_PROCESSORS") ?? "2";

/*
 * The keeper of one machine. It is told by the kernel when the process that started it has died, and then ends the
 * machine and the servers whose files are in the device's folder.
 */
const KEEPER = `
directory=$1; shift
sweep() {
  for process in /proc/[0-9]*; do
    if tr '\\0' ' ' <"$process/cmdline" | grep -qF -- " $directory/"; then kill "\${process#/proc/}"; fi
  done 2>/dev/null
}
trap 'kill -KILL $child' TERM
trap 'kill -KILL $child; sweep' HUP INT
"$@" &
child=$!
until wait $child; [ ! -d /proc/$child ]; do :; done
exit 0`;

/** A booted, or switched off, virtual machine. */
export class VmDevice extends Device {
  override readonly system: LabSystem;
  override readonly directory: string;
  readonly #binds: Record<string, string>;
  readonly #ports: Record<keyof typeof GUEST_PORTS, number> = { shell: 0, updater: 0, files: 0 };
  readonly #bridge: Disposable;
  #sent = new Map<string, number>();
  #keeper: Deno.ChildProcess | null = null;
  #ended: Promise<unknown> = Promise.resolve();

  private constructor({ system, binds }: LabDeviceOptions, directory: string) {
    super();
    this.system = system;
    this.directory = directory;
    this.#binds = { ...binds };
    this.#bridge = bridgeSocket(this.hostPath(), () => this.#ports.updater);
  }

  /**
   * Makes a device, switched off.
   *
   * @param options System, shared files
   */
  static async create(options: LabDeviceOptions): Promise<VmDevice> {
    const directory = await makeDeviceDirectory();
    const { success, stderr } = await new Deno.Command("cp", {
      args: ["--sparse=always", "--reflink=auto", vmImage(options.system).disk, `${directory}/disk.img`],
    }).output();
    if (!success) throw new Error(`Cannot make the device's disk: ${new TextDecoder().decode(stderr)}`);
    return new VmDevice(options, directory);
  }

  override get isOn(): boolean {
    return this.#keeper !== null;
  }

  override share(inside: string, outside: string): void {
    if (!inside.startsWith(`${SHARED_FOLDER}/`)) throw new RangeError(`${inside} is not below ${SHARED_FOLDER}`);
    this.#binds[inside] = outside;
  }

  /** Files are sent once, and again when they have changed. */
  override async refresh(): Promise<void> {
    for (const [inside, outside] of Object.entries(this.#binds)) {
      await sendFiles(this.#ports.files, inside.slice(SHARED_FOLDER.length + 1), outside, this.#sent);
    }
    await this.sh("sync");
  }

  override async boot(): Promise<void> {
    for (const name of ["shell", "updater", "files"] as const) this.#ports[name] = freePort();
    const log = await Deno.open(`${this.directory}/console.log`, { create: true, append: true });
    const child = new Deno.Command("setpriv", {
      args: ["--pdeathsig", "HUP", "sh", "-c", KEEPER, "sh", this.directory, ...this.#machine()],
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
    });
    await waitUntil("the machine to boot", async () => {
      if (this.#keeper === null) throw new Error(`Cannot boot the machine: see ${this.directory}/console.log`);
      const { stdout } = await this.#run(["systemctl", "is-system-running"], PROBE_TIMEOUT_MS);
      return /^(?:initializing|starting|running|degraded)$/.test(stdout.trim());
    }, BOOT_TIMEOUT_MS);
    if (this.#sent.size === 0) await this.refresh();
  }

  #machine(): string[] {
    const forwards = (["shell", "updater", "files"] as const).map((name) =>
      `hostfwd=tcp:127.0.0.1:${this.#ports[name]}-:${GUEST_PORTS[name]}`
    );
    const kernelLine = "root=/dev/nvme0n1 rw console=ttyS0 net.ifnames=0 mitigations=off panic=-1 quiet " +
      "systemd.show_status=no";
    return [
      "qemu-system-x86_64",
      ...["-accel", "tcg,thread=multi", "-machine", "q35", "-cpu", "max", "-smp", PROCESSORS, "-m", `${MEMORY_MIB}`],
      ...["-nodefaults", "-display", "none", "-serial", "stdio", "-no-reboot"],
      ...["-drive", `file=${this.directory}/disk.img,if=none,id=disk,format=raw,cache=writeback`],
      ...["-device", "nvme,drive=disk,serial=1", "-device", "virtio-rng-pci"],
      ...["-netdev", ["user,id=net", ...forwards].join(","), "-device", "virtio-net-pci,netdev=net,romfile="],
      ...["-kernel", vmImage(this.system).kernel, "-append", kernelLine],
    ];
  }

  override hostPath(): string {
    return `${this.directory}/updater.sock`;
  }

  override exec(command: readonly string[], stdin?: string): Promise<DeviceRun> {
    return this.#run(command, COMMAND_TIMEOUT_MS, stdin);
  }

  async #run(command: readonly string[], timeoutMs: number, stdin = ""): Promise<DeviceRun> {
    const unreachable = { code: 255, stdout: "", stderr: "the machine cannot be reached" };
    if (this.#keeper === null) return unreachable;
    const line = command.map(shellQuote).join(" ");
    return await runScript(this.#ports.shell, line, { stdin, timeoutMs, ended: this.#ended }) ?? unreachable;
  }

  override async shutDown(verb: "poweroff" | "reboot"): Promise<void> {
    await this.exec(["systemctl", "--no-block", verb]);
    await waitUntil(`the machine to ${verb}`, () => this.#keeper === null, POWEROFF_TIMEOUT_MS);
  }

  override async cut(): Promise<void> {
    this.#keeper?.kill("SIGTERM");
    await this.#ended;
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.cut();
    this.#bridge[Symbol.dispose]();
    await removeDevice(this.directory);
  }
}

/** Devices that are virtual machines. */
export const MACHINES: DeviceKind = {
  create: (options) => VmDevice.create(options),
  // The user network of qemu.
  hostAddress: "10.0.2.2",
  // A machine that is emulated on a busy one can be starved for minutes.
  patience: 30,
  holdMs: 20_000,
  lookIntervalMs: 250,
};
