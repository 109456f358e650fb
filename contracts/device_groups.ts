/**
 * The groups of one device in the bucket `device-groups`: what an identity system or an administrator writes, for fleets
 * whose groups are not to stand in the devices' resources (DESIGN 3).
 *
 * @module
 */
import { decodeBytes, type Decoded, integer, object, parseJson } from "./codec.ts";
import { unknownProblems } from "./decode_problems.ts";
import { groups } from "./formats.ts";
import { DEVICE_GROUPS_MAX_BYTES } from "./limits.ts";

/** Newest schema of the document. */
export const DEVICE_GROUPS_SCHEMA = 1;

/** Decodes the groups of a device. */
export const deviceGroups = object({
  schema: integer(1, DEVICE_GROUPS_SCHEMA),
  /** Groups that authorize the device; none authorizes it nowhere. */
  groups,
});
/** The groups of a device. */
export type DeviceGroups = Decoded<typeof deviceGroups>;

/**
 * Reads the groups of a device. It is strict, unlike what devices and the operator write to one another: a member that is
 * not understood may be a condition, and what is authorized under a condition must not be authorized without it.
 *
 * @param bytes The document, at most {@link DEVICE_GROUPS_MAX_BYTES}
 * @throws {FleetError} `E_DECODE` naming the first problem
 */
export function readDeviceGroups(bytes: Uint8Array): DeviceGroups {
  const document = decodeBytes(deviceGroups, bytes, DEVICE_GROUPS_MAX_BYTES);
  const [unknown] = unknownProblems(deviceGroups, parseJson(bytes, { maxBytes: DEVICE_GROUPS_MAX_BYTES }));
  if (unknown !== undefined) throw unknown;
  return document;
}
