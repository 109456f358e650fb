/**
 * `updater.json`, root's configuration of the updater (DESIGN 5, Managed paths).
 *
 * @module
 */
import { type Decoded, flag, object, oneOf, optional, text } from "../contracts/codec.ts";
import { absolutePath, deviceId } from "../contracts/formats.ts";
import {
  ACCOUNT_NAME_MAX_CHARS,
  APT_DOWNLOAD_TIMEOUT_MS,
  APT_FETCH_RETRY_MS,
  APT_LOCK_TIMEOUT_MS,
  APT_REFRESH_TIMEOUT_MS,
  APT_UPGRADE_TIMEOUT_MS,
  HTTPS_CONNECT_TIMEOUT_MS,
  HTTPS_REQUEST_TIMEOUT_MS,
  PROBE_TIMEOUT_MS,
  REBOOT_RETRY_MS,
  REBOOT_RETRY_WINDOW_MS,
  ROLLBACK_RETRY_MAX_MS,
  ROLLBACK_RETRY_MIN_MS,
  SERVICE_RESTART_DELAY_MS,
  SERVICE_START_TIMEOUT_MS,
  SERVICE_STOP_TIMEOUT_MS,
  SOCKET_READ_TIMEOUT_MS,
} from "../contracts/limits.ts";
import { lowered } from "../lib/config/lowered.ts";

const accountName = text({
  what: "a user or group name",
  maxChars: ACCOUNT_NAME_MAX_CHARS,
  pattern: /^[a-z_][a-z0-9_-]*$/,
});

const bounds = object({
  connectTimeoutMs: lowered(HTTPS_CONNECT_TIMEOUT_MS),
  requestTimeoutMs: lowered(HTTPS_REQUEST_TIMEOUT_MS),
  probeTimeoutMs: lowered(PROBE_TIMEOUT_MS),
  stopTimeoutMs: lowered(SERVICE_STOP_TIMEOUT_MS),
  startTimeoutMs: lowered(SERVICE_START_TIMEOUT_MS),
  restartDelayMs: lowered(SERVICE_RESTART_DELAY_MS),
  rollbackRetryMinMs: lowered(ROLLBACK_RETRY_MIN_MS),
  rollbackRetryMaxMs: lowered(ROLLBACK_RETRY_MAX_MS),
  socketReadTimeoutMs: lowered(SOCKET_READ_TIMEOUT_MS),
  aptRefreshTimeoutMs: lowered(APT_REFRESH_TIMEOUT_MS),
  aptFetchRetryMs: lowered(APT_FETCH_RETRY_MS),
  aptDownloadTimeoutMs: lowered(APT_DOWNLOAD_TIMEOUT_MS),
  aptUpgradeTimeoutMs: lowered(APT_UPGRADE_TIMEOUT_MS),
  aptLockTimeoutMs: lowered(APT_LOCK_TIMEOUT_MS),
  rebootRetryWindowMs: lowered(REBOOT_RETRY_WINDOW_MS),
  rebootRetryMs: lowered(REBOOT_RETRY_MS),
});
/** Lowered bounds, in ms. */
export type UpdaterBounds = Decoded<typeof bounds>;

/** Decodes `updater.json`. */
export const updaterConfig = object({
  /** The one device whose attempts are accepted. */
  deviceId,
  /** `systemd`: units on a device. `process`: the updater supervises the agent itself. */
  services: object({ kind: oneOf(["systemd", "process"]) }),
  /**
   * User of the agent and of the probe under `process`; absent means the updater's own, for fleets without root. Under
   * `systemd` the unit says it.
   */
  agentUser: optional(accountName),
  /** Group that may speak to the socket; absent means the updater's own. */
  socketGroup: optional(accountName),
  tls: optional(object({
    /** Certificates (PEM) that are trusted beside the system's. */
    caFile: optional(absolutePath),
  })),
  oci: optional(object({
    /** Whether a registry may send the updater elsewhere for a blob, from https to https and without credentials. */
    followBlobRedirects: optional(flag),
  })),
  bounds: optional(bounds),
});
/** The configuration of the updater. */
export type UpdaterConfig = Decoded<typeof updaterConfig>;
