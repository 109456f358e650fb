/**
 * Writes the status of a resource: only when it says something else, and not more often than its turn comes (DESIGN 7).
 *
 * @module
 */
import { sameJson } from "../policy/same_json.ts";
import type { WriteThrottle } from "../runtime/write_throttle.ts";
import type { StoreWrite } from "../stores/port.ts";
import type { ResourceKind } from "../../contracts/resource.ts";
import { OBSERVED } from "./observer.ts";

/** A status and how it is written. */
export interface StatusWrite<K extends ResourceKind> {
  /** Name of the resource, for its turn. */
  readonly name: string;
  /** What stands there; undefined for nothing. */
  readonly stored: unknown;
  /** What shall stand there. */
  readonly next: unknown;
  readonly throttle: WriteThrottle;
  readonly write: () => Promise<StoreWrite<K> | typeof OBSERVED>;
  /** Takes the resource that was written. */
  readonly onWritten: (resource: Extract<StoreWrite<K>, { ok: true }>["resource"]) => void;
}

/**
 * Writes a status if it is due.
 *
 * @param status The status
 * @returns when to look again without an event, in ms from now; null for never
 */
export async function writeStatus<K extends ResourceKind>(status: StatusWrite<K>): Promise<number | null> {
  const { name, next, onWritten, stored, throttle, write } = status;
  if (stored !== undefined && sameJson(stored, next)) return null;
  const waitMs = throttle.waitMs(name);
  if (waitMs > 0) return waitMs;
  throttle.mark(name);
  const written = await write();
  if (written === OBSERVED) return null;
  // What somebody else wrote comes by the watch, which alone tells the devices of a changed spec.
  if (written.ok) onWritten(written.resource);
  return written.ok ? null : throttle.waitMs(name);
}
