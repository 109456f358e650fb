/**
 * `operator.json`: the operator's configuration, strict and bounded, every error named at once (issue 3).
 *
 * ```json
 * {
 *   "nats": {
 *     "servers": ["tls://nats-1.example:4222", "tls://nats-2.example:4222"],
 *     "user": "fleet-operator",
 *     "passwordFile": "/etc/harmony-fleet/operator-password",
 *     "caFile": "/etc/harmony-fleet/ca.pem"
 *   },
 *   "fleetSize": 10000,
 *   "replicas": 3
 * }
 * ```
 *
 * @module
 */
import { type Decoded, type Decoder, integer, object, oneOf, optional, refined } from "../contracts/codec.ts";
import {
  FLEET_SIZE_DEFAULT,
  FLEET_SIZE_MAX,
  FOREIGN_WRITE_SETTLE_MS,
  HEARTBEAT_INTERVAL_MS,
  LOST_AFTER_MS,
  NATS_CONNECT_TIMEOUT_MS,
  NATS_PING_INTERVAL_MS,
  NATS_RECONNECT_MAX_MS,
  NATS_RECONNECT_MIN_MS,
  NATS_REQUEST_TIMEOUT_MS,
  STALE_AFTER_MS,
  STATUS_WRITE_INTERVAL_MS,
} from "../contracts/limits.ts";
import { type NatsSettings, natsSettings } from "../lib/bus/nats_settings.ts";
import { lowered } from "../lib/config/lowered.ts";
import { LOG_LEVELS } from "../lib/log.ts";

const bounds = object({
  natsConnectTimeoutMs: lowered(NATS_CONNECT_TIMEOUT_MS),
  natsRequestTimeoutMs: lowered(NATS_REQUEST_TIMEOUT_MS),
  natsReconnectMinMs: lowered(NATS_RECONNECT_MIN_MS),
  natsReconnectMaxMs: lowered(NATS_RECONNECT_MAX_MS),
  natsPingIntervalMs: lowered(NATS_PING_INTERVAL_MS),
  heartbeatIntervalMs: lowered(HEARTBEAT_INTERVAL_MS),
  staleAfterMs: lowered(STALE_AFTER_MS),
  lostAfterMs: lowered(LOST_AFTER_MS),
  statusWriteIntervalMs: lowered(STATUS_WRITE_INTERVAL_MS),
  foreignWriteSettleMs: lowered(FOREIGN_WRITE_SETTLE_MS),
});

/** Times of the operator; a configuration may lower them, for tests and demos, and never raise them. */
export type OperatorBounds = Required<Decoded<typeof bounds>>;

/** The times of the product. */
export const DEFAULT_BOUNDS: OperatorBounds = {
  natsConnectTimeoutMs: NATS_CONNECT_TIMEOUT_MS,
  natsRequestTimeoutMs: NATS_REQUEST_TIMEOUT_MS,
  natsReconnectMinMs: NATS_RECONNECT_MIN_MS,
  natsReconnectMaxMs: NATS_RECONNECT_MAX_MS,
  natsPingIntervalMs: NATS_PING_INTERVAL_MS,
  heartbeatIntervalMs: HEARTBEAT_INTERVAL_MS,
  staleAfterMs: STALE_AFTER_MS,
  lostAfterMs: LOST_AFTER_MS,
  statusWriteIntervalMs: STATUS_WRITE_INTERVAL_MS,
  foreignWriteSettleMs: FOREIGN_WRITE_SETTLE_MS,
};

/** Where groups may come from: `Device.spec.groups`, or the bucket `device-groups` (DESIGN 3). */
export const GROUP_SOURCES = ["device-spec", "bucket"] as const;

const operatorConfigShape = object({
  nats: natsSettings,
  /** Devices that the buckets are sized for. Default {@link FLEET_SIZE_DEFAULT}. */
  fleetSize: optional(integer(1, FLEET_SIZE_MAX)),
  /** Copies of every bucket; more than 1 needs a cluster of as many servers. Default 1. */
  replicas: optional(oneOf([1, 3, 5])),
  /** Where the groups come from that authorize devices. Default `device-spec`. */
  groups: optional(object({ source: oneOf(GROUP_SOURCES) })),
  /** Lowest level that is logged. Default `info`. */
  logLevel: optional(oneOf(LOG_LEVELS)),
  /** Default {@link DEFAULT_BOUNDS}. */
  bounds: optional(bounds),
});

/** The configuration with its defaults filled in. */
export interface OperatorConfig {
  readonly nats: NatsSettings;
  readonly fleetSize: number;
  readonly replicas: 1 | 3 | 5;
  readonly groups: { readonly source: (typeof GROUP_SOURCES)[number] };
  readonly logLevel: (typeof LOG_LEVELS)[number];
  readonly bounds: OperatorBounds;
}

/** Decodes `operator.json` and fills its defaults in. */
export const operatorConfig: Decoder<OperatorConfig> = refined(operatorConfigShape, (value) => ({
  nats: value.nats,
  fleetSize: value.fleetSize ?? FLEET_SIZE_DEFAULT,
  replicas: value.replicas ?? 1,
  groups: value.groups ?? { source: "device-spec" },
  logLevel: value.logLevel ?? "info",
  bounds: { ...DEFAULT_BOUNDS, ...value.bounds },
}));
