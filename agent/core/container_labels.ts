/**
 * The labels that make a container the agent's, and what they say. Only a container that has all of them, of this
 * device, under the name that they tell, is the agent's: labels alone also come with an image that somebody has made of
 * such a container.
 *
 * @module
 */
import { containerName, OWN_LABEL_PREFIX } from "../../contracts/podman_workload.ts";
import { resourceName, uuid } from "../../contracts/formats.ts";
import type { Decoder } from "../../contracts/codec.ts";
import { isFleetError } from "../../contracts/errors.ts";

/** Labels of the agent's containers. */
export const LABELS = {
  device: `${OWN_LABEL_PREFIX}device-id`,
  deploymentId: `${OWN_LABEL_PREFIX}deployment-id`,
  deployment: `${OWN_LABEL_PREFIX}deployment`,
  container: `${OWN_LABEL_PREFIX}container`,
  generation: `${OWN_LABEL_PREFIX}generation`,
} as const;

/** Prefix of the labels with the digests of what the container was made from, by version of the algorithm. */
export const SPEC_LABEL_PREFIX = `${OWN_LABEL_PREFIX}spec-`;

/** Whose a container is. */
export interface Ownership {
  readonly deviceId: string;
  readonly deploymentId: string;
  /** Name of the deployment. */
  readonly deployment: string;
  /** Name of the container within it. */
  readonly container: string;
  /** Generation of the deployment when the container was made. */
  readonly generation: number;
  /** Digests of what it was made from, by version of the algorithm. */
  readonly specs: Readonly<Record<string, string>>;
}

/** Podman's name of a container. No name of a deployment or a container has an underscore, so that both are unique. */
export function podmanName({ container, deployment }: Pick<Ownership, "container" | "deployment">): string {
  return `${deployment}.${container}`;
}

/** Podman's name of a container that is made while the one that it replaces still has the name. */
export function successorName(owner: Pick<Ownership, "container" | "deployment">): string {
  return `${podmanName(owner)}_next`;
}

/** The labels of a container. */
export function labelsOf(owner: Ownership): Record<string, string> {
  return {
    [LABELS.device]: owner.deviceId,
    [LABELS.deploymentId]: owner.deploymentId,
    [LABELS.deployment]: owner.deployment,
    [LABELS.container]: owner.container,
    [LABELS.generation]: String(owner.generation),
    ...Object.fromEntries(
      Object.entries(owner.specs).map(([version, digest]) => [SPEC_LABEL_PREFIX + version, digest]),
    ),
  };
}

/**
 * Whose a container is; null when it is not the agent's of this device.
 *
 * @param deviceId This device
 * @param found Name and labels of a container
 */
export function ownershipOf(
  deviceId: string,
  found: { readonly name: string; readonly labels: Readonly<Record<string, string>> },
): Ownership | null {
  const read = (label: string, decoder: Decoder<string>) =>
    Object.hasOwn(found.labels, label) ? decoder(found.labels[label], label) : "";
  try {
    const owner = {
      deviceId: Object.hasOwn(found.labels, LABELS.device) ? found.labels[LABELS.device] ?? "" : "",
      deploymentId: read(LABELS.deploymentId, uuid),
      deployment: read(LABELS.deployment, resourceName),
      container: read(LABELS.container, containerName),
      generation: Number(found.labels[LABELS.generation] ?? 0),
      specs: Object.fromEntries(
        Object.entries(found.labels).filter(([label]) => label.startsWith(SPEC_LABEL_PREFIX))
          .map(([label, digest]) => [label.slice(SPEC_LABEL_PREFIX.length), digest]),
      ),
    };
    if (owner.deviceId !== deviceId || Object.values(owner).includes("")) return null;
    return [podmanName(owner), successorName(owner)].includes(found.name) ? owner : null;
  } catch (error) {
    if (isFleetError(error, "E_DECODE")) return null;
    throw error;
  }
}
