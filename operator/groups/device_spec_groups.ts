/**
 * The default source of groups: what the device's resource says.
 *
 * @module
 */
import type { GroupSource } from "./port.ts";

/** `Device.spec.groups`. */
export const deviceSpecGroups: GroupSource = {
  groupsOf: (device) => Promise.resolve(device.spec.groups),
  run: () => Promise.resolve(),
  // A change of the resource is seen as such.
  onChange: () => () => {},
};
