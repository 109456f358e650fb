/**
 * What a container is made from, and how to tell later whether it was made from the same.
 *
 * The digest stands in a label that names the version of its algorithm. An agent writes every version that it knows, and
 * compares by the newest that both know, so that neither an upgrade nor a rollback makes containers anew. `digestV1`
 * never changes: another algorithm gets another version beside it.
 *
 * @module
 */
import { canonicalDigest } from "../../contracts/digest.ts";
import { CONTAINER_STOP_DEFAULT_S } from "../../contracts/limits.ts";
import type { WorkloadContainer } from "../../contracts/podman_workload.ts";
import type { ContainerSpec } from "../podman/port.ts";
import { labelsOf, type Ownership } from "./container_labels.ts";

/**
 * A container without what others decide: its name and the agent's labels. The policy of pulls is no part of a container:
 * it says how one is made.
 */
function body(container: WorkloadContainer): Omit<ContainerSpec, "name" | "labels"> {
  const { command, entrypoint, image, networkMode, user } = container;
  return {
    image,
    env: container.env ?? {},
    ports: (container.ports ?? []).map((port) => ({
      containerPort: port.containerPort,
      hostPort: port.hostPort,
      protocol: port.protocol ?? "tcp",
      hostIp: port.hostIp ?? "",
    })),
    volumes: (container.volumes ?? []).map((volume) => ({
      type: volume.type,
      source: volume.source,
      target: volume.target,
      readOnly: volume.readOnly ?? false,
    })),
    restartPolicy: container.restartPolicy ?? "always",
    stopTimeoutS: container.stopTimeoutSeconds ?? CONTAINER_STOP_DEFAULT_S,
    ...(entrypoint === undefined ? {} : { entrypoint }),
    ...(command === undefined ? {} : { command }),
    ...(user === undefined ? {} : { user }),
    ...(networkMode === undefined ? {} : { networkMode }),
  };
}

function digestV1(container: WorkloadContainer): string {
  return canonicalDigest({ ...body(container), labels: container.labels ?? {} });
}

/** Digests of what a container is made from, by version of the algorithm; the newest last. */
export function specDigests(container: WorkloadContainer): Readonly<Record<string, string>> {
  return { v1: digestV1(container) };
}

/**
 * Whether a container was made from what is wanted now.
 *
 * @param owner What the labels of the container say
 * @param digests Digests of what is wanted
 * @param generation Generation of the deployment that wants it
 */
export function isMadeFrom(owner: Ownership, digests: Readonly<Record<string, string>>, generation: number): boolean {
  const shared = Object.keys(digests).filter((version) => Object.hasOwn(owner.specs, version)).at(-1);
  // Made by an agent that knows none of our algorithms: the generation is all that both know.
  if (shared === undefined) return owner.generation === generation;
  return owner.specs[shared] === digests[shared];
}

/**
 * The container to make.
 *
 * @param container What is wanted
 * @param owner Whose it is
 * @param name Podman's name of it
 */
export function containerSpec(container: WorkloadContainer, owner: Ownership, name: string): ContainerSpec {
  return { ...body(container), name, labels: { ...container.labels, ...labelsOf(owner) } };
}
