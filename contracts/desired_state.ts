/**
 * The desired state of a device: one entry per deployment, and a generation that proves that the set is whole
 * (DESIGN 4: a snapshot without the generation removes nothing).
 *
 * @module
 */
import { type Decoded, integer, object } from "./codec.ts";
import { instant, resourceName, uuid } from "./formats.ts";
import { podmanV0 } from "./podman_workload.ts";

/** Last token of the key that holds a device's generation. */
export const GENERATION_TOKEN = "_generation";

/** Decodes a device's generation: the operator writes it after the entries that it counts. */
export const desiredGeneration = object({
  schema: integer(1),
  /**
   * Rises with every change of the device's entries. The operator takes the larger of the last one plus one and its clock
   * in ms, so that it goes on above what devices hold when the bucket was lost or restored.
   */
  generation: integer(1),
  /** Entries that a complete snapshot has. */
  entries: integer(0),
  updatedAt: instant,
});
/** A device's generation. */
export type DesiredGeneration = Decoded<typeof desiredGeneration>;

/** Schema version of an entry that this program writes and understands; it is raised with what must not be ignored. */
export const DESIRED_ENTRY_SCHEMA = 1;

const header = {
  schema: integer(1),
  /** UID of the deployment, which is also the last token of the key. */
  deploymentId: uuid,
  name: resourceName,
  /** Generation of the deployment's spec. */
  generation: integer(1),
};

/** Decodes what every entry has, whatever workload it describes. */
export const desiredEntry = object(header);
/** What every entry has. */
export type DesiredEntry = Decoded<typeof desiredEntry>;

/**
 * Decodes the entry of a `FleetDeployment`. A device that finds an entry of another workload or of a higher schema says
 * so in its status and leaves the deployment's containers alone.
 */
export const desiredDeployment = object({ ...header, podmanV0 });
/** The entry of a `FleetDeployment`. */
export type DesiredDeployment = Decoded<typeof desiredDeployment>;
