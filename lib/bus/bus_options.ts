/**
 * How a program reaches NATS.
 *
 * @module
 */
import { FleetError } from "../../contracts/errors.ts";
import {
  NATS_CONNECT_TIMEOUT_MS,
  NATS_MAX_PINGS_OUT,
  NATS_PING_INTERVAL_MS,
  NATS_RECONNECT_MAX_MS,
  NATS_RECONNECT_MIN_MS,
  NATS_REQUEST_TIMEOUT_MS,
  NATS_SERVERS_MAX,
  SNAPSHOT_STALL_TIMEOUT_MS,
  WATCH_HEARTBEAT_MS,
} from "../../contracts/limits.ts";
import { consumerNamePrefix, deliveryPrefix, inboxPrefix } from "../../contracts/subjects.ts";

/** A secret: a file, read again for each connection so that it can be replaced in place, or its value. */
export type Secret = { readonly file: string } | { readonly value: string };

/** Who the program says it is. */
export type BusAuth =
  | { readonly kind: "none" }
  | { readonly kind: "password"; readonly user: string; readonly password: Secret }
  | { readonly kind: "token"; readonly token: Secret }
  /** A NATS credentials file: a user JWT and its nkey seed. */
  | { readonly kind: "credentials"; readonly credentials: Secret };

/** Times of a connection. Defaults are those of `contracts/limits.ts`; tests shorten them. */
export interface BusBounds {
  readonly connectTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly reconnectMinMs: number;
  readonly reconnectMaxMs: number;
  readonly pingIntervalMs: number;
  readonly maxPingsOut: number;
  readonly snapshotStallMs: number;
  readonly watchHeartbeatMs: number;
}

/** Options of a connection. */
export interface BusOptions {
  /** `nats://host:port` or `tls://host:port`; every one of them leads to the same cluster. */
  readonly servers: readonly string[];
  /** Name of the connection in the server's monitoring. */
  readonly name: string;
  readonly auth: BusAuth;
  /**
   * The device as which the program connects: inbox, consumer names and requests are then those that
   * `devicePermissions` grants, in the account of the devices or, for development, in the one of the buckets. Absent
   * for a program that may use all buckets.
   */
  readonly deviceId?: string;
  readonly tls?: {
    /** Roots in PEM that are trusted beside those of the system; read again for each connection. */
    readonly caFile?: string;
    /** Refuses a server without TLS. Default: true with a `caFile` or a `tls://` URL. */
    readonly required?: boolean;
  };
  readonly bounds?: Partial<BusBounds>;
  /** Source of randomness in [0, 1) for pauses. Default `Math.random`. */
  readonly random?: () => number;
}

const DEFAULT_BOUNDS: BusBounds = {
  connectTimeoutMs: NATS_CONNECT_TIMEOUT_MS,
  requestTimeoutMs: NATS_REQUEST_TIMEOUT_MS,
  reconnectMinMs: NATS_RECONNECT_MIN_MS,
  reconnectMaxMs: NATS_RECONNECT_MAX_MS,
  pingIntervalMs: NATS_PING_INTERVAL_MS,
  maxPingsOut: NATS_MAX_PINGS_OUT,
  snapshotStallMs: SNAPSHOT_STALL_TIMEOUT_MS,
  watchHeartbeatMs: WATCH_HEARTBEAT_MS,
};

/** {@link BusOptions} with defaults filled in and checked. */
export interface ResolvedBusOptions {
  readonly servers: readonly string[];
  readonly name: string;
  readonly auth: BusAuth;
  readonly deviceId: string | undefined;
  readonly inboxPrefix: string;
  /** Prefix of the subjects that consumers deliver to. */
  readonly deliveryPrefix: string;
  readonly consumerNamePrefix: string;
  readonly caFile: string | undefined;
  readonly tlsRequired: boolean;
  readonly bounds: BusBounds;
  readonly random: () => number;
}

/** Inboxes and consumers of programs that are not devices; no device may listen below it. */
const PROGRAM_INBOX_PREFIX = "_INBOX_fleet";
const PROGRAM_CONSUMER_PREFIX = "fleet_";

const SERVER_URL_REGEXP = /^(?:nats|tls):\/\/(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?\/?$/;

/**
 * Fills in defaults and checks the servers.
 *
 * @param options What the caller gave
 * @throws {FleetError} `E_BUS_CONFIG` (permanent) for a URL that is none or has a password in it, and for no servers
 */
export function resolveBusOptions(options: BusOptions): ResolvedBusOptions {
  const { servers, name, auth, deviceId, tls = {} } = options;
  if (servers.length === 0 || servers.length > NATS_SERVERS_MAX) {
    throw configError(`Cannot use ${servers.length} NATS servers: 1 to ${NATS_SERVERS_MAX} are allowed`);
  }
  for (const server of servers) {
    // The URL itself stays out of the message: a mistaken one may hold a password.
    if (!SERVER_URL_REGEXP.test(server)) {
      throw configError("Cannot use a NATS server URL: want nats://host:port or tls://host:port without a user");
    }
  }
  return {
    servers,
    name,
    auth,
    deviceId,
    inboxPrefix: deviceId === undefined ? PROGRAM_INBOX_PREFIX : inboxPrefix(deviceId),
    deliveryPrefix: deviceId === undefined ? PROGRAM_INBOX_PREFIX : deliveryPrefix(deviceId),
    consumerNamePrefix: deviceId === undefined ? PROGRAM_CONSUMER_PREFIX : consumerNamePrefix(deviceId),
    caFile: tls.caFile,
    tlsRequired: tls.required ?? (tls.caFile !== undefined || servers.some((server) => server.startsWith("tls:"))),
    bounds: { ...DEFAULT_BOUNDS, ...options.bounds },
    random: options.random ?? Math.random,
  };
}

function configError(message: string): FleetError {
  return new FleetError(message, { code: "E_BUS_CONFIG", failureClass: "policy" });
}
