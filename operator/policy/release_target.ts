/**
 * What a release is on a device of one architecture and form.
 *
 * @module
 */
import type { AgentRelease, AgentReleaseSpec, ReleaseArtifact } from "../../contracts/agent_release.ts";
import { matchArtifact, releaseIdentity } from "../../contracts/release_identity.ts";

/** The artifact that a device takes, and the identity that it gives the release there. */
export interface ReleaseTarget {
  readonly artifact: ReleaseArtifact;
  readonly identity: string;
}

/** One digest per spec and artifact, not one per device: a spec never changes once it is read. */
const KNOWN = new WeakMap<AgentReleaseSpec, Map<ReleaseArtifact, ReleaseTarget>>();

/**
 * The target of a release, or undefined when it has no artifact for the device.
 *
 * @param release The release
 * @param arch Architecture that the device reports
 * @param form Form that the device reports
 */
export function releaseTarget({ spec }: AgentRelease, arch: string, form: string): ReleaseTarget | undefined {
  const { version, revision, artifacts } = spec;
  const artifact = matchArtifact(artifacts, arch, form);
  if (artifact === undefined) return undefined;
  let targets = KNOWN.get(spec);
  if (targets === undefined) KNOWN.set(spec, targets = new Map());
  let target = targets.get(artifact);
  if (target === undefined) {
    target = { artifact, identity: releaseIdentity({ version, revision, artifact }) };
    targets.set(artifact, target);
  }
  return target;
}
