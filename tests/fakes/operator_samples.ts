/**
 * Resources and facts for the tests of the policies: plain ones, and what a test changes about them.
 *
 * @module
 */
import type { AgentRelease, AgentReleaseSpec, ReleaseArtifact } from "../../contracts/agent_release.ts";
import type { FleetDeployment, FleetDeploymentSpec } from "../../contracts/fleet_deployment.ts";
import { API_VERSION } from "../../contracts/resource.ts";

/** A SHA-256 of one repeated digit. */
export const digest = (digit: string): string => digit.repeat(64);

/** The artifact of most tests. */
export const ARTIFACT: ReleaseArtifact = {
  arch: "x86_64",
  form: "script",
  url: "https://artifacts.example/fleet-agent-v1.1.0",
  sha256: digest("a"),
  maxBytes: 1_000_000,
};

/** A release of version 1.1.0 for the group `edge`. */
export function release(changes: Partial<AgentReleaseSpec> & { readonly name: string }): AgentRelease {
  const { name, ...spec } = changes;
  return {
    apiVersion: API_VERSION,
    kind: "AgentRelease",
    metadata: {
      name,
      labels: {},
      uid: "3f1d7a52-1f0e-4c77-9f5e-6d6a4f0c9b11",
      resourceVersion: "1",
      generation: 1,
      creationTimestamp: "2026-06-01T00:00:00.000Z",
    },
    spec: {
      version: "1.1.0",
      artifacts: [ARTIFACT],
      revision: 1,
      paused: false,
      allowedGroups: ["edge"],
      targetSelector: {},
      priority: 0,
      ...spec,
    },
  };
}

/** A deployment of one container for the group `edge`. */
export function deployment(changes: Partial<FleetDeploymentSpec> & { readonly name: string }): FleetDeployment {
  const { name, ...spec } = changes;
  return {
    apiVersion: API_VERSION,
    kind: "FleetDeployment",
    metadata: {
      name,
      labels: {},
      uid: "5d0c2b0e-6c2e-4a39-8f51-0d3a4b6f7a21",
      resourceVersion: "1",
      generation: 1,
      creationTimestamp: "2026-06-01T00:00:00.000Z",
    },
    spec: {
      allowedGroups: ["edge"],
      targetSelector: {},
      podmanV0: { containers: [{ name: "app", image: "registry.example/app:1" }] },
      ...spec,
    },
  };
}
