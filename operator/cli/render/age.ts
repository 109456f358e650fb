/**
 * Times as a person reads them.
 *
 * @module
 */

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/**
 * A span in its largest unit that still tells something: `45s`, `3m`, `26h`, `12d`. A unit is left when two of the next
 * one are full. A negative span is shown as `0s`: clocks differ by a little.
 *
 * @param spanMs The span, in ms
 *
 * @example
 * ```ts
 * import { age } from "./age.ts";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(age(200_000), "3m");
 * ```
 */
export function age(spanMs: number): string {
  const span = Math.max(0, spanMs);
  if (span < 2 * MINUTE_MS) return `${Math.floor(span / SECOND_MS)}s`;
  if (span < 2 * HOUR_MS) return `${Math.floor(span / MINUTE_MS)}m`;
  if (span < 2 * DAY_MS) return `${Math.floor(span / HOUR_MS)}h`;
  return `${Math.floor(span / DAY_MS)}d`;
}

/**
 * The age of an instant; `-` when there is none or it is no time.
 *
 * @param instant RFC 3339
 * @param nowMs The present, in ms since the epoch
 */
export function ageOf(instant: string | undefined, nowMs: number): string {
  const atMs = instant === undefined ? Number.NaN : Date.parse(instant);
  return Number.isNaN(atMs) ? "-" : age(nowMs - atMs);
}

/**
 * A short span with one decimal: `830ms`, `4.2s`, then as {@link age}.
 *
 * @param spanMs The span, in ms
 */
export function duration(spanMs: number): string {
  if (spanMs < SECOND_MS) return `${Math.round(Math.max(0, spanMs))}ms`;
  if (spanMs < 2 * MINUTE_MS) return `${(Math.floor(spanMs / 100) / 10).toFixed(1)}s`;
  return age(spanMs);
}

/**
 * An instant with its age: `2026-01-31T12:00:00.000Z (3m ago)`.
 *
 * @param instant RFC 3339
 * @param nowMs The present, in ms since the epoch
 */
export function instantWithAge(instant: string, nowMs: number): string {
  return `${instant} (${ageOf(instant, nowMs)} ago)`;
}
