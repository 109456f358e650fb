/**
 * One record for every state that the updater's machine has, and one event of every kind, for tests and tables.
 *
 * @module
 */
import type { AgentUpgradeAttempt } from "../../contracts/agent_upgrade.ts";
import { canonicalDigest } from "../../contracts/digest.ts";
import { binaryPath, managedPaths } from "../../contracts/managed_paths.ts";
import type { EventBody, EventKind } from "../../updater/core/event.ts";
import { EMPTY_RECORD, type Finding, type Transaction, type UpdaterRecord } from "../../updater/core/record.ts";

/** Paths of the samples. */
export const SAMPLE_PATHS = managedPaths("");

/** Time of the samples' first transition, in ms since the epoch. */
export const SAMPLE_START_MS = Date.parse("2026-06-01T12:00:00.000Z");

/**
 * An attempt.
 *
 * @param overrides Members that differ
 */
export function sampleAttempt(overrides: Partial<AgentUpgradeAttempt> = {}): AgentUpgradeAttempt {
  return {
    schema: 1,
    attemptId: "0b9c3d1e-6f5a-4b7c-8d9e-0a1b2c3d4e5f",
    deviceId: "device-1",
    targetVersion: "2.0.0",
    arch: "x86_64",
    artifact: { url: "https://artifacts.example/fleet-agent", maxBytes: 1_000, sha256: "a".repeat(64) },
    ...overrides,
  };
}

/** A finding that is the binary's fault. */
export const VERSION_FINDING: Finding = {
  reason: "NeverReady",
  failureClass: "version",
  error: "the agent was not ready in time",
};

/** A finding that is the surroundings' fault. */
export const ENVIRONMENT_FINDING: Finding = {
  reason: "EnvironmentUnavailable",
  failureClass: "environment",
  error: "the agent exited with 75 before it was ready",
};

function transaction(overrides: Partial<Transaction>): UpdaterRecord {
  const attempt = sampleAttempt();
  const at = new Date(SAMPLE_START_MS).toISOString();
  return {
    transaction: {
      attempt,
      digest: canonicalDigest(attempt),
      phase: "preparing",
      step: "none",
      previousPath: binaryPath(SAMPLE_PATHS, "1.0.0"),
      targetPath: binaryPath(SAMPLE_PATHS, attempt.targetVersion),
      startedAt: at,
      updatedAt: at,
      transitions: [{ phase: "preparing", at }],
      ...overrides,
    },
    history: [],
  };
}

/** One record for every state, by the name that tables show. */
export const SAMPLE_RECORDS: Readonly<Record<string, UpdaterRecord>> = {
  "no transaction": EMPTY_RECORD,
  "preparing": transaction({ phase: "preparing" }),
  "activating (stopping)": transaction({ phase: "activating", step: "stopping" }),
  "activating (starting)": transaction({ phase: "activating", step: "starting" }),
  "committed": transaction({ phase: "committed" }),
  "rolling-back": transaction({ phase: "rolling-back", finding: VERSION_FINDING }),
  "failed": transaction({ phase: "failed", finding: VERSION_FINDING }),
  "failed (restart)": transaction({ phase: "failed", step: "restart", finding: ENVIRONMENT_FINDING }),
  "rollback-failed": transaction({ phase: "rollback-failed", finding: VERSION_FINDING, detail: "it is not there" }),
};

const nextAttempt = sampleAttempt({ attemptId: "1b9c3d1e-6f5a-4b7c-8d9e-0a1b2c3d4e5f", targetVersion: "3.0.0" });
const accepted = {
  kind: "AttemptAccepted",
  attempt: nextAttempt,
  digest: canonicalDigest(nextAttempt),
  previousPath: binaryPath(SAMPLE_PATHS, "1.0.0"),
  targetPath: binaryPath(SAMPLE_PATHS, "3.0.0"),
} as const;

/** Events of one kind, by the name that tables show: where a field changes the answer there are two. */
const SAMPLES_BY_KIND: { readonly [K in EventKind]: Readonly<Record<string, Extract<EventBody, { kind: K }>>> } = {
  AttemptAccepted: {
    "AttemptAccepted": { ...accepted, alreadySelected: false },
    "AttemptAccepted (already selected)": { ...accepted, alreadySelected: true },
  },
  CandidatePrepared: { "CandidatePrepared": { kind: "CandidatePrepared" } },
  PreparationFailed: { "PreparationFailed": { kind: "PreparationFailed", finding: ENVIRONMENT_FINDING } },
  ProbePassed: { "ProbePassed": { kind: "ProbePassed" } },
  ProbeFailed: { "ProbeFailed": { kind: "ProbeFailed", finding: VERSION_FINDING } },
  ServiceStopped: { "ServiceStopped": { kind: "ServiceStopped" } },
  StopFailed: { "StopFailed": { kind: "StopFailed", error: "a process is left" } },
  BinarySelected: { "BinarySelected": { kind: "BinarySelected" } },
  SelectionFailed: { "SelectionFailed": { kind: "SelectionFailed", error: "the disk is read-only" } },
  PreviousRestored: { "PreviousRestored": { kind: "PreviousRestored" } },
  RestoreFailed: { "RestoreFailed": { kind: "RestoreFailed", error: "it is not there" } },
  ServiceStarted: { "ServiceStarted": { kind: "ServiceStarted" } },
  StartFailed: {
    "StartFailed (version)": { kind: "StartFailed", finding: VERSION_FINDING },
    "StartFailed (environment)": { kind: "StartFailed", finding: ENVIRONMENT_FINDING },
  },
  JobInconclusive: { "JobInconclusive": { kind: "JobInconclusive", error: "the job was canceled" } },
  RetryDue: { "RetryDue": { kind: "RetryDue" } },
  RepairRequested: { "RepairRequested": { kind: "RepairRequested", path: binaryPath(SAMPLE_PATHS, "1.0.0") } },
};

/** One event of every kind that changes the answer, by the name that tables show. */
export const SAMPLE_EVENTS: Readonly<Record<string, EventBody>> = Object.assign(
  {},
  ...Object.values(SAMPLES_BY_KIND),
);
