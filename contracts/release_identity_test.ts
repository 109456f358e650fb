import { assertEquals, assertNotEquals } from "@std/assert";
import { agentReleaseSpec, type ReleaseArtifact } from "./agent_release.ts";
import { matchArtifact, releaseIdentity } from "./release_identity.ts";

const artifact: ReleaseArtifact = {
  arch: "x86_64",
  form: "script",
  url: "https://artifacts.example/fleet-agent-v1.4.0",
  sha256: "ab".repeat(32),
  maxBytes: 1_048_576,
};

Deno.test({
  name: "releaseIdentity() stays the same over versions of this code: devices remember it",
  permissions: "none",
  fn() {
    assertEquals(
      releaseIdentity({ version: "1.4.0", revision: 1, artifact }),
      "c911086dd9064371b7172dd49bbad958ebd4a6984510719ef1b63c076c91339e",
    );
  },
});

Deno.test({
  name: "releaseIdentity() changes with version, revision and every member of the artifact, and with nothing else",
  permissions: "none",
  fn() {
    const identity = releaseIdentity({ version: "1.4.0", revision: 1, artifact });
    const changed = [
      { version: "1.4.1", revision: 1, artifact },
      { version: "1.4.0", revision: 2, artifact },
      { version: "1.4.0", revision: 1, artifact: { ...artifact, arch: "aarch64" as const } },
      { version: "1.4.0", revision: 1, artifact: { ...artifact, form: "compiled" as const } },
      { version: "1.4.0", revision: 1, artifact: { ...artifact, url: `${artifact.url}-b` } },
      { version: "1.4.0", revision: 1, artifact: { ...artifact, sha256: "cd".repeat(32) } },
      { version: "1.4.0", revision: 1, artifact: { ...artifact, maxBytes: 1_048_577 } },
    ].map(releaseIdentity);
    for (const other of changed) assertNotEquals(other, identity);
    assertEquals(new Set(changed).size, changed.length);
    const newer = { ...artifact, unknownToThisVersion: true };
    assertEquals(releaseIdentity({ version: "1.4.0", revision: 1, artifact: newer }), identity);
  },
});

Deno.test({
  name: "releaseIdentity() of a decoded release ignores selector, groups, priority and pause",
  permissions: "none",
  fn() {
    const identityOf = (more: Record<string, unknown>) => {
      const document = { version: "1.4.0", artifacts: [artifact], allowedGroups: ["a"], targetSelector: {}, ...more };
      const spec = agentReleaseSpec(document, "spec");
      const matched = matchArtifact(spec.artifacts, "x86_64", "script");
      return matched && releaseIdentity({ ...spec, artifact: matched });
    };
    const identity = identityOf({});
    assertEquals(identity, releaseIdentity({ version: "1.4.0", revision: 1, artifact }));
    const edited = { allowedGroups: ["b"], targetSelector: { matchLabels: { site: "x" } }, priority: 5, paused: true };
    assertEquals(identityOf(edited), identity);
    assertNotEquals(identityOf({ revision: 2 }), identity);
  },
});

Deno.test({
  name: "matchArtifact() wants both architecture and form",
  permissions: "none",
  fn() {
    const compiled: ReleaseArtifact = { ...artifact, form: "compiled" };
    const arm: ReleaseArtifact = { ...artifact, arch: "aarch64" };
    const artifacts = [artifact, compiled, arm];
    assertEquals(matchArtifact(artifacts, "x86_64", "script"), artifact);
    assertEquals(matchArtifact(artifacts, "x86_64", "compiled"), compiled);
    assertEquals(matchArtifact(artifacts, "aarch64", "script"), arm);
    assertEquals(matchArtifact(artifacts, "aarch64", "compiled"), undefined);
    assertEquals(matchArtifact(artifacts, "x86_64", "source"), undefined);
    assertEquals(matchArtifact([], "x86_64", "script"), undefined);
  },
});
