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
import { type Decoded, type Decoder, flag, object, oneOf, optional, refined } from "../contracts/codec.ts";
import { absolutePath, deviceId } from "../contracts/formats.ts";
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
  STARTUP_RETRY_MS,
  STATUS_REREAD_MS,
  UPDATER_AWAY_AFTER_MS,
  UPDATER_POLL_ACTIVE_MS,
  UPDATER_POLL_IDLE_MS,
  WATCH_HEARTBEAT_MS,
  WORKLOAD_RESYNC_MS,
  WORKLOAD_RETRY_MAX_MS,
  WORKLOAD_RETRY_MIN_MS,
} from "../contracts/limits.ts";
import { type ManagedPaths, managedPaths } from "../contracts/managed_paths.ts";
import { type NatsSettings, natsSettings } from "../lib/bus/nats_settings.ts";
import { lowered } from "../lib/config/lowered.ts";
import { LOG_LEVELS } from "../lib/log.ts";

const podman = object({
  enabled: flag,
  /** Default the rootless socket of the agent's user: `/run/user/UID/podman/podman.sock`. */
  socket: optional(absolutePath),
});

const bounds = object({
  natsConnectTimeoutMs: lowered(NATS_CONNECT_TIMEOUT_MS),
  natsRetryWindowMs: lowered(NATS_RETRY_WINDOW_MS),
  natsRequestTimeoutMs: lowered(NATS_REQUEST_TIMEOUT_MS),
  natsReconnectMinMs: lowered(NATS_RECONNECT_MIN_MS),
  natsReconnectMaxMs: lowered(NATS_RECONNECT_MAX_MS),
  natsPingIntervalMs: lowered(NATS_PING_INTERVAL_MS),
  natsWatchHeartbeatMs: lowered(WATCH_HEARTBEAT_MS),
  heartbeatIntervalMs: lowered(HEARTBEAT_INTERVAL_MS),
  updaterPollActiveMs: lowered(UPDATER_POLL_ACTIVE_MS),
  updaterPollIdleMs: lowered(UPDATER_POLL_IDLE_MS),
  updaterAwayAfterMs: lowered(UPDATER_AWAY_AFTER_MS),
  startupRetryMs: lowered(STARTUP_RETRY_MS),
  intentRecheckMs: lowered(INTENT_RECHECK_MS),
  statusRereadMs: lowered(STATUS_REREAD_MS),
  drainMutationTimeoutMs: lowered(DRAIN_MUTATION_TIMEOUT_MS),
  loopStallMs: lowered(LOOP_STALL_MS),
  workloadResyncMs: lowered(WORKLOAD_RESYNC_MS),
  workloadRetryMinMs: lowered(WORKLOAD_RETRY_MIN_MS),
  workloadRetryMaxMs: lowered(WORKLOAD_RETRY_MAX_MS),
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
  natsWatchHeartbeatMs: WATCH_HEARTBEAT_MS,
  heartbeatIntervalMs: HEARTBEAT_INTERVAL_MS,
  updaterPollActiveMs: UPDATER_POLL_ACTIVE_MS,
  updaterPollIdleMs: UPDATER_POLL_IDLE_MS,
  updaterAwayAfterMs: UPDATER_AWAY_AFTER_MS,
  startupRetryMs: STARTUP_RETRY_MS,
  intentRecheckMs: INTENT_RECHECK_MS,
  statusRereadMs: STATUS_REREAD_MS,
  drainMutationTimeoutMs: DRAIN_MUTATION_TIMEOUT_MS,
  loopStallMs: LOOP_STALL_MS,
  workloadResyncMs: WORKLOAD_RESYNC_MS,
  workloadRetryMinMs: WORKLOAD_RETRY_MIN_MS,
  workloadRetryMaxMs: WORKLOAD_RETRY_MAX_MS,
};

const agentConfigShape = object({
  deviceId,
  nats: natsSettings,
  /** Prefix of all managed paths (DESIGN 5). Default none. */
  root: optional(absolutePath),
  /** Default disabled: desired workloads are then answered with `PodmanDisabled`. */
  podman: optional(podman),
  /** Lowest level that is logged. Default `info`. */
  logLevel: optional(oneOf(LOG_LEVELS)),
  /** Default {@link DEFAULT_BOUNDS}. */
  bounds: optional(bounds),
});

/** The configuration with its defaults filled in. */
export interface AgentConfig {
  readonly deviceId: string;
  readonly nats: NatsSettings;
  /** Prefix of all managed paths; empty for none. */
  readonly root: string;
  readonly paths: ManagedPaths;
  /** Null when the agent manages no workloads; the socket is undefined for that of the agent's user. */
  readonly podman: { readonly socket: string | undefined } | null;
  readonly logLevel: (typeof LOG_LEVELS)[number];
  readonly bounds: AgentBounds;
}

/** Decodes `agent.json` and fills its defaults in. */
export const agentConfig: Decoder<AgentConfig> = refined(agentConfigShape, (value) => ({
  deviceId: value.deviceId,
  nats: value.nats,
  root: value.root ?? "",
  paths: managedPaths(value.root),
  podman: value.podman?.enabled === true ? { socket: value.podman.socket } : null,
  logLevel: value.logLevel ?? "info",
  bounds: { ...DEFAULT_BOUNDS, ...value.bounds },
}));
