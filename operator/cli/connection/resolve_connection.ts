/**
 * Reads the configuration file, if one is named, and puts the connection settings together.
 *
 * @module
 */
import { dirname, resolve } from "node:path";
import { errorText, FleetError } from "../../../contracts/errors.ts";
import { readConfig } from "../../../lib/config/read_config.ts";
import type { ConnectionFlags } from "../invocation.ts";
import {
  configFileOf,
  type ConnectionConfig,
  connectionConfig,
  type ConnectionSettings,
  connectionSettings,
  type Environment,
} from "./connection_settings.ts";

/**
 * Resolves the settings of a connection.
 *
 * @param flags Options of the command line
 * @param environment The environment
 * @throws {FleetError} `E_CONFIG` with everything that is wrong with the file, `E_USAGE`
 */
export async function resolveConnection(flags: ConnectionFlags, environment: Environment): Promise<ConnectionSettings> {
  const file = configFileOf(flags, environment);
  const config = file === undefined ? null : absolutePaths(await readConfig(file, connectionConfig), file);
  const settings = connectionSettings(flags, environment, config);
  for (const path of filesOf(settings)) await requireReadable(path);
  return settings;
}

/** Files that the connection reads each time that it is made. */
function filesOf({ auth, caFile }: ConnectionSettings): string[] {
  const secret = auth.kind === "none"
    ? undefined
    : auth.kind === "password"
    ? auth.password
    : auth.kind === "token"
    ? auth.token
    : auth.credentials;
  return [secret !== undefined && "file" in secret ? secret.file : undefined, caFile].filter((path) =>
    path !== undefined
  );
}

/** A file that is not there is a wrong command line; later it would look like a refused login. */
async function requireReadable(path: string): Promise<void> {
  try {
    (await Deno.open(path, { read: true })).close();
  } catch (error) {
    throw new FleetError(`Cannot read ${path}: ${errorText(error)}`, { code: "E_USAGE", cause: error });
  }
}

/** Paths of the file start where it stands, so that it means the same wherever the command is run. */
function absolutePaths(config: ConnectionConfig, file: string): ConnectionConfig {
  const members = ["passwordFile", "tokenFile", "credentialsFile", "caFile"] as const;
  const base = dirname(resolve(file));
  const paths = members.flatMap((name) => {
    const path = config[name];
    return path === undefined ? [] : [[name, resolve(base, path)]];
  });
  return { ...config, ...Object.fromEntries(paths) };
}
