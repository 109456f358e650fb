/**
 * Disks of the devices that are virtual machines: made once per system, with the system's own kernel, which starts from
 * the disk without an initial ramdisk. Units that no device here needs are masked, since an emulated processor is slow.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { bootstrap, labCache, type LabSystem } from "../lab/lab_image.ts";

/** Ports on which a device lets this machine in. */
export const GUEST_PORTS = { shell: 22, updater: 23, files: 24 } as const;
/** Where a device has files of this machine. */
export const SHARED_FOLDER = "/mnt";
/** Where a device keeps what its disk held before the updater saw it. */
export const BOOT_SNAPSHOT = "/run/vm-boot";

const PACKAGES = [
  "systemd",
  "systemd-sysv",
  "dbus",
  "dbus-user-session",
  "libpam-systemd",
  "ca-certificates",
  "udev",
  "iproute2",
  "linux-image-cloud-amd64",
  "socat",
] as const;

const DISK_BYTES = 4 * 1024 ** 3;

/** A unit that is there from the first moment on, and stays until the last. */
function early(description: string, lines: string): string {
  return `[Unit]
Description=${description}
DefaultDependencies=no
${lines}
[Install]
WantedBy=sysinit.target
`;
}

function listener(port: number, address: string): string {
  // An end of one side is passed on, and the other side's answer is waited for, however long it takes.
  return `/usr/bin/socat -t86400 TCP-LISTEN:${port},reuseaddr,fork ${address}`;
}

function way(description: string, port: number, address: string): string {
  return early(
    description,
    `After=vm-network.service\n[Service]\nExecStart=${listener(port, address)}\nRestart=always`,
  );
}

/* The journal, the link and the binaries as they are found, before the updater can change them. */
const SNAPSHOT = `mkdir -p ${BOOT_SNAPSHOT}
cp -p /var/lib/harmony-fleet/updater/upgrade.json ${BOOT_SNAPSHOT}/journal || :
readlink /usr/local/bin/fleet-agent >${BOOT_SNAPSHOT}/link || :
`;

const FILES: Readonly<Record<string, string>> = {
  "etc/fstab": "/dev/nvme0n1 / ext4 rw 0 1\n",
  "etc/hostname": "device\n",
  "etc/modules-load.d/vm.conf": "virtio_net\n",
  "etc/systemd/system/vm-network.service": early(
    "Network of the machine that runs this one",
    `After=systemd-modules-load.service
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh -euc 'ip link set lo up; ip link set eth0 up; ip addr add 10.0.2.15/24 dev eth0; \\
  ip route add default via 10.0.2.2'`,
  ),
  "usr/local/lib/vm-snapshot": SNAPSHOT,
  "etc/systemd/system/vm-snapshot.service": early(
    "What the disk holds at boot",
    `After=local-fs.target
Before=sysinit.target
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh /usr/local/lib/vm-snapshot`,
  ),
  "etc/systemd/system/vm-shell.service": way("Way in", GUEST_PORTS.shell, "EXEC:/bin/sh"),
  "etc/systemd/system/vm-updater.service": way(
    "Way to the updater",
    GUEST_PORTS.updater,
    "UNIX-CONNECT:/run/harmony-fleet/updater.sock",
  ),
  "etc/systemd/system/vm-files.service": way(
    "Way in for files",
    GUEST_PORTS.files,
    `EXEC:"tar -x -C ${SHARED_FOLDER}"`,
  ),
};
const ENABLED = ["vm-network", "vm-snapshot", "vm-shell", "vm-updater", "vm-files"] as const;
const MASKED = [
  ...["apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer", "fstrim.timer", "e2scrub_all.timer"],
  ...["e2scrub_reap.service", "getty.target", "systemd-tmpfiles-clean.timer", "systemd-logind.service"],
  ...["systemd-udevd.service", "systemd-udevd-control.socket", "systemd-udevd-kernel.socket"],
  ...["systemd-udev-trigger.service", "kmod-static-nodes.service", "systemd-sysusers.service"],
  ...["systemd-update-utmp.service", "systemd-update-utmp-runlevel.service", "systemd-binfmt.service"],
  ...["systemd-pcrphase.service", "systemd-pcrphase-sysinit.service", "proc-sys-fs-binfmt_misc.automount"],
  ...["dev-hugepages.mount", "dev-mqueue.mount", "sys-kernel-debug.mount", "sys-kernel-tracing.mount"],
  ...["sys-kernel-config.mount", "sys-fs-fuse-connections.mount"],
  ...["configfs", "dm_mod", "drm", "efi_pstore", "fuse", "loop"].map((name) => `modprobe@${name}.service`),
] as const;

/** What a system's devices start from. */
export interface VmImage {
  /** A raw image of the file system. */
  readonly disk: string;
  readonly kernel: string;
}

/** Where a system's image is, whether made or not: another recipe is another image. */
export function vmImage(system: LabSystem): VmImage {
  const recipe = createHash("sha256").update(JSON.stringify([PACKAGES, FILES, ENABLED, MASKED, DISK_BYTES]));
  const folder = `${labCache()}/vm-${system}-${recipe.digest("hex").slice(0, 8)}`;
  return { disk: `${folder}/disk.img`, kernel: `${folder}/vmlinuz` };
}

/** Whether a system's image has been made. */
export function hasVmImage(system: LabSystem): boolean {
  try {
    return Deno.statSync(vmImage(system).disk).isFile;
  } catch {
    return false;
  }
}

/**
 * Makes a system's image unless it is there.
 *
 * @param system Which
 * @param say Where progress goes
 * @throws {Error} when it cannot be made
 */
export async function ensureVmImage(system: LabSystem, say: (line: string) => void): Promise<void> {
  if (hasVmImage(system)) return;
  say(`making the disk of ${system} (a few minutes, once)`);
  const { disk } = vmImage(system);
  const target = disk.slice(0, disk.lastIndexOf("/"));
  await Deno.mkdir(labCache(), { recursive: true });
  const work = await Deno.makeTempDir({ dir: labCache(), prefix: ".vm-" });
  try {
    await bootstrap(system, PACKAGES, work);
    await configure(`${work}/root`);
    await Deno.mkdir(`${work}/made`);
    await takeKernel(`${work}/root/boot`, `${work}/made/vmlinuz`);
    const made = await Deno.create(`${work}/made/disk.img`);
    await made.truncate(DISK_BYTES);
    made.close();
    await run("mkfs.ext4", ["-q", "-d", `${work}/root`, `${work}/made/disk.img`]);
    await removeOutdated(system);
    await Deno.rename(`${work}/made`, target);
  } finally {
    await Deno.remove(work, { recursive: true });
  }
}

async function configure(root: string): Promise<void> {
  await Deno.chmod(root, 0o755);
  for (const [path, text] of Object.entries(FILES)) {
    await Deno.mkdir(`${root}/${path.slice(0, path.lastIndexOf("/"))}`, { recursive: true });
    await Deno.writeTextFile(`${root}/${path}`, text);
  }
  await run("systemctl", [`--root=${root}`, "--quiet", "enable", ...ENABLED]);
  await run("systemctl", [`--root=${root}`, "--quiet", "mask", ...MASKED]);
  await Deno.writeTextFile(`${root}/etc/machine-id`, "");
  await run("systemd-machine-id-setup", [`--root=${root}`]);
}

async function takeKernel(boot: string, target: string): Promise<void> {
  const names = [...Deno.readDirSync(boot)].map(({ name }) => name).filter((name) => name.startsWith("vmlinuz-"));
  const name = names.toSorted().at(-1);
  if (name === undefined) throw new Error("Cannot make the disk: there is no kernel on it");
  await Deno.copyFile(`${boot}/${name}`, target);
  await Deno.remove(boot, { recursive: true });
  await Deno.mkdir(boot);
}

async function removeOutdated(system: LabSystem): Promise<void> {
  for await (const { name } of Deno.readDir(labCache())) {
    if (name.startsWith(`vm-${system}-`)) await Deno.remove(`${labCache()}/${name}`, { recursive: true });
  }
}

async function run(command: string, args: readonly string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(command, {
    args: [...args],
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  if (success) return;
  const last = new TextDecoder().decode(stderr).trim().split("\n").at(-1);
  throw new Error(`Cannot make the disk: ${command}: ${last}`);
}
