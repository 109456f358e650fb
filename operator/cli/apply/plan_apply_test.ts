import { assert, assertEquals } from "@std/assert";
import type { AgentRelease } from "../../../contracts/agent_release.ts";
import type { Device } from "../../../contracts/device_resource.ts";
import { API_VERSION } from "../../../contracts/resource.ts";
import { release } from "../../../tests/fakes/operator_samples.ts";
import type { DeviceInput, ReleaseInput } from "../manifest/manifest_input.ts";
import { fieldChangeText } from "./field_changes.ts";
import { applyWarnings, planApply } from "./plan_apply.ts";

const UID = "3f1d7a52-1f0e-4c77-9f5e-6d6a4f0c9b11";
const STORED: AgentRelease = release({ name: "r", revision: 3, paused: true, priority: 5 });
const { revision: _revision, paused: _paused, ...SPEC } = STORED.spec;
const INPUT: ReleaseInput = { kind: "AgentRelease", name: "r", spec: SPEC };
const DEVICE: Device = {
  apiVersion: API_VERSION,
  kind: "Device",
  metadata: {
    name: "d1",
    labels: { "device-id": "d1", site: "lab" },
    uid: UID,
    resourceVersion: "9",
    generation: 2,
    creationTimestamp: "2026-06-01T00:00:00.000Z",
  },
  spec: { groups: ["edge"] },
};
const DEVICE_INPUT: DeviceInput = { kind: "Device", name: "d1", spec: { groups: ["edge"] } };

function changesOf(plan: ReturnType<typeof planApply>): string[] {
  return "changes" in plan ? plan.changes.map(fieldChangeText) : [];
}

Deno.test("planApply() creates what is not there, with defaults and the label that is set by itself", () => {
  const plan = planApply("AgentRelease", INPUT, null);
  assert(plan.action === "create");
  assertEquals([plan.wanted.spec.revision, plan.wanted.spec.paused], [1, false]);
  const device = planApply("Device", { ...DEVICE_INPUT, labels: { site: "x" } }, null);
  assert(device.action === "create");
  assertEquals(device.wanted.labels, { site: "x", "device-id": "d1" });
});

Deno.test("planApply() keeps revision and paused where the document leaves them out, and nothing else", () => {
  assertEquals(planApply("AgentRelease", INPUT, STORED).action, "unchanged");
  const { priority: _priority, ...withoutPriority } = SPEC;
  const plan = planApply("AgentRelease", { ...INPUT, spec: { ...withoutPriority, priority: 0 } }, STORED);
  assertEquals(changesOf(plan), ["~ spec.priority: 5 -> 0"]);
  const given = planApply("AgentRelease", { ...INPUT, spec: { ...SPEC, revision: 4, paused: false } }, STORED);
  assertEquals(changesOf(given), ["~ spec.revision: 3 -> 4", "~ spec.paused: true -> false"]);
});

Deno.test("planApply() keeps labels where the document has none, and replaces them where it has any", () => {
  assertEquals(planApply("Device", DEVICE_INPUT, DEVICE).action, "unchanged");
  const plan = planApply("Device", { ...DEVICE_INPUT, labels: { rack: "7" } }, DEVICE);
  assert(plan.action === "configure");
  assertEquals(plan.resourceVersion, "9");
  assertEquals(changesOf(plan), ['+ metadata.labels.rack: "7"', '- metadata.labels.site: "lab"']);
  assertEquals(changesOf(planApply("Device", { ...DEVICE_INPUT, labels: {} }, DEVICE)), [
    '- metadata.labels.site: "lab"',
  ]);
});

Deno.test("planApply() refuses a document of another state, but not one whose status has changed only", () => {
  const at = (changes: Partial<DeviceInput>) => planApply("Device", { ...DEVICE_INPUT, ...changes }, DEVICE).action;
  assertEquals(at({ uid: UID, generation: 2, resourceVersion: "1" }), "unchanged");
  assertEquals(at({ generation: 1 }), "conflict");
  assertEquals(at({ resourceVersion: "8" }), "conflict");
  assertEquals(at({ resourceVersion: "9" }), "unchanged");
  assertEquals(at({ uid: "3f1d7a52-1f0e-4c77-9f5e-000000000000" }), "conflict");
});

Deno.test("planApply() restores a backup of what is gone", () => {
  assertEquals(planApply("Device", { ...DEVICE_INPUT, uid: UID, generation: 7 }, null).action, "create");
});

Deno.test("applyWarnings() warns of a revision that goes back, and of selectors that place nothing", () => {
  assertEquals(applyWarnings(INPUT, STORED), []);
  assertEquals(applyWarnings({ ...INPUT, spec: { ...SPEC, revision: 3 } }, STORED), []);
  assert(applyWarnings({ ...INPUT, spec: { ...SPEC, revision: 2 } }, STORED)[0]?.includes("goes back from 3 to 2"));
  const selector = { ...INPUT, spec: { ...SPEC, targetSelector: { matchExpressions: [] } } };
  assert(applyWarnings(selector, null)[0]?.includes("matchExpressions is not supported"));
  assertEquals(applyWarnings(DEVICE_INPUT, DEVICE), []);
});
