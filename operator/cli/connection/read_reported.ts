/**
 * A document of a device, as it stands in NATS: its value, or why it cannot be read.
 *
 * @module
 */
import { decodeBytes, type Decoder } from "../../../contracts/codec.ts";
import { isFleetError } from "../../../contracts/errors.ts";
import type { BusEntry } from "../../../lib/bus/port.ts";
import type { Reported } from "../fleet_access.ts";

/**
 * Reads a document.
 *
 * @param entry What stands in the bucket
 * @param decoder Its decoder
 * @param maxBytes Its limit
 */
export function readReported<T>(entry: BusEntry, decoder: Decoder<T>, maxBytes: number): Reported<T> {
  const { receivedAtMs } = entry;
  try {
    return { kind: "value", value: decodeBytes(decoder, entry.value, maxBytes), receivedAtMs };
  } catch (error) {
    if (!isFleetError(error, "E_DECODE")) throw error;
    return { kind: "unreadable", problem: error.message, receivedAtMs };
  }
}
