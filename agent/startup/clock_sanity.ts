/**
 * Whether the device's clock has ever been set. A clock that has not does not keep an agent from READY, since workloads
 * go on without it; it defers upgrades, and it names the cause when no certificate is valid yet.
 *
 * @module
 */
import { FleetError } from "../../contracts/errors.ts";
import { CLOCK_EARLIEST_MS } from "../../contracts/limits.ts";

/**
 * The problem of a clock, or null.
 *
 * @param nowMs What it says, in ms since the epoch
 */
export function clockProblem(nowMs: number): FleetError | null {
  if (nowMs >= CLOCK_EARLIEST_MS) return null;
  return new FleetError(`The clock says ${new Date(nowMs).toISOString()}: it has never been set`, {
    code: "E_CLOCK",
    retry: "transient",
    failureClass: "environment",
  });
}
