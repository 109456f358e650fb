/**
 * Where NATS is and who we are there, put together from the command line, the environment and a configuration file.
 *
 * @module
 */
import { type Decoded, list, object, optional, text } from "../../../contracts/codec.ts";
import { FleetError } from "../../../contracts/errors.ts";
import {
  ARTIFACT_URL_MAX_CHARS,
  NATS_CONNECT_TIMEOUT_MS,
  NATS_SERVERS_MAX,
  PATH_MAX_CHARS,
  SHORT_TEXT_MAX_CHARS,
} from "../../../contracts/limits.ts";
import type { BusAuth } from "../../../lib/bus/bus_options.ts";
import type { ConnectionFlags } from "../invocation.ts";

/** The server of a fleet on one machine. */
export const DEFAULT_SERVER = "nats://127.0.0.1:4222";

const path = text({ what: "a path", maxChars: PATH_MAX_CHARS });

/** Decodes a configuration file of `fleetctl`. Relative paths in it start where the file stands. */
export const connectionConfig = object({
  servers: optional(list(text({ what: "a NATS URL", maxChars: ARTIFACT_URL_MAX_CHARS }), NATS_SERVERS_MAX, 1)),
  user: optional(text({ what: "a user", maxChars: SHORT_TEXT_MAX_CHARS })),
  passwordFile: optional(path),
  tokenFile: optional(path),
  credentialsFile: optional(path),
  caFile: optional(path),
});
/** A configuration file of `fleetctl`. */
export type ConnectionConfig = Decoded<typeof connectionConfig>;

/** Everything that opening a connection needs. */
export interface ConnectionSettings {
  readonly servers: readonly string[];
  /** Where the servers were given, for messages. */
  readonly serversFrom: string;
  readonly auth: BusAuth;
  readonly caFile?: string;
  /** Longest wait for a connection, in ms. */
  readonly timeoutMs: number;
}

/** The environment, as a lookup. */
export type Environment = (name: string) => string | undefined;

/** Settings from one place, under the name by which a message calls each of them. */
interface Source {
  readonly names: Readonly<Record<LoginField, string>>;
  readonly values: Partial<Readonly<Record<LoginField, string>>>;
}

type LoginField = "user" | "passwordFile" | "tokenFile" | "credentialsFile";

/**
 * The configuration file to read, if one is named.
 *
 * @param flags Options of the command line
 * @param environment The environment
 */
export function configFileOf(flags: ConnectionFlags, environment: Environment): string | undefined {
  return flags.configFile ?? given(environment("FLEETCTL_CONFIG"));
}

/**
 * Puts the settings together: an option goes before its variable, a variable before the configuration file. The way to
 * log in is one setting: a token on the command line is not mixed with a password from the environment.
 *
 * @param flags Options of the command line
 * @param environment The environment
 * @param config The configuration file, if one was read, with absolute paths
 * @throws {FleetError} `E_USAGE` when the settings contradict one another, or hold a secret where others can see it
 */
export function connectionSettings(
  flags: ConnectionFlags,
  environment: Environment,
  config: ConnectionConfig | null,
): ConnectionSettings {
  const { servers, serversFrom } = serversOf(flags, environment, config);
  const caFile = flags.caFile ?? given(environment("FLEETCTL_CA_FILE")) ?? config?.caFile;
  return {
    servers,
    serversFrom,
    auth: authOf(loginSources(flags, environment, config)),
    ...(caFile === undefined ? {} : { caFile }),
    timeoutMs: flags.timeoutSeconds === undefined ? NATS_CONNECT_TIMEOUT_MS : flags.timeoutSeconds * 1_000,
  };
}

/** An empty variable is how a shell unsets one for a single command. */
function given(value: string | undefined): string | undefined {
  return value === undefined || value === "" ? undefined : value;
}

function usageError(message: string): FleetError {
  return new FleetError(message, { code: "E_USAGE" });
}

function serversOf(flags: ConnectionFlags, environment: Environment, config: ConnectionConfig | null) {
  const [found, serversFrom]: readonly [readonly string[], string] = flags.servers.length > 0
    ? [flags.servers, "--server"]
    : given(environment("FLEETCTL_SERVERS")) !== undefined
    ? [[environment("FLEETCTL_SERVERS") ?? ""], "FLEETCTL_SERVERS"]
    : config?.servers !== undefined
    ? [config.servers, "the configuration file"]
    : [[DEFAULT_SERVER], "the default"];
  const servers = found.flatMap((item) => item.split(/[\s,]+/)).filter((item) => item !== "").map((server) =>
    serverUrl(server, serversFrom)
  );
  if (servers.length === 0) throw usageError(`${serversFrom}: names no server`);
  if (servers.length > NATS_SERVERS_MAX) {
    throw usageError(`${serversFrom}: names ${servers.length} servers, at most ${NATS_SERVERS_MAX}`);
  }
  return { servers, serversFrom };
}

/** `host` and `host:port` are taken for `nats://` URLs. */
function serverUrl(server: string, from: string): string {
  const whole = server.includes("://") ? server : `nats://${server}`;
  let url: URL;
  try {
    url = new URL(whole);
  } catch {
    throw usageError(`${from}: is not a NATS URL such as ${DEFAULT_SERVER}`);
  }
  // The value stays out of the message: it holds the secret.
  if (url.username !== "" || url.password !== "") {
    throw usageError(
      `${from}: must not contain a user or password, which others could read; use --user and --password-file`,
    );
  }
  if (url.protocol !== "nats:" && url.protocol !== "tls:") {
    throw usageError(`${from}: has the scheme ${url.protocol}, must be nats or tls`);
  }
  return whole;
}

const LOGIN_FIELDS: readonly LoginField[] = ["user", "passwordFile", "tokenFile", "credentialsFile"];

function loginSources(flags: ConnectionFlags, environment: Environment, config: ConnectionConfig | null): Source[] {
  const pick = (read: (field: LoginField) => string | undefined) =>
    Object.fromEntries(LOGIN_FIELDS.flatMap((field) => {
      const value = given(read(field));
      return value === undefined ? [] : [[field, value]];
    })) as Source["values"];
  const variables = {
    user: "FLEETCTL_USER",
    passwordFile: "FLEETCTL_PASSWORD_FILE",
    tokenFile: "FLEETCTL_TOKEN_FILE",
    credentialsFile: "FLEETCTL_CREDS_FILE",
  };
  const options = {
    user: "--user",
    passwordFile: "--password-file",
    tokenFile: "--token-file",
    credentialsFile: "--creds-file",
  };
  const members = {
    user: "user",
    passwordFile: "passwordFile",
    tokenFile: "tokenFile",
    credentialsFile: "credentialsFile",
  };
  return [
    { names: options, values: pick((field) => flags[field]) },
    { names: variables, values: pick((field) => environment(variables[field])) },
    { names: members, values: pick((field) => config?.[field]) },
  ];
}

function authOf(sources: readonly Source[]): BusAuth {
  // Only a secret chooses the way to log in: a user alone may go with the password file of a later source.
  const source = sources.find(({ values }) => secretsOf(values).length > 0);
  const user = sources.find(({ values }) => values.user !== undefined);
  if (source === undefined) {
    if (user === undefined) return { kind: "none" };
    throw usageError(`${user.names.user}: needs a password too: use --password-file`);
  }
  const [secret, other] = secretsOf(source.values);
  if (secret !== undefined && other !== undefined) {
    throw usageError(`${source.names[secret]} and ${source.names[other]} are both given: use one way to log in`);
  }
  const file = secret === undefined ? "" : source.values[secret] ?? "";
  if (secret === "tokenFile") return { kind: "token", token: { file } };
  if (secret === "credentialsFile") return { kind: "credentials", credentials: { file } };
  const name = user?.values.user;
  if (name === undefined) throw usageError(`${source.names.passwordFile}: needs a user too: use --user`);
  return { kind: "password", user: name, password: { file } };
}

function secretsOf(values: Source["values"]): LoginField[] {
  return LOGIN_FIELDS.filter((field) => field !== "user" && values[field] !== undefined);
}
