/**
 * The `artifacts:` entry of an AgentRelease for an artifact. Pure.
 *
 * @module
 */
import type { ReleaseArtifact } from "../../../contracts/agent_release.ts";
import { yamlText } from "../render/yaml_text.ts";

/**
 * YAML to copy into a release.
 *
 * @param artifacts The artifacts
 */
export function releaseEntry(artifacts: readonly ReleaseArtifact[]): string {
  return yamlText({ artifacts });
}
