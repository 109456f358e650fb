/**
 * A real docker-registry behind a token service, fleetctl before it, and a device that fetches from it.
 *
 * @module
 */
import { runFleetctl } from "../../operator/cli/run_fleetctl.ts";
import { MemoryTerminal } from "../fakes/memory_terminal.ts";
import { artifactBytes, type ArtifactWorld, withArtifactWorld } from "./artifact_world.ts";
import { startDockerRegistry } from "./servers/docker_registry.ts";
import type { ServerProcess } from "./servers/server_process.ts";
import { startTokenService, type TokenService } from "./servers/token_service.ts";

/** Bytes that begin as a program for an architecture does. */
export function programBytes(sizeBytes: number, arch: "x86_64" | "aarch64", seed = 1): Uint8Array<ArrayBuffer> {
  const bytes = artifactBytes(sizeBytes, seed);
  bytes.set([0x7f, 0x45, 0x4c, 0x46, 2, 1]);
  new DataView(bytes.buffer).setUint16(18, arch === "x86_64" ? 62 : 183, true);
  return bytes;
}

/** How a command line ended. */
export interface FleetctlRun {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A registry, and what speaks to it. */
export interface RegistryWorld extends ArtifactWorld {
  readonly registry: ServerProcess;
  /** Null when the registry is open to everybody. */
  readonly tokens: TokenService | null;
  /** Writes a file; gives its path. */
  file(name: string, bytes: Uint8Array): Promise<string>;
  /** Runs fleetctl, which trusts the world's authority and has the login of the token service. */
  fleetctl(args: readonly string[], environment?: Readonly<Record<string, string>>): Promise<FleetctlRun>;
}

const USER = "ci";
const PASSWORD = "only for this test";

/** Runs a test with a registry. */
export function withRegistry(
  program: string,
  options: { readonly tokens: boolean },
  test: (world: RegistryWorld) => Promise<void>,
): Promise<void> {
  return withArtifactWorld(async (world) => {
    const certificate = await world.authority.issue();
    await using stack = new AsyncDisposableStack();
    const tokens = options.tokens
      ? stack.use(startTokenService({
        certificate,
        signer: await world.authority.issue(),
        service: "tests",
        user: USER,
        password: PASSWORD,
      }))
      : null;
    const registry = stack.use(
      await startDockerRegistry({
        program,
        directory: `${world.directory}/r`,
        certificate,
        ...(tokens === null ? {} : {
          tokens: { realm: tokens.realm, service: "tests", issuer: tokens.issuer, caCert: world.authority.caCert },
        }),
      }),
    );
    const login = tokens === null ? {} : { FLEETCTL_REGISTRY_USER: USER, FLEETCTL_REGISTRY_PASSWORD: PASSWORD };
    await test({
      ...world,
      registry,
      tokens,
      file: async (name, bytes) => {
        await Deno.writeFile(`${world.directory}/${name}`, bytes);
        return `${world.directory}/${name}`;
      },
      fleetctl: (args, environment = login) =>
        runArtifactCommand(args, { FLEETCTL_REGISTRY_CA_FILE: world.caFile, ...environment }),
    });
  });
}

/** Runs a command about artifacts, which needs no fleet, in this process. */
export async function runArtifactCommand(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<FleetctlRun> {
  const terminal = new MemoryTerminal();
  const never = () => Promise.reject(new Error("a command about artifacts needs no fleet"));
  const code = await runFleetctl(args, {
    terminal,
    version: "1.0.0",
    readInput: never,
    resolveConnection: never,
    openFleet: never,
    environment: (name) => environment[name],
    signal: new AbortController().signal,
  });
  return { code, out: terminal.stdout, err: terminal.stderr };
}
