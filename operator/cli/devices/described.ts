/**
 * A document of a device as a description has it for programs.
 *
 * @module
 */
import type { Reported } from "../fleet_access.ts";

/** A document of the device: with its value, or why there is none. */
export interface Described {
  readonly state: "present" | "absent" | "unreadable" | "unavailable";
  readonly problem?: string;
  /** When the broker received it, RFC 3339. */
  readonly receivedAt?: string;
  readonly ageMs?: number;
  readonly value?: unknown;
}

/**
 * Describes a document.
 *
 * @param reported What stands in NATS
 * @param nowMs The present, in ms since the epoch
 */
export function described(reported: Reported<unknown>, nowMs: number): Described {
  if (reported.kind === "absent") return { state: "absent" };
  if (reported.kind === "unavailable") return { state: "unavailable", problem: reported.problem };
  const received = {
    receivedAt: new Date(reported.receivedAtMs).toISOString(),
    ageMs: Math.max(0, nowMs - reported.receivedAtMs),
  };
  return reported.kind === "value"
    ? { state: "present", ...received, value: reported.value }
    : { state: "unreadable", ...received, problem: reported.problem };
}
