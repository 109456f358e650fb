/**
 * A signed apt repository on this machine's loopback address, with packages made by the test, which every device of the lab
 * reaches. Its faults are switched on one by one.
 *
 * @module
 */
import { createHash } from "node:crypto";

/** A package. */
export interface LabPackage {
  readonly name: string;
  readonly version: string;
  readonly depends?: string;
  readonly conflicts?: string;
  /** Files by path, without the first slash. */
  readonly files?: Readonly<Record<string, string>>;
  /** Those of them that are configuration. */
  readonly conffiles?: readonly string[];
  /** Body of the script that configures it. */
  readonly postinst?: string;
  /** Bytes of a file of its own, for packages that must be large. */
  readonly payloadBytes?: number;
}

/** What is wrong with the repository. */
export type RepositoryFault = "none" | "down" | "other-key" | "future" | "bad-archive";

/** Programs that it needs, for a test that cannot run without them. */
export const REPOSITORY_TOOLS = ["dpkg-deb", "gpg", "gpgconf"] as const;

const FUTURE_MS = 3 * 24 * 3_600_000;

async function run(program: string, args: readonly string[], stdin?: string): Promise<string> {
  const child = new Deno.Command(program, {
    args: [...args],
    stdin: stdin === undefined ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  if (stdin !== undefined) {
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(stdin));
    await writer.close();
  }
  const { success, stdout, stderr } = await child.output();
  if (!success) throw new Error(`Cannot run ${program}: ${new TextDecoder().decode(stderr).trim()}`);
  return new TextDecoder().decode(stdout);
}

interface BuiltPackage {
  readonly name: string;
  readonly fileName: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly control: string;
}

/** A signed apt repository. */
export class AptRepository implements AsyncDisposable {
  readonly #directory: string;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #files = new Map<string, Uint8Array<ArrayBuffer>>();
  readonly #packages = new Map<string, BuiltPackage>();
  #fault: RepositoryFault = "none";

  readonly #address: string;

  private constructor(directory: string, address: string) {
    this.#directory = directory;
    this.#address = address;
    this.#server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      (request) => this.#answer(new URL(request.url).pathname),
    );
  }

  /**
   * Makes an empty one, and its keys.
   *
   * @param address Under which devices reach this machine's loopback interface. Default itself
   */
  static async start(address = "127.0.0.1"): Promise<AptRepository> {
    // Short: the key's agent listens on a socket below it.
    const directory = await Deno.makeTempDir({ prefix: "apt-" });
    const repository = new AptRepository(directory, address);
    for (const key of ["key", "other-key"]) {
      await Deno.mkdir(`${directory}/${key}`, { mode: 0o700 });
      const how = ["--batch", "--passphrase", "", "--quick-generate-key", "lab@localhost", "rsa2048", "sign", "never"];
      await run("gpg", ["--homedir", `${directory}/${key}`, ...how]);
    }
    await repository.#publish();
    return repository;
  }

  /** The key that devices trust, as text. */
  key(): Promise<string> {
    return run("gpg", ["--homedir", `${this.#directory}/key`, "--batch", "--armor", "--export", "lab@localhost"]);
  }

  /** Where a device finds its key. */
  readonly keyPath = "/etc/apt/keyrings/lab.asc";

  /** The line of a device's sources. */
  get sourcesLine(): string {
    return `deb [signed-by=${this.keyPath}] http://${this.#address}:${this.#server.addr.port} stable main\n`;
  }

  /** Switches a fault on, or all of them off. */
  async setFault(fault: RepositoryFault): Promise<void> {
    this.#fault = fault;
    await this.#publish();
  }

  /** Puts packages into the repository; a newer version takes the place of an older one. */
  async add(...packages: readonly LabPackage[]): Promise<void> {
    for (const one of packages) this.#packages.set(one.name, await this.build(one));
    await this.#publish();
  }

  /** Builds a package, without putting it into the repository. */
  async build(one: LabPackage): Promise<BuiltPackage> {
    const folder = await Deno.makeTempDir({ dir: this.#directory, prefix: "package-" });
    await Deno.chmod(folder, 0o755);
    await Deno.mkdir(`${folder}/DEBIAN`, { mode: 0o755 });
    const control = [
      `Package: ${one.name}`,
      `Version: ${one.version}`,
      "Architecture: all",
      "Maintainer: Lab <lab@localhost>",
      "Section: misc",
      "Priority: optional",
      ...(one.depends === undefined ? [] : [`Depends: ${one.depends}`]),
      ...(one.conflicts === undefined ? [] : [`Conflicts: ${one.conflicts}`]),
      "Description: a package of the lab",
    ].join("\n");
    await Deno.writeTextFile(`${folder}/DEBIAN/control`, `${control}\n`);
    const files: Record<string, string> = { [`usr/share/${one.name}/version`]: `${one.version}\n`, ...one.files };
    for (const [path, text] of Object.entries(files)) {
      await Deno.mkdir(`${folder}/${path.slice(0, path.lastIndexOf("/"))}`, { recursive: true, mode: 0o755 });
      await Deno.writeTextFile(`${folder}/${path}`, text);
    }
    if (one.payloadBytes !== undefined) {
      const bytes = new Uint8Array(one.payloadBytes);
      for (let at = 0; at < bytes.byteLength; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
      await Deno.mkdir(`${folder}/srv/${one.name}`, { recursive: true, mode: 0o755 });
      await Deno.writeFile(`${folder}/srv/${one.name}/payload`, bytes);
    }
    if (one.conffiles !== undefined) {
      await Deno.writeTextFile(`${folder}/DEBIAN/conffiles`, one.conffiles.map((path) => `/${path}\n`).join(""));
    }
    if (one.postinst !== undefined) {
      await Deno.writeTextFile(`${folder}/DEBIAN/postinst`, `#!/bin/sh\nset -e\n${one.postinst}\n`, { mode: 0o755 });
    }
    const fileName = `${one.name}_${one.version}_all.deb`;
    const path = `${this.#directory}/${fileName}`;
    await run("dpkg-deb", ["--build", "--root-owner-group", "-Znone", folder, path]);
    const bytes = await Deno.readFile(path);
    await Deno.remove(folder, { recursive: true });
    return { name: one.name, fileName, bytes, control };
  }

  async #publish(): Promise<void> {
    const index = [...this.#packages.values()].map(({ fileName, bytes, control }) =>
      `${control}\nFilename: pool/${fileName}\nSize: ${bytes.byteLength}\nSHA256: ${sha256(bytes)}\n`
    ).join("\n");
    const encoder = new TextEncoder();
    const packages = encoder.encode(index);
    const dateMs = Date.now() + (this.#fault === "future" ? FUTURE_MS : 0);
    const architecture = Deno.build.arch === "x86_64" ? "amd64" : "arm64";
    const name = `main/binary-${architecture}/Packages`;
    const release = [
      "Origin: Lab",
      "Label: Lab",
      "Suite: stable",
      "Codename: stable",
      `Date: ${new Date(dateMs).toUTCString()}`,
      `Architectures: ${architecture}`,
      "Components: main",
      "SHA256:",
      ` ${sha256(packages)} ${packages.byteLength} ${name}`,
    ].join("\n");
    const key = this.#fault === "other-key" ? "other-key" : "key";
    const how = [
      "--homedir",
      `${this.#directory}/${key}`,
      "--batch",
      "--yes",
      "--clearsign",
      "--digest-algo",
      "SHA512",
    ];
    const signed = await run("gpg", how, `${release}\n`);
    this.#files.clear();
    this.#files.set("/dists/stable/InRelease", encoder.encode(signed));
    this.#files.set(`/dists/stable/${name}`, packages);
    for (const { fileName, bytes } of this.#packages.values()) this.#files.set(`/pool/${fileName}`, bytes);
  }

  #answer(path: string): Response {
    if (this.#fault === "down") return new Response("", { status: 503 });
    const found = this.#files.get(decodeURIComponent(path));
    if (found === undefined) return new Response("", { status: 404 });
    if (this.#fault !== "bad-archive" || !path.startsWith("/pool/")) return new Response(found);
    const altered = found.slice();
    altered[altered.byteLength - 1] = (altered.at(-1) ?? 0) ^ 1;
    return new Response(altered);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
    for (const key of ["key", "other-key"]) {
      await run("gpgconf", ["--homedir", `${this.#directory}/${key}`, "--kill", "all"]);
    }
    await Deno.remove(this.#directory, { recursive: true });
  }
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
