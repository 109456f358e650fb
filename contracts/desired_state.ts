/**
 * The desired state of a device: one entry per deployment, and a generation that proves that the set is whole
 * (DESIGN 4: a snapshot without the generation removes nothing).
 *
 * @module
 */
import { type Decoded, integer, object } from "./codec.ts";
import { instant, resourceName, uuid } from "./formats.ts";

/** Last token of the key that holds a device's generation. */
export const GENERATION_TOKEN = "_generation";

/** Decodes a device's generation: the operator writes it after the entries that it counts. */
export const desiredGeneration = object({
  schema: integer(1),
  /** Rises with every change of the device's entries. */
  generation: integer(1),
  /** Entries that a complete snapshot has. */
  entries: integer(0),
  updatedAt: instant,
});
/** A device's generation. */
export type DesiredGeneration = Decoded<typeof desiredGeneration>;

/** Decodes what every entry has, whatever workload it describes. */
export const desiredEntry = object({
  schema: integer(1),
  /** UID of the deployment, which is also the last token of the key. */
  deploymentId: uuid,
  name: resourceName,
  generation: integer(1),
});
/** What every entry has. */
export type DesiredEntry = Decoded<typeof desiredEntry>;
