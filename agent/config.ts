/**
 * `agent.json`: the agent's configuration, strict and bounded, every error named at once (issue 3).
 *
 * ```json
 * {
 *   "deviceId": "device-1",
 *   "nats": {
 *     "servers": ["tls://nats.example:4222"],
 *     "user": "device-1",
 *     "passwordFile": "/etc/harmony-fleet/nats-password",
 *     "caFile": "/etc/harmony-fleet/ca.pem"
 *   }
 * }
 * ```
 *
 * Secrets stand in files of their own, which nobody but owner and group may open; the configuration itself must not be
 * writable for everybody. Neither a secret nor a login in a URL is ever taken from here or from the command line.
 *
 * @module
 */
import {
  type Decoded,
  decodeError,
  type Decoder,
  flag,
  integer,
  list,
  object,
  oneOf,
  optional,
  refined,
  text,
} from "../contracts/codec.ts";
import { absolutePath, deviceId, shortText } from "../contracts/formats.ts";
import {
  DRAIN_MUTATION_TIMEOUT_MS,
  HEARTBEAT_INTERVAL_MS,
  INTENT_RECHECK_MS,
  LOOP_STALL_MS,
  NATS_CONNECT_TIMEOUT_MS,
  NATS_PING_INTERVAL_MS,
  NATS_RECONNECT_MAX_MS,
  NATS_RECONNECT_MIN_MS,
  NATS_REQUEST_TIMEOUT_MS,
  NATS_RETRY_WINDOW_MS,
  NATS_SERVERS_MAX,
  SHORT_TEXT_MAX_CHARS,
  STARTUP_RETRY_MS,
  STATUS_REREAD_MS,
  UPDATER_AWAY_AFTER_MS,
  UPDATER_POLL_ACTIVE_MS,
  UPDATER_POLL_IDLE_MS,
} from "../contracts/limits.ts";
import { type ManagedPaths, managedPaths } from "../contracts/managed_paths.ts";
import { LOG_LEVELS } from "../lib/log.ts";

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

const nats = refined(natsShape, (value, path) => {
  const { user, passwordFile, tokenFile, credentialsFile } = value;
  if ((user === undefined) !== (passwordFile === undefined)) {
    throw decodeError(`${path}.user`, "stands with passwordFile, and one without the other says nothing");
  }
  if ([user, tokenFile, credentialsFile].filter((login) => login !== undefined).length > 1) {
    throw decodeError(path, "has more than one login, want one of user with passwordFile, tokenFile, credentialsFile");
  }
  return value;
});

const podman = refined(object({ enabled: flag }), (value, path) => {
  if (value.enabled) throw decodeError(`${path}.enabled`, "is true, and this agent manages no Podman workloads");
  return value;
});

/** A bound that a configuration may lower and never raise. */
function lowered(limitMs: number): ReturnType<typeof optional<number>> {
  return optional(integer(1, limitMs));
}

const bounds = object({
  natsConnectTimeoutMs: lowered(NATS_CONNECT_TIMEOUT_MS),
  natsRetryWindowMs: lowered(NATS_RETRY_WINDOW_MS),
  natsRequestTimeoutMs: lowered(NATS_REQUEST_TIMEOUT_MS),
  natsReconnectMinMs: lowered(NATS_RECONNECT_MIN_MS),
  natsReconnectMaxMs: lowered(NATS_RECONNECT_MAX_MS),
  natsPingIntervalMs: lowered(NATS_PING_INTERVAL_MS),
  heartbeatIntervalMs: lowered(HEARTBEAT_INTERVAL_MS),
  updaterPollActiveMs: lowered(UPDATER_POLL_ACTIVE_MS),
  updaterPollIdleMs: lowered(UPDATER_POLL_IDLE_MS),
  updaterAwayAfterMs: lowered(UPDATER_AWAY_AFTER_MS),
  startupRetryMs: lowered(STARTUP_RETRY_MS),
  intentRecheckMs: lowered(INTENT_RECHECK_MS),
  statusRereadMs: lowered(STATUS_REREAD_MS),
  drainMutationTimeoutMs: lowered(DRAIN_MUTATION_TIMEOUT_MS),
  loopStallMs: lowered(LOOP_STALL_MS),
});

/** Times of the agent; a configuration may lower them, for tests, and never raise them. */
export type AgentBounds = Required<Decoded<typeof bounds>>;

/** The times of the product. */
export const DEFAULT_BOUNDS: AgentBounds = {
  natsConnectTimeoutMs: NATS_CONNECT_TIMEOUT_MS,
  natsRetryWindowMs: NATS_RETRY_WINDOW_MS,
  natsRequestTimeoutMs: NATS_REQUEST_TIMEOUT_MS,
  natsReconnectMinMs: NATS_RECONNECT_MIN_MS,
  natsReconnectMaxMs: NATS_RECONNECT_MAX_MS,
  natsPingIntervalMs: NATS_PING_INTERVAL_MS,
  heartbeatIntervalMs: HEARTBEAT_INTERVAL_MS,
  updaterPollActiveMs: UPDATER_POLL_ACTIVE_MS,
  updaterPollIdleMs: UPDATER_POLL_IDLE_MS,
  updaterAwayAfterMs: UPDATER_AWAY_AFTER_MS,
  startupRetryMs: STARTUP_RETRY_MS,
  intentRecheckMs: INTENT_RECHECK_MS,
  statusRereadMs: STATUS_REREAD_MS,
  drainMutationTimeoutMs: DRAIN_MUTATION_TIMEOUT_MS,
  loopStallMs: LOOP_STALL_MS,
};

const agentConfigShape = object({
  deviceId,
  nats,
  /** Prefix of all managed paths (DESIGN 5). Default none. */
  root: optional(absolutePath),
  /** Default disabled, which is all that this agent can do. */
  podman: optional(podman),
  /** Lowest level that is logged. Default `info`. */
  logLevel: optional(oneOf(LOG_LEVELS)),
  /** Default {@link DEFAULT_BOUNDS}. */
  bounds: optional(bounds),
});

/** The configuration with its defaults filled in. */
export interface AgentConfig {
  readonly deviceId: string;
  readonly nats: Decoded<typeof natsShape>;
  /** Prefix of all managed paths; empty for none. */
  readonly root: string;
  readonly paths: ManagedPaths;
  readonly logLevel: (typeof LOG_LEVELS)[number];
  readonly bounds: AgentBounds;
}

/** Decodes `agent.json` and fills its defaults in. */
export const agentConfig: Decoder<AgentConfig> = refined(agentConfigShape, (value) => ({
  deviceId: value.deviceId,
  nats: value.nats,
  root: value.root ?? "",
  paths: managedPaths(value.root),
  logLevel: value.logLevel ?? "info",
  bounds: { ...DEFAULT_BOUNDS, ...value.bounds },
}));

/**
 * The files that hold the device's login, which nobody but owner and group may open.
 *
 * @param config The configuration
 */
export function secretFiles({ nats }: Pick<AgentConfig, "nats">): { readonly field: string; readonly path: string }[] {
  return (["passwordFile", "tokenFile", "credentialsFile"] as const).flatMap((name) => {
    const path = nats[name];
    return path === undefined ? [] : [{ field: `nats.${name}`, path }];
  });
}
