/**
 * Root file systems of the devices in the lab: made once per system by `mmdebstrap`, from the machine's own package
 * sources, and kept in a cache. Devices lay a file system of their own over them.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";

/** Systems that devices run. */
export const LAB_SYSTEMS = ["debian-12", "debian-13"] as const;
/** One of {@link LAB_SYSTEMS}. */
export type LabSystem = (typeof LAB_SYSTEMS)[number];

const SUITES: Readonly<Record<LabSystem, string>> = { "debian-12": "bookworm", "debian-13": "trixie" };
/** What a small real device has, what installs it, and rootless Podman; minbase leaves out what is only recommended. */
const PACKAGES = [
  "systemd",
  "systemd-sysv",
  "dbus",
  "dbus-user-session",
  "libpam-systemd",
  "ca-certificates",
  "udev",
  "iproute2",
  "podman",
  "crun",
  "uidmap",
  "slirp4netns",
  "passt",
  "netavark",
  "aardvark-dns",
  // Scenarios make container images of it, and ask sockets with the other.
  "busybox-static",
  "curl",
] as const;

/*
 * What Podman needs to know on a device that is a container itself: it may neither raise limits nor hand control groups
 * on, and its disk is an overlay, over which no other can lie. install.sh writes nothing of this on a real device.
 */
const FILES: Readonly<Record<string, string>> = {
  "etc/containers/containers.conf": `[containers]
cgroups = "disabled"
netns = "host"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
`,
  "etc/containers/storage.conf": `[storage]
driver = "vfs"
runroot = "/run/containers/storage"
graphroot = "/var/lib/containers/storage"
`,
};

const SOURCES_DIRECTORY = "/etc/apt/sources.list.d";
const OLD_SOURCES = "/etc/apt/sources.list";

/** The cache: `HARMONY_LAB_CACHE`, or a folder of `.tools/`, which no repository tracks. */
export function labCache(): string {
  const configured = Deno.env.get("HARMONY_LAB_CACHE") ?? "";
  return configured === "" ? fileURLToPath(new URL("../../.tools/lab", import.meta.url)) : configured;
}

/** Where a system's image is, whether made or not: another list of packages or another recipe is another image. */
export function imagePath(system: LabSystem): string {
  const recipe = createHash("sha256").update(JSON.stringify([PACKAGES, FILES])).digest("hex");
  return `${labCache()}/${SUITES[system]}-${recipe.slice(0, 8)}`;
}

/** Whether a system's image has been made. */
export function hasImage(system: LabSystem): boolean {
  try {
    return Deno.statSync(`${imagePath(system)}/etc/os-release`).isFile;
  } catch {
    return false;
  }
}

async function readIfThere(path: string): Promise<string> {
  try {
    return await Deno.readTextFile(path);
  } catch {
    return "";
  }
}

/** The machine's own sources for another suite: mirrors and keys stay, names of the suite change. */
export function sourcesFor(text: string, own: string, suite: string): string {
  return text.replaceAll(new RegExp(`(?<=\\s)${own}(?=[-\\s]|$)`, "g"), suite);
}

async function debianSources(suite: string): Promise<{ readonly text: string; readonly extension: string }> {
  const own = /^VERSION_CODENAME=(\w+)$/m.exec(await readIfThere("/etc/os-release"))?.[1] ?? "";
  const names = [...Deno.readDirSync(SOURCES_DIRECTORY)].map(({ name }) => name).filter((name) =>
    name.endsWith(".sources")
  );
  const modern = await Promise.all(names.map((name) => readIfThere(`${SOURCES_DIRECTORY}/${name}`)));
  const found = modern.find((text) => own !== "" && new RegExp(`^Suites:.*\\b${own}\\b`, "m").test(text));
  const text = found ?? await readIfThere(OLD_SOURCES);
  if (own === "" || !text.includes(own)) throw new Error("Cannot make images: this machine has no Debian sources");
  return { text: sourcesFor(text, own, suite), extension: found === undefined ? "list" : "sources" };
}

/**
 * Makes a system's image unless it is there.
 *
 * @param system Which
 * @param say Where progress goes
 * @throws {Error} when it cannot be made
 */
export async function ensureImage(system: LabSystem, say: (line: string) => void): Promise<void> {
  if (hasImage(system)) return;
  const suite = SUITES[system];
  const target = imagePath(system);
  say(`making the image of ${system} (a few minutes, once)`);
  await Deno.mkdir(labCache(), { recursive: true });
  const work = await Deno.makeTempDir({ dir: labCache(), prefix: `.${suite}-` });
  try {
    await bootstrap(system, PACKAGES, work);
    for (const [path, text] of Object.entries(FILES)) await Deno.writeTextFile(`${work}/root/${path}`, text);
    await Deno.chmod(`${work}/root`, 0o755);
    await Deno.rename(`${work}/root`, target);
    await removeOutdated(suite, target);
  } finally {
    await Deno.remove(work, { recursive: true });
  }
}

/**
 * Makes a root file system, `root` in a folder.
 *
 * @param system Of which system
 * @param packages Packages beside the essential ones
 * @param work The folder
 * @throws {Error} when it cannot be made
 */
export async function bootstrap(system: LabSystem, packages: readonly string[], work: string): Promise<void> {
  const suite = SUITES[system];
  const { text, extension } = await debianSources(suite);
  const sources = `${work}/sources.${extension}`;
  await Deno.writeTextFile(sources, text);
  const { success, stderr } = await new Deno.Command("mmdebstrap", {
    args: ["--variant=minbase", `--include=${packages.join(",")}`, suite, `${work}/root`, sources],
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  if (success) return;
  const last = new TextDecoder().decode(stderr).trim().split("\n").slice(-3).join("; ");
  throw new Error(`Cannot make the image of ${system}: ${last}`);
}

/** Removes images of a suite that were made by another recipe, which nothing looks for any more. */
async function removeOutdated(suite: string, current: string): Promise<void> {
  for await (const { name } of Deno.readDir(labCache())) {
    const path = `${labCache()}/${name}`;
    if (name !== suite && !name.startsWith(`${suite}-`) || path === current) continue;
    await Deno.remove(path, { recursive: true });
  }
}
