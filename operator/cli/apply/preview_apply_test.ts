import { assertEquals, assertThrows } from "@std/assert";
import type { AgentRelease } from "../../../contracts/agent_release.ts";
import type { Device, DeviceStatus } from "../../../contracts/device_resource.ts";
import { FleetError } from "../../../contracts/errors.ts";
import { releaseIdentity } from "../../../contracts/release_identity.ts";
import { API_VERSION } from "../../../contracts/resource.ts";
import { sampleDeviceStatus } from "../../../tests/fakes/memory_fleet.ts";
import { ARTIFACT, deployment, release } from "../../../tests/fakes/operator_samples.ts";
import type { DeploymentInput, ManifestInput, ReleaseInput } from "../manifest/manifest_input.ts";
import { previewApply } from "./preview_apply.ts";

function device(name: string, groups: string[], status: Partial<DeviceStatus> | null = {}): Device {
  return {
    apiVersion: API_VERSION,
    kind: "Device",
    metadata: {
      name,
      labels: { "device-id": name },
      uid: "3f1d7a52-1f0e-4c77-9f5e-6d6a4f0c9b11",
      resourceVersion: "1",
      generation: 1,
      creationTimestamp: "2026-06-01T00:00:00.000Z",
    },
    spec: { groups },
    ...(status === null ? {} : { status: sampleDeviceStatus(status) }),
  };
}

function input(changes: Partial<AgentRelease["spec"]> = {}, name = "r"): ReleaseInput {
  const { revision: _revision, paused: _paused, ...spec } = release({ name }).spec;
  return { kind: "AgentRelease", name, spec: { ...spec, ...changes } };
}

const NO_DEPLOYMENTS = { gained: [], lost: [], changed: [] };
const IDENTITY = releaseIdentity({ version: "1.1.0", revision: 1, artifact: ARTIFACT });
const FLEET: readonly Device[] = [
  device("d1", ["edge"]),
  device("d2", ["edge"]),
  device("d3", ["edge"], { agentVersion: "1.1.0" }),
  device("d4", ["edge"], { arch: "aarch64" }),
  device("d5", ["edge"], { capabilities: [] }),
  device("d6", ["edge"], { failedIdentities: [IDENTITY] }),
  device("d7", ["edge"], { quarantined: true }),
  device("d8", ["edge"], null),
  device("d9", []),
];

Deno.test("previewApply() counts what a new release would do, by the operator's own rules", () => {
  const { results, impact } = previewApply([input()], { devices: FLEET, deployments: [], releases: [] });
  assertEquals(results.map(({ action }) => action), ["created"]);
  assertEquals(impact.releases, [{
    release: "r",
    targets: 8,
    wouldUpgrade: 2,
    others: { UpToDate: 1, NoArtifact: 1, UpdaterTooOld: 1, Failed: 1, Quarantined: 1, NoDeviceInfo: 1 },
    gained: 8,
    lost: 0,
    tied: 0,
  }]);
  assertEquals(impact.newAttempts, 2);
});

Deno.test("previewApply() sees that a document changes nothing", () => {
  const { results, impact } = previewApply([input()], {
    devices: FLEET,
    deployments: [],
    releases: [release({ name: "r" })],
  });
  assertEquals(results.map(({ action, changes }) => [action, changes.length]), [["unchanged", 0]]);
  assertEquals([impact.newAttempts, impact.releases[0]?.gained], [0, 0]);
});

Deno.test("previewApply() counts devices that are taken from another release, and ties", () => {
  const old = release({ name: "old", version: "1.0.0" });
  const higher = previewApply([input({ priority: 1 })], { devices: FLEET, deployments: [], releases: [old] }).impact;
  assertEquals([higher.releases[0]?.gained, higher.releases[0]?.tied, higher.newAttempts], [8, 0, 2]);
  const tie = previewApply([input()], { devices: FLEET, deployments: [], releases: [old] }).impact;
  assertEquals([tie.releases[0]?.targets, tie.releases[0]?.tied, tie.newAttempts], [0, 8, 0]);
  const leaves = previewApply([input({ targetSelector: { matchLabels: { "device-id": "d1" } } })], {
    devices: FLEET,
    deployments: [],
    releases: [release({ name: "r" })],
  }).impact;
  assertEquals([leaves.releases[0]?.targets, leaves.releases[0]?.lost], [1, 7]);
});

Deno.test("previewApply() tells a paused release, and one that is retried, from one that is written", () => {
  const state = { devices: FLEET, deployments: [], releases: [release({ name: "r", paused: true })] };
  const paused = previewApply([input()], state).impact.releases[0];
  assertEquals([paused?.wouldUpgrade, paused?.others.Paused], [0, 2]);
  const retried =
    previewApply([input({ revision: 2 })], { devices: FLEET, deployments: [], releases: [release({ name: "r" })] })
      .impact;
  assertEquals([retried.releases[0]?.others.Failed, retried.newAttempts], [undefined, 1]);
});

Deno.test("previewApply() tells for each device what would decide for it", () => {
  const inputs: ManifestInput[] = [
    { kind: "Device", name: "d9", spec: { groups: ["edge"] } },
    { kind: "Device", name: "d1", spec: { groups: [] } },
    { kind: "Device", name: "new", spec: { groups: ["edge"] } },
  ];
  const { impact } = previewApply(inputs, { devices: FLEET, deployments: [], releases: [release({ name: "r" })] });
  assertEquals(impact.devices, [
    {
      device: "d1",
      before: "r (upgrade to 1.1.0)",
      after: "none (NoGroups)",
      wouldUpgrade: false,
      deployments: NO_DEPLOYMENTS,
    },
    {
      device: "d9",
      before: "none (NoGroups)",
      after: "r (upgrade to 1.1.0)",
      wouldUpgrade: true,
      deployments: NO_DEPLOYMENTS,
    },
    { device: "new", before: "not there", after: "r (NoDeviceInfo)", wouldUpgrade: false, deployments: NO_DEPLOYMENTS },
  ]);
  assertEquals(impact.newAttempts, 1);
});

Deno.test("previewApply() combines all documents, in any order", () => {
  const inputs: ManifestInput[] = [input(), { kind: "Device", name: "d9", spec: { groups: ["edge"] } }];
  for (const order of [inputs, inputs.toReversed()]) {
    const { impact } = previewApply(order, { devices: FLEET, deployments: [], releases: [] });
    assertEquals([impact.releases[0]?.targets, impact.releases[0]?.wouldUpgrade, impact.newAttempts], [9, 3, 3]);
  }
});

Deno.test("previewApply() refuses what apply would refuse", () => {
  const state = { devices: FLEET, deployments: [], releases: [release({ name: "r" })] };
  const error = assertThrows(() => previewApply([{ ...input(), generation: 2 }], state), FleetError);
  assertEquals(error.code, "E_CONFLICT");
});

function workload(name: string, image = "r.example/app:1", groups = ["edge"]): DeploymentInput {
  const podmanV0 = { containers: [{ name: "app", image }] };
  return {
    kind: "FleetDeployment",
    name,
    spec: { ...deployment({ name }).spec, allowedGroups: groups, podmanV0 },
  };
}

Deno.test("previewApply() counts on how many devices containers would change, by the operator's own rule", () => {
  const web = { ...deployment({ name: "web" }), spec: workload("web").spec };
  const state = { devices: [device("d1", ["edge"]), device("d2", ["edge", "core"]), device("d3", [])], releases: [] };
  const created = previewApply([workload("web")], { ...state, deployments: [] });
  assertEquals(created.results.map(({ action }) => action), ["created"]);
  assertEquals(created.impact.deployments, [{ deployment: "web", targets: 2, gained: 2, lost: 0, changed: 0 }]);
  assertEquals([created.impact.workloadsChanged, created.impact.newAttempts], [2, 0]);
  const edited = previewApply([workload("web", "r.example/app:2", ["core"])], { ...state, deployments: [web] }).impact;
  assertEquals(edited.deployments, [{ deployment: "web", targets: 1, gained: 0, lost: 1, changed: 1 }]);
  assertEquals(edited.workloadsChanged, 2);
  const unchanged = previewApply([workload("web")], { ...state, deployments: [web] });
  assertEquals([unchanged.results[0]?.action, unchanged.impact.workloadsChanged], ["unchanged", 0]);
  const closed = workload("web");
  const warned = previewApply([{ ...closed, spec: { ...closed.spec, targetSelector: { matchExpressions: [] } } }], {
    ...state,
    deployments: [web],
  });
  assertEquals(warned.impact.deployments[0]?.lost, 2);
  assertEquals(warned.results[0]?.warnings, [
    "targetSelector.matchExpressions is not supported: the deployment is placed on no device",
  ]);
});

Deno.test("previewApply() says which deployments a device would get, change and lose", () => {
  const deployments = ["web", "db"].map((name) => ({ ...deployment({ name }), spec: workload(name).spec }));
  const state = { devices: [device("d1", ["edge"]), device("d2", ["core"])], releases: [], deployments };
  const inputs: ManifestInput[] = [
    workload("web", "r.example/app:2"),
    { kind: "Device", name: "d1", spec: { groups: ["edge"] } },
    { kind: "Device", name: "d2", spec: { groups: ["edge"] } },
  ];
  const { impact } = previewApply(inputs, state);
  assertEquals(impact.devices.map(({ device, deployments }) => [device, deployments]), [
    ["d1", { gained: [], lost: [], changed: ["web"] }],
    ["d2", { gained: ["db", "web"], lost: [], changed: [] }],
  ]);
  const left = previewApply([{ kind: "Device", name: "d1", spec: { groups: [] } }], state).impact;
  assertEquals(left.devices[0]?.deployments.lost, ["db", "web"]);
});
