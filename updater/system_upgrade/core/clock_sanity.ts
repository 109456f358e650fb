/**
 * Whether the device's clock can be believed. Expiry is judged by a sane clock only, since a device without a battery for
 * its clock boots in the past (DESIGN 5, System upgrades).
 *
 * @module
 */
import { CLOCK_EARLIEST_MS, CLOCK_SKEW_MAX_MS } from "../../../contracts/limits.ts";

/** What the clock is held against, in ms since the epoch. */
export interface ClockFacts {
  /** What it says. */
  readonly nowMs: number;
  /** The latest time at which an attempt was accepted. */
  readonly ledgerClockMs: number;
  /** When the attempt was made, by the broker's clock. */
  readonly createdAtMs: number;
}

/**
 * What is wrong with the clock, if anything is.
 *
 * @param facts The clock, and what it is held against
 */
export function clockProblem({ nowMs, ledgerClockMs, createdAtMs }: ClockFacts): string | undefined {
  const says = (ms: number) => new Date(ms).toISOString();
  if (nowMs < CLOCK_EARLIEST_MS) return `the clock says ${says(nowMs)}, it has never been set`;
  if (nowMs < ledgerClockMs - CLOCK_SKEW_MAX_MS) {
    return `the clock says ${says(nowMs)}, and an attempt was accepted at ${says(ledgerClockMs)}`;
  }
  if (nowMs < createdAtMs - CLOCK_SKEW_MAX_MS) {
    return `the clock says ${says(nowMs)}, and the attempt was made at ${says(createdAtMs)}`;
  }
  return undefined;
}

/**
 * Whether an attempt has expired: by the clock that never runs back, so that one that has never comes to life again.
 *
 * @param expiresAtMs When it expires
 * @param facts A clock without a problem
 */
export function hasExpired(expiresAtMs: number, { nowMs, ledgerClockMs }: ClockFacts): boolean {
  return expiresAtMs <= Math.max(nowMs, ledgerClockMs);
}
