/**
 * `Device`: one device of the fleet as people see it. Created by its first device info, without groups (DESIGN 3).
 *
 * @module
 */
import { UPGRADE_PHASES } from "./agent_upgrade.ts";
import { type Decoded, flag, integer, list, object, oneOf, optional } from "./codec.ts";
import { FAILURE_CLASSES } from "./errors.ts";
import {
  architecture,
  detail,
  groups,
  instant,
  reason,
  resourceName,
  sha256Hex,
  shortText,
  uuid,
  version,
} from "./formats.ts";
import { CAPABILITIES_MAX, FAILED_IDENTITIES_MAX, TIED_RELEASES_MAX } from "./limits.ts";
import { READINESS_STEPS } from "./readiness.ts";
import { conditions, type StoredResource } from "./resource.ts";

/** Label that always equals the device's id (DESIGN 3). */
export const DEVICE_ID_LABEL = "device-id";

/** Decodes the spec of a device: the groups that authorize it. */
export const deviceSpec = object({ groups });
/** The spec of a device. */
export type DeviceSpec = Decoded<typeof deviceSpec>;

/** Liveness of a device, from the broker's receive times only; `Unknown` until a heartbeat could have come. */
export const LIVENESS = ["Online", "Stale", "Lost", "Unknown"] as const;
/** One of {@link LIVENESS}. */
export type Liveness = (typeof LIVENESS)[number];

/** Decodes a device's current upgrade. */
export const deviceUpgrade = object({
  attemptId: optional(uuid),
  releaseName: optional(resourceName),
  releaseIdentity: optional(sha256Hex),
  targetVersion: optional(version),
  phase: oneOf(UPGRADE_PHASES),
  reason: optional(reason),
  failureClass: optional(oneOf(FAILURE_CLASSES)),
  error: optional(detail),
  startedAt: instant,
  updatedAt: instant,
});
/** A device's current upgrade. */
export type DeviceUpgrade = Decoded<typeof deviceUpgrade>;

/** Decodes the status of a device; it is written on transitions only. */
export const deviceStatus = object({
  agentVersion: optional(version),
  form: optional(shortText),
  arch: optional(architecture),
  os: optional(object({ name: shortText, version: shortText, kernel: shortText })),
  updaterVersion: optional(version),
  capabilities: optional(list(shortText, CAPABILITIES_MAX)),
  /** Where the start of the agent stands, when it is not `ready`. */
  step: optional(oneOf(READINESS_STEPS)),
  blocked: optional(detail),
  liveness: oneOf(LIVENESS),
  livenessSince: instant,
  upgrade: optional(deviceUpgrade),
  /** Whether the device refuses every attempt until root repairs it. */
  quarantined: flag,
  /** Release that decides for the device now. */
  desiredRelease: optional(resourceName),
  /** Where the device stands with it, or why no release decides. */
  desiredReason: optional(reason),
  /** Releases of equal priority that keep one another from deciding, in order of name. */
  tiedReleases: optional(list(resourceName, TIED_RELEASES_MAX, 2)),
  /** Newest last. */
  failedIdentities: list(sha256Hex, FAILED_IDENTITIES_MAX),
  conditions: optional(conditions),
  observedGeneration: optional(integer(0)),
});
/** The status of a device. */
export type DeviceStatus = Decoded<typeof deviceStatus>;

/** A stored device. */
export type Device = StoredResource<"Device", DeviceSpec, DeviceStatus>;
