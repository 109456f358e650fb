/**
 * How a registry is reached: options before the environment, secrets in files or in the environment, never in the
 * command line, which others can see.
 *
 * @module
 */
import { errorText, FleetError } from "../../../contracts/errors.ts";
import { SECRET_FILE_MAX_BYTES } from "../../../contracts/limits.ts";
import type { RegistryLogin } from "../../../lib/oci/registry_session.ts";
import type { Environment } from "../connection/connection_settings.ts";
import { loginOf } from "./auth_file.ts";
import type { RegistryFlags } from "./artifact_invocation.ts";

/** How a registry is reached. */
export interface RegistryAccess {
  readonly caFile?: string;
  readonly login?: RegistryLogin;
}

function usage(message: string, cause?: unknown): FleetError {
  return new FleetError(message, { code: "E_USAGE", ...(cause === undefined ? {} : { cause }) });
}

async function readSecretFile(file: string): Promise<string> {
  try {
    using opened = await Deno.open(file, { read: true });
    const buffer = new Uint8Array(SECRET_FILE_MAX_BYTES + 1);
    let length = 0;
    for (let count: number | null = 0; count !== null && length < buffer.length; length += count ?? 0) {
      count = await opened.read(buffer.subarray(length));
    }
    if (length > SECRET_FILE_MAX_BYTES) throw usage(`it has more than ${SECRET_FILE_MAX_BYTES} bytes`);
    return new TextDecoder().decode(buffer.subarray(0, length));
  } catch (error) {
    throw usage(`Cannot read ${file}: ${errorText(error)}`, error);
  }
}

/**
 * Resolves how a registry is reached.
 *
 * @param flags Options of the command line
 * @param environment The environment
 * @param host The registry, as the reference names it
 * @throws {FleetError} `E_USAGE`
 */
export async function registryAccess(
  flags: RegistryFlags,
  environment: Environment,
  host: string,
): Promise<RegistryAccess> {
  const told = (flag: string | undefined, name: string) => {
    const value = flag ?? environment(name);
    return value === "" ? undefined : value;
  };
  const caFile = told(flags.caFile, "FLEETCTL_REGISTRY_CA_FILE");
  const login = await resolveLogin(flags, told, environment, host);
  return { ...(caFile === undefined ? {} : { caFile }), ...(login === undefined ? {} : { login }) };
}

async function resolveLogin(
  flags: RegistryFlags,
  told: (flag: string | undefined, name: string) => string | undefined,
  environment: Environment,
  host: string,
): Promise<RegistryLogin | undefined> {
  const user = told(flags.user, "FLEETCTL_REGISTRY_USER");
  const passwordFile = told(flags.passwordFile, "FLEETCTL_REGISTRY_PASSWORD_FILE");
  const authFile = told(flags.authFile, "FLEETCTL_REGISTRY_AUTH_FILE");
  if (user !== undefined) {
    const password = passwordFile === undefined
      ? environment("FLEETCTL_REGISTRY_PASSWORD")
      : (await readSecretFile(passwordFile)).replace(/\r?\n$/, "");
    if (password !== undefined && password !== "") return { user, password };
    throw usage("the registry's user has no password: use --registry-password-file or FLEETCTL_REGISTRY_PASSWORD");
  }
  if (passwordFile !== undefined) throw usage("the registry's password has no user: use --registry-user");
  return authFile === undefined ? undefined : loginOf(await readSecretFile(authFile), host, authFile);
}
