import { assertEquals } from "@std/assert";
import { assertRejected, assertStrictDecoder } from "../tests/assert/strict_decoder.ts";
import { release } from "../tests/golden/fleet_documents.ts";
import { agentReleaseSpec, agentReleaseStatus, releaseArtifact } from "./agent_release.ts";
import { object } from "./codec.ts";
import { ARCHITECTURES, BINARY_FORMS } from "./formats.ts";
import { ARTIFACT_MAX_BYTES, GROUPS_MAX, RELEASE_ARTIFACTS_MAX, RELEASE_PRIORITY_MAX } from "./limits.ts";

const { spec } = release;
const [artifact] = spec.artifacts;

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

pure("release spec: strict in every field", () => {
  const withExpressions = { ...spec, targetSelector: { ...spec.targetSelector, matchExpressions: [] } };
  assertStrictDecoder(agentReleaseSpec, withExpressions, { anything: ["targetSelector.matchExpressions"] });
});

pure("release status: strict in every field", () => assertStrictDecoder(agentReleaseStatus, release.status));

pure("release spec: defaults are filled in, and what was written stays", () => {
  const { revision: _, paused: __, priority: ___, ...minimal } = spec;
  assertEquals(agentReleaseSpec(minimal, ""), { ...minimal, revision: 1, paused: false, priority: 0 });
  const written = { ...spec, revision: 9, paused: true, priority: -3 };
  assertEquals(agentReleaseSpec(written, ""), written);
});

pure("release spec: one artifact for each architecture and form, at least one", () => {
  const every = ARCHITECTURES.flatMap((arch) => BINARY_FORMS.map((form) => ({ ...artifact, arch, form })));
  assertEquals(agentReleaseSpec({ ...spec, artifacts: every }, "").artifacts.length, every.length);
  assertRejected(agentReleaseSpec, { ...spec, artifacts: [] }, "artifacts", "none", "at least 1");
  assertRejected(agentReleaseSpec, { ...spec, artifacts: [...every, artifact] }, "artifacts[4]", "two", "is a second");
  assertRejected(
    object({ spec: agentReleaseSpec }),
    { spec: { ...spec, artifacts: [artifact, artifact] } },
    "spec.artifacts[1]",
  );
  const many = (count: number) => ({ ...spec, artifacts: Array(count).fill(artifact) });
  // No release can have more different ones than there are pairs, so that the number is met before the pairs.
  assertRejected(agentReleaseSpec, many(RELEASE_ARTIFACTS_MAX), "artifacts[1]");
  assertRejected(agentReleaseSpec, many(RELEASE_ARTIFACTS_MAX + 1), "artifacts", "too many", "at most 16");
});

pure("release spec: priority, revision, groups and artifact size at their limits", () => {
  for (const priority of [RELEASE_PRIORITY_MAX - 1, RELEASE_PRIORITY_MAX, -RELEASE_PRIORITY_MAX]) {
    agentReleaseSpec({ ...spec, priority }, "");
  }
  for (const priority of [RELEASE_PRIORITY_MAX + 1, -RELEASE_PRIORITY_MAX - 1]) {
    assertRejected(agentReleaseSpec, { ...spec, priority }, "priority");
  }
  assertRejected(agentReleaseSpec, { ...spec, revision: 0 }, "revision");
  const groups = (count: number) => ({ ...spec, allowedGroups: Array.from({ length: count }, (_, i) => `g${i}`) });
  for (const count of [1, GROUPS_MAX - 1, GROUPS_MAX]) agentReleaseSpec(groups(count), "");
  for (const count of [0, GROUPS_MAX + 1]) assertRejected(agentReleaseSpec, groups(count), "allowedGroups");
  for (const maxBytes of [1, ARTIFACT_MAX_BYTES - 1, ARTIFACT_MAX_BYTES]) {
    releaseArtifact({ ...artifact, maxBytes }, "");
  }
  for (const maxBytes of [0, ARTIFACT_MAX_BYTES + 1]) {
    assertRejected(releaseArtifact, { ...artifact, maxBytes }, "maxBytes");
  }
});
