/**
 * Tells what applying documents would do, without doing it: field by field, and on how many devices.
 *
 * @module
 */
import { API_VERSION, type StoredMetadata } from "../../../contracts/resource.ts";
import type { ResourceOf } from "../../stores/port.ts";
import type { FleetctlKind, ManifestInput } from "../manifest/manifest_input.ts";
import { type ApplyResult, conflictError } from "./apply_inputs.ts";
import { type FleetImpact, fleetImpact, type FleetState } from "./fleet_impact.ts";
import { previewRun, type RunPreview } from "../tasks/run_preview.ts";
import { applyWarnings, type InputOf, planApply } from "./plan_apply.ts";

/** What applying documents would do. */
export interface ApplyPreview {
  readonly results: readonly ApplyResult[];
  readonly impact: FleetImpact;
  /** What each new run would do. */
  readonly tasks: readonly TaskImpact[];
}

/** What a new run would do. */
export interface TaskImpact extends RunPreview {
  readonly task: string;
}

/**
 * Previews documents on the state of a fleet.
 *
 * @param inputs The documents, each of another resource
 * @param before The fleet as it is
 * @throws {FleetError} `E_CONFLICT` when a document was read from another state than the present one
 */
export function previewApply(inputs: readonly ManifestInput[], before: FleetState): ApplyPreview {
  const devices = new Map(before.devices.map((device) => [device.metadata.name, device]));
  const releases = new Map(before.releases.map((release) => [release.metadata.name, release]));
  const deployments = new Map(before.deployments.map((deployment) => [deployment.metadata.name, deployment]));
  const tasks = new Map((before.tasks ?? []).map((task) => [task.metadata.name, task]));
  const known = new Set(tasks.keys());
  const results = inputs.map((input) => {
    switch (input.kind) {
      case "Device":
        return preview("Device", input, devices);
      case "AgentRelease":
        return preview("AgentRelease", input, releases);
      case "FleetDeployment":
        return preview("FleetDeployment", input, deployments);
      case "TaskRun":
        return preview("TaskRun", input, tasks);
    }
  });
  const namesOf = (kind: FleetctlKind) =>
    new Set(inputs.filter((input) => input.kind === kind).map(({ name }) => name));
  const changed = {
    devices: namesOf("Device"),
    releases: namesOf("AgentRelease"),
    deployments: namesOf("FleetDeployment"),
  };
  const state = {
    devices: [...devices.values()],
    releases: [...releases.values()],
    deployments: [...deployments.values()],
  };
  const started = inputs.flatMap((input) =>
    input.kind !== "TaskRun" || known.has(input.name)
      ? []
      : [{ task: input.name, ...previewRun(input.spec, state.devices) }]
  );
  return { results, impact: fleetImpact(before, state, changed), tasks: started };
}

/** Puts what the document would make into the place of what is stored. */
function preview<K extends FleetctlKind>(
  kind: K,
  input: InputOf<K>,
  resources: Map<string, ResourceOf[K]>,
): ApplyResult {
  const { name } = input;
  const stored = resources.get(name) ?? null;
  const plan = planApply(kind, input, stored);
  if (plan.action === "conflict") throw conflictError(kind, name, plan.why);
  const { labels, spec } = plan.wanted;
  const metadata = { ...(stored?.metadata ?? newMetadata(name)), labels };
  // Kind and spec belong together; TypeScript cannot see that through the type parameter.
  const resource = { ...stored, apiVersion: API_VERSION, kind, metadata, spec } as unknown as ResourceOf[K];
  resources.set(name, resource);
  const action = plan.action === "create" ? "created" : plan.action === "configure" ? "configured" : "unchanged";
  const changes = plan.action === "unchanged" ? [] : plan.changes;
  return { kind, name, action, changes, warnings: applyWarnings(input, stored) };
}

/** Metadata that no store has made yet; nothing looks at more than name and labels. */
function newMetadata(name: string): Omit<StoredMetadata, "labels"> {
  return { name, uid: "", resourceVersion: "", generation: 1, creationTimestamp: "" };
}
