/**
 * Where the groups of a device come from, as a port: groups authorize, so whoever can write them decides which devices
 * take which release (DESIGN 3).
 *
 * @module
 */
import type { Device } from "../../contracts/device_resource.ts";

/** Groups of devices. */
export interface GroupSource {
  /**
   * The groups that authorize a device now. A failure is an error, never an empty answer: an empty answer takes the
   * device away from its release.
   *
   * @throws {FleetError} `transient` when it cannot be known now, `permanent` when what stands there must be mended
   * first; planning is tried again either way, and nothing is changed until then
   */
  groupsOf(device: Device): Promise<readonly string[]>;
  /**
   * Follows the source until the signal aborts, where it must be followed; until it has been read, `groupsOf` waits or
   * fails.
   */
  run(signal: AbortSignal): Promise<void>;
  /**
   * Calls a listener with the id of each device whose groups may have changed other than by its resource.
   *
   * @returns a function that ends it
   */
  onChange(listener: (deviceId: string) => void): () => void;
}
