/**
 * `AgentRelease`: a version of the agent that a part of the fleet should run (DESIGN 3).
 *
 * @module
 */
import { artifactUrl } from "./agent_upgrade.ts";
import { type Decoded, decodeError, type Decoder, flag, integer, list, object, optional, refined } from "./codec.ts";
import { architecture, binaryForm, detail, sha256Hex, version } from "./formats.ts";
import { ARTIFACT_MAX_BYTES, RELEASE_ARTIFACTS_MAX, RELEASE_PRIORITY_MAX } from "./limits.ts";
import { allowedGroups, targetSelector } from "./placement.ts";
import { conditions, type StoredResource } from "./resource.ts";

/** Decodes one artifact of a release. */
export const releaseArtifact = object({
  arch: architecture,
  form: binaryForm,
  url: artifactUrl,
  sha256: sha256Hex,
  maxBytes: integer(1, ARTIFACT_MAX_BYTES),
});
/** One artifact of a release. */
export type ReleaseArtifact = Decoded<typeof releaseArtifact>;

/** Decodes the spec of a release as it is written, without defaults and rules between its members. */
export const releaseSpecShape = object({
  version,
  artifacts: list(releaseArtifact, RELEASE_ARTIFACTS_MAX, 1),
  /** Raised by `fleetctl release retry`: what was tried and failed may be tried again. Default 1. */
  revision: optional(integer(1)),
  /** While true, no new attempt is written. Default false. */
  paused: optional(flag),
  allowedGroups,
  targetSelector,
  /** The highest decides for a device; a tie writes nothing. Default 0. */
  priority: optional(integer(-RELEASE_PRIORITY_MAX, RELEASE_PRIORITY_MAX)),
});

/** The spec of a release with its defaults filled in. */
export type AgentReleaseSpec = Required<Decoded<typeof releaseSpecShape>>;

/** Decodes the spec of a release and fills its defaults in. */
export const agentReleaseSpec: Decoder<AgentReleaseSpec> = refined(releaseSpecShape, (spec, path) => {
  const seen = new Set<string>();
  spec.artifacts.forEach(({ arch, form }, index) => {
    const key = `${arch}/${form}`;
    if (seen.has(key)) {
      throw decodeError(`${path === "" ? "" : `${path}.`}artifacts[${index}]`, `is a second artifact for ${key}`);
    }
    seen.add(key);
  });
  return { ...spec, revision: spec.revision ?? 1, paused: spec.paused ?? false, priority: spec.priority ?? 0 };
});

/** Decodes the status of a release: counts and one bounded error, never a list of devices. */
export const agentReleaseStatus = object({
  /** Devices that the release decides for. */
  targets: integer(0),
  /** Targets that run its version. */
  current: integer(0),
  /** Targets with a non-terminal attempt of it. */
  upgrading: integer(0),
  /** Targets where its identity failed before the switch. */
  failed: integer(0),
  /** Targets where it was started and rolled back. */
  rolledBack: integer(0),
  /** Targets that refuse every attempt until root repairs them. */
  quarantined: integer(0),
  /** Targets that fell silent during an attempt. */
  lost: integer(0),
  /** Targets without a matching artifact or capability. */
  ineligible: integer(0),
  /** Latest error of any target, with the device's id. */
  lastError: optional(detail),
  conditions: optional(conditions),
  observedGeneration: optional(integer(0)),
});
/** The status of a release. */
export type AgentReleaseStatus = Decoded<typeof agentReleaseStatus>;

/** A stored release. */
export type AgentRelease = StoredResource<"AgentRelease", AgentReleaseSpec, AgentReleaseStatus>;
