/**
 * The steps that an agent takes before `READY=1`, in the seed's order, and how a step stands in a `STATUS=` text, so
 * that the updater can tell a bad network from a bad binary (DESIGN 5, Verdicts).
 *
 * @module
 */
import { STATUS_TEXT_MAX_CHARS } from "./limits.ts";
import { bounded } from "./formats.ts";

/** Steps before READY (`Fleet agent upgrades`, Readiness and commit), in order. */
export const READINESS_STEPS = [
  "lock",
  "config",
  "podman",
  "clock",
  "dns",
  "network",
  "tls",
  "nats",
  "buckets",
  "device-info",
  "updater",
  "version",
  "snapshot",
  "status",
  "ready",
] as const;
/** One of {@link READINESS_STEPS}. */
export type ReadinessStep = (typeof READINESS_STEPS)[number];

/** Steps whose failure says nothing about the binary. */
export const ENVIRONMENT_STEPS: ReadonlySet<ReadinessStep> = new Set([
  "podman",
  "clock",
  "dns",
  "network",
  "tls",
  "nats",
  "buckets",
  "device-info",
  "snapshot",
  "status",
]);

/** Exit code of an agent that could not reach NATS in its window: `EX_TEMPFAIL` of sysexits.h. */
export const EXIT_ENVIRONMENT = 75;

/**
 * The `STATUS=` text of a step that waits or fails.
 *
 * @param step Where the start stands
 * @param message What it waits for, or what went wrong
 */
export function formatReadinessStatus(step: ReadinessStep, message: string): string {
  return bounded(`[${step}] ${message.replaceAll(/\s+/g, " ").trim()}`, STATUS_TEXT_MAX_CHARS);
}

/**
 * The step that a `STATUS=` text names, or undefined for any other text.
 *
 * @param statusText The last status of the process
 */
export function readinessStepOf(statusText: string): ReadinessStep | undefined {
  const name = /^\[([a-z-]+)\](?: |$)/.exec(statusText)?.[1];
  return READINESS_STEPS.find((step) => step === name);
}
