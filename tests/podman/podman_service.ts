/**
 * A real Podman, its own in everything: storage, state and socket are in a temporary folder, and nothing of the
 * machine's own Podman is seen or touched.
 *
 * @module
 */
import { waitUntil } from "../nats/wait_until.ts";
import { ImageRegistry } from "./image_registry.ts";

const IMAGE = "localhost/app:1";

/**
 * Control groups, namespaces and limits as far as a container or a build machine gives them: runc takes control groups
 * of the first version, and crun none at all.
 */
function containersConf(hasRunc: boolean): string {
  return `[containers]
netns="host"
default_ulimits=["nofile=1024:1024", "nproc=1024:1024"]
${hasRunc ? "" : 'cgroups="disabled"'}
[engine]
cgroup_manager="cgroupfs"
events_logger="file"
${hasRunc ? 'runtime="runc"' : ""}
`;
}

async function succeeds(command: string, ...args: string[]): Promise<boolean> {
  try {
    return (await new Deno.Command(command, { args, stdout: "null", stderr: "null" }).output()).success;
  } catch {
    return false;
  }
}

/** Why no real Podman can be had here; undefined when one can. */
export async function podmanMissing(): Promise<string | undefined> {
  if (!await succeeds("podman", "--version")) return "podman is not installed";
  const busybox = await busyboxPath();
  if (busybox === undefined) return "busybox-static is not installed";
  // Only a container that has run is a proof.
  const service = await PodmanService.start();
  try {
    const { code, stderr } = await service.podman("run", "--rm", IMAGE, "/bin/true");
    return code === 0 ? undefined : `podman runs no container here: ${stderr.trim().split("\n").at(-1)}`;
  } finally {
    await service.close();
  }
}

async function busyboxPath(): Promise<string | undefined> {
  for (const path of ["/usr/bin/busybox", "/bin/busybox"]) {
    if (await succeeds(path, "true")) return path;
  }
  return undefined;
}

/** A real Podman at a socket of its own. */
export class PodmanService {
  readonly directory: string;
  readonly registry = new ImageRegistry();
  readonly image = IMAGE;
  /** The file system of the image, as a tar. */
  layer: Uint8Array = new Uint8Array();
  #child: Deno.ChildProcess | undefined;

  private constructor(directory: string) {
    this.directory = directory;
  }

  /** Starts one, with an image of busybox on it. */
  static async start(): Promise<PodmanService> {
    // A short path: sockets of Podman's helpers are below it.
    const service = new PodmanService(await Deno.makeTempDir({ prefix: "pm-" }));
    try {
      await service.#prepare();
      await service.#serve();
      return service;
    } catch (error) {
      await service.close();
      throw error;
    }
  }

  get socket(): string {
    return `${this.directory}/podman.sock`;
  }

  /** Runs podman's command line on the same storage. */
  async podman(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
    const { code, stderr, stdout } = await new Deno.Command("podman", {
      args: [...this.#global(), ...args],
      env: this.#environment(),
    }).output();
    return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
  }

  /** Ends the service as a crash does; containers run on. */
  async kill(): Promise<void> {
    this.#child?.kill("SIGKILL");
    await this.#child?.status;
    this.#child = undefined;
  }

  /** Starts the service again. */
  async restart(): Promise<void> {
    await this.kill();
    await Deno.remove(this.socket).catch(() => {});
    await this.#serve();
  }

  /** Ends every container and the service, and removes everything. */
  async close(): Promise<void> {
    await this.kill();
    await this.podman("rm", "--all", "--force", "--time=0").catch(() => {});
    await this.registry.close();
    // The clean-up of a container that ended runs as a process of its own, and may still write.
    await waitUntil(
      "an empty folder",
      () => Deno.remove(this.directory, { recursive: true }).then(() => true, () => false),
    );
  }

  #global(): string[] {
    const { directory } = this;
    return [
      "--root",
      `${directory}/root`,
      "--runroot",
      `${directory}/run`,
      "--tmpdir",
      `${directory}/state`,
      "--storage-driver=vfs",
    ];
  }

  #environment(): Record<string, string> {
    return {
      CONTAINERS_CONF: `${this.directory}/containers.conf`,
      CONTAINERS_REGISTRIES_CONF: `${this.directory}/registries.conf`,
      TMPDIR: `${this.directory}/tmp`,
    };
  }

  async #prepare(): Promise<void> {
    const { directory } = this;
    const busybox = await busyboxPath() ?? "/bin/busybox";
    const root = `${directory}/image`;
    for (const folder of [`${root}/bin`, `${root}/tmp`, `${directory}/tmp`]) {
      await Deno.mkdir(folder, { recursive: true });
    }
    await Deno.copyFile(busybox, `${root}/bin/busybox`);
    for (const name of ["sh", "sleep", "cat", "true"]) await Deno.symlink("busybox", `${root}/bin/${name}`);
    await Deno.writeTextFile(`${directory}/containers.conf`, containersConf(await succeeds("runc", "--version")));
    await Deno.writeTextFile(
      `${directory}/registries.conf`,
      `[[registry]]\nlocation = ${JSON.stringify(this.registry.host)}\ninsecure = true\n`,
    );
    await new Deno.Command("tar", { args: ["-C", root, "-cf", `${directory}/layer.tar`, "."] }).output();
    this.layer = await Deno.readFile(`${directory}/layer.tar`);
    const { code, stderr } = await this.podman("import", `${directory}/layer.tar`, IMAGE);
    if (code !== 0) throw new Error(`Cannot import an image: ${stderr}`);
  }

  async #serve(): Promise<void> {
    this.#child = new Deno.Command("podman", {
      args: [...this.#global(), "system", "service", "--time=0", `unix://${this.socket}`],
      env: this.#environment(),
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    await waitUntil("Podman's socket", async () => await Deno.lstat(this.socket).then(() => true, () => false), 30_000);
  }
}
