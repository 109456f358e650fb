/**
 * How a configuration file says where NATS is and who the program is there.
 *
 * Secrets stand in files of their own; neither a secret nor a login in a URL is ever taken from a configuration.
 *
 * @module
 */
import {
  type Decoded,
  decodeError,
  type Decoder,
  list,
  object,
  optional,
  refined,
  text,
} from "../../contracts/codec.ts";
import { absolutePath, shortText } from "../../contracts/formats.ts";
import { NATS_SERVERS_MAX, SHORT_TEXT_MAX_CHARS } from "../../contracts/limits.ts";
import type { BusAuth } from "./bus_options.ts";

const SERVER_URL_REGEXP = /^(?:nats|tls):\/\/(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?\/?$/;

const serverUrl: Decoder<string> = text({
  // The value stays out of the message: a mistaken one may hold a password.
  what: "a NATS URL such as tls://host:4222, without a user",
  maxChars: 512,
  pattern: SERVER_URL_REGEXP,
});

const user = refined(shortText, (value, path) => {
  if (value === "") throw decodeError(path, `must be a user name of 1 to ${SHORT_TEXT_MAX_CHARS} characters`);
  return value;
});

const natsShape = object({
  /** Every one of them leads to the same cluster. */
  servers: list(serverUrl, NATS_SERVERS_MAX, 1),
  user: optional(user),
  passwordFile: optional(absolutePath),
  tokenFile: optional(absolutePath),
  /** A NATS credentials file: user JWT and nkey seed. */
  credentialsFile: optional(absolutePath),
  /** Roots in PEM, trusted beside the system's; with it a server without TLS is refused. */
  caFile: optional(absolutePath),
});

/** The settings. */
export type NatsSettings = Decoded<typeof natsShape>;

/** Decodes the settings. */
export const natsSettings: Decoder<NatsSettings> = refined(natsShape, (value, path) => {
  const { user, passwordFile, tokenFile, credentialsFile } = value;
  if ((user === undefined) !== (passwordFile === undefined)) {
    throw decodeError(`${path}.user`, "stands with passwordFile, and one without the other says nothing");
  }
  if ([user, tokenFile, credentialsFile].filter((login) => login !== undefined).length > 1) {
    throw decodeError(path, "has more than one login, want one of user with passwordFile, tokenFile, credentialsFile");
  }
  return value;
});

/**
 * Who the program is.
 *
 * @param settings The settings
 */
export function natsAuth(settings: NatsSettings): BusAuth {
  const { user, passwordFile, tokenFile, credentialsFile } = settings;
  if (user !== undefined && passwordFile !== undefined) {
    return { kind: "password", user, password: { file: passwordFile } };
  }
  if (tokenFile !== undefined) return { kind: "token", token: { file: tokenFile } };
  if (credentialsFile !== undefined) return { kind: "credentials", credentials: { file: credentialsFile } };
  return { kind: "none" };
}

/** A file that nobody but its owner and group may open. */
export interface SecretFile {
  /** The field that names it. */
  readonly field: string;
  readonly path: string;
}

/**
 * The files that hold the login.
 *
 * @param settings The settings
 * @param field Where the settings stand. Default `nats`
 */
export function natsSecretFiles(settings: NatsSettings, field = "nats"): SecretFile[] {
  return (["passwordFile", "tokenFile", "credentialsFile"] as const).flatMap((name) => {
    const path = settings[name];
    return path === undefined ? [] : [{ field: `${field}.${name}`, path }];
  });
}
