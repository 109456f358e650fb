/**
 * Workloads that tests of the agent start from.
 *
 * @module
 */
import { type Ownership, podmanName } from "../../agent/core/container_labels.ts";
import { containerSpec, specDigests } from "../../agent/core/container_spec.ts";
import type { HeldEntry, HeldState } from "../../agent/core/desired_state.ts";
import { readWorkload } from "../../agent/core/desired_workload.ts";
import type { WorkloadContainer } from "../../contracts/podman_workload.ts";
import type { EngineContainer } from "../../agent/podman/port.ts";
import { DEVICE_ID, uuidOf } from "./agent_samples.ts";

/** Image of the samples. */
export const IMAGE = "localhost/app:1";

/** A container as a deployment has it. */
export function containerOf(name: string, changes: Partial<WorkloadContainer> = {}): WorkloadContainer {
  return { name, image: IMAGE, ...changes };
}

/** A desired-state entry as the operator writes it. */
export function entryDocument(
  digit: number,
  containers: readonly WorkloadContainer[],
  generation = 1,
  name = `web-${digit}`,
): Record<string, unknown> {
  return { schema: 1, deploymentId: uuidOf(digit), name, generation, podmanV0: { containers } };
}

/** The same as the agent holds it. */
export function entryOf(...parts: Parameters<typeof entryDocument>): HeldEntry {
  const document = entryDocument(...parts);
  const { deploymentId, generation, name, schema } = document as unknown as HeldEntry;
  return { deploymentId, generation, name, schema, workload: readWorkload(document) };
}

/** A whole desired state. */
export function heldOf(entries: readonly HeldEntry[], changes: Partial<HeldState> = {}): HeldState {
  return {
    generation: 1,
    entries: new Map(entries.map((entry) => [entry.deploymentId, entry])),
    unreadable: new Map(),
    whole: true,
    ...changes,
  };
}

/** Whose the container of an entry is. */
export function ownerOf(entry: HeldEntry, container: WorkloadContainer): Ownership {
  const { deploymentId, generation, name: deployment } = entry;
  return {
    deviceId: DEVICE_ID,
    deploymentId,
    deployment,
    container: container.name,
    generation,
    specs: specDigests(container),
  };
}

/** A running container that was made from an entry. */
export function madeFrom(
  entry: HeldEntry,
  container: WorkloadContainer,
  changes: Partial<EngineContainer> = {},
): EngineContainer {
  const owner = ownerOf(entry, container);
  const name = podmanName(owner);
  return {
    id: `id of ${name}`,
    name,
    labels: containerSpec(container, owner, name).labels,
    phase: "running",
    state: "running",
    startedAtS: 100,
    exitedAtS: 0,
    exitCode: 0,
    ...changes,
  };
}
