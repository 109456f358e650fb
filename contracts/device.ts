/**
 * What a device says of itself in NATS: device info (who it is, what it can do) and heartbeats (that it lives).
 *
 * @module
 */
import { type Decoded, integer, list, map, object, oneOf, optional, text } from "./codec.ts";

import { architecture, detail, deviceId, instant, reason, shortText, uuid, version } from "./formats.ts";
import { CAPABILITIES_MAX, MOUNT_PATH_MAX_CHARS, MOUNTS_MAX } from "./limits.ts";
import { READINESS_STEPS } from "./readiness.ts";

/** Schema version of the documents of this file. */
export const DEVICE_SCHEMA = 1;

/** Capability of an updater that fetches `https` artifacts. */
export const CAPABILITY_HTTPS = "https";
/** Capability of an updater that fetches `oci` artifacts. */
export const CAPABILITY_OCI = "oci";

const capabilities = list(shortText, CAPABILITIES_MAX);

/** Decodes a device info. It is published at each start before READY, and again when what it says changes. */
export const deviceInfo = object({
  schema: integer(1),
  deviceId,
  agentVersion: version,
  /** `source` runs from a work tree and takes no upgrade. */
  form: oneOf(["compiled", "script", "source"]),
  arch: architecture,
  os: object({ name: shortText, version: shortText, kernel: shortText }),
  /** Version and capabilities of the updater; absent while it cannot be reached. */
  updater: optional(object({ version, capabilities })),
  /** Where the start of the agent stands; `ready` after READY. */
  step: oneOf(READINESS_STEPS),
  /** What blocks that step, if it waits. */
  blocked: optional(detail),
  bootId: shortText,
  startedAt: instant,
  updatedAt: instant,
});
/** A device info. */
export type DeviceInfo = Decoded<typeof deviceInfo>;

/** Decodes a deferred intent: which, why, since when (DESIGN 6, Intent). */
export const deferredIntent = object({ attemptId: uuid, reason, since: instant });
/** A deferred intent. */
export type DeferredIntent = Decoded<typeof deferredIntent>;

const pathName = text({ what: "a mount point", maxChars: MOUNT_PATH_MAX_CHARS, pattern: /^\/[\w./-]*$/ });

/** Decodes a heartbeat. Its time of receipt at the broker is what counts; `at` is diagnostic (DESIGN 3). */
export const heartbeat = object({
  schema: integer(1),
  deviceId,
  agentVersion: version,
  bootId: shortText,
  /** Counts from 1 within one life of the process. */
  sequence: integer(1),
  at: instant,
  uptimeMs: integer(0),
  vitals: object({
    /** Free bytes by mount point: `/usr`, `/var`, `/boot`; absent ones are not mounted or not readable. */
    freeBytes: map(pathName, integer(0), MOUNTS_MAX),
    /** Bytes of all managed binaries. */
    binariesBytes: optional(integer(0)),
    /** Device clock minus server clock, in ms; absent until it could be measured. */
    clockSkewMs: optional(integer(Number.MIN_SAFE_INTEGER)),
    /** Starts of the agent under the present boot, this one included, where the service manager tells. */
    restarts: optional(integer(0)),
    /** Earliest expiry among the credentials and certificates that the agent has seen. */
    credentialsExpireAt: optional(instant),
    /** Resident memory of the agent, in bytes. */
    rssBytes: optional(integer(0)),
  }),
  /** The intent that waits, if one does. */
  deferred: optional(deferredIntent),
  /** What keeps the agent from its work, if anything does. */
  blocked: optional(detail),
});
/** A heartbeat. */
export type Heartbeat = Decoded<typeof heartbeat>;
