/**
 * The ways in which an upgrade goes, for the crash tests.
 *
 * @module
 */
import type { Scenario } from "./simulated_device.ts";

/** Every way. */
export const SCENARIOS: readonly Scenario[] = [
  { name: "good upgrade", candidate: "ready", ends: "complete" },
  { name: "candidate exits", candidate: "exits-1", ends: "failed" },
  { name: "candidate is never ready", candidate: "never-ready", ends: "failed" },
  { name: "self-test fails", candidate: "ready", probe: "fails", ends: "failed" },
  { name: "wrong digest", candidate: "ready", fetch: "wrong-bytes", ends: "failed" },
  { name: "transfer breaks", candidate: "ready", fetch: "breaks", ends: "failed" },
  { name: "no NATS for a while", candidate: "ready", outageStarts: 3, ends: "failed" },
  { name: "previous agent does not stop", candidate: "ready", refusedStops: 2, ends: "failed" },
  { name: "previous agent does not start again", candidate: "exits-1", previous: "exits-1", ends: "rollback-failed" },
];
