/**
 * What makes two attempts on one device the same release, and which artifact of a release a device takes (DESIGN 3).
 *
 * @module
 */
import type { AgentReleaseSpec, ReleaseArtifact } from "./agent_release.ts";
import { canonicalDigest } from "./digest.ts";

/** What an identity is taken over. */
export interface ReleaseIdentityInput extends Pick<AgentReleaseSpec, "version" | "revision"> {
  /** The artifact that matches the device. */
  readonly artifact: ReleaseArtifact;
}

/**
 * Identity of a release on a device: the canonical digest of its version, the artifact that matches the device, and
 * its revision. An identity that failed is not tried again on that device; a change of the selector, the groups, the
 * priority or another device's artifact leaves it as it is, `fleetctl release retry` (a higher revision) changes it
 * (DESIGN 3; `Fleet agent upgrades`, Intent).
 *
 * @param input The parts
 */
export function releaseIdentity(input: ReleaseIdentityInput): string {
  const { arch, form, url, sha256, maxBytes } = input.artifact;
  // Named one by one, so that a member that a later version adds does not change the identities that devices remember.
  return canonicalDigest({
    version: input.version,
    revision: input.revision,
    artifact: { arch, form, url, sha256, maxBytes },
  });
}

/**
 * The artifact that a device takes, or undefined when the release has none for it (`NoArtifact`).
 *
 * @param artifacts Artifacts of the release, at most one for each pair of architecture and form
 * @param arch Architecture that the device reports
 * @param form Form that the device reports; `source` matches nothing
 *
 * @example
 * ```ts
 * import { matchArtifact } from "./release_identity.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const url = "https://artifacts.example/fleet-agent-v1.4.0";
 * const script = { arch: "x86_64", form: "script", url, sha256: "0".repeat(64), maxBytes: 1_048_576 } as const;
 * assertEquals(matchArtifact([script], "x86_64", "script"), script);
 * assertEquals(matchArtifact([script], "x86_64", "source"), undefined);
 * ```
 */
export function matchArtifact(
  artifacts: readonly ReleaseArtifact[],
  arch: string,
  form: string,
): ReleaseArtifact | undefined {
  return artifacts.find((artifact) => artifact.arch === arch && artifact.form === form);
}
