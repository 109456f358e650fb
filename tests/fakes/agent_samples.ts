/**
 * Documents that tests of the agent start from.
 *
 * @module
 */
import type { AgentUpgradeAttempt, AgentUpgradeStatus, UpgradePhase } from "../../contracts/agent_upgrade.ts";
import { canonicalDigest } from "../../contracts/digest.ts";
import { binaryPath, managedPaths } from "../../contracts/managed_paths.ts";
import type { DurablePhase, TransactionView, UpdaterState } from "../../contracts/updater_protocol.ts";

/** Device of the samples. */
export const DEVICE_ID = "device-1";
/** Managed paths of the samples. */
export const PATHS = managedPaths("");
/** Start of the samples' attempts. */
export const STARTED_AT = "2026-06-01T12:00:00.000Z";

const UUID_TAIL = "b9c3d1e-6f5a-4b7c-8d9e-0a1b2c3d4e5f";

/**
 * A UUID for each digit.
 *
 * @param digit 0 to 15
 */
export function uuidOf(digit: number): string {
  return `${digit.toString(16)}${UUID_TAIL}`;
}

/**
 * An attempt.
 *
 * @param digit What tells its UUID from those of others
 * @param overrides Members that differ
 */
export function attemptOf(digit: number, overrides: Partial<AgentUpgradeAttempt> = {}): AgentUpgradeAttempt {
  return {
    schema: 1,
    attemptId: uuidOf(digit),
    deviceId: DEVICE_ID,
    targetVersion: "2.0.0",
    arch: "x86_64",
    artifact: { url: "https://artifacts.example/fleet-agent", maxBytes: 1_000, sha256: "a".repeat(64) },
    ...overrides,
  };
}

/** The bytes of a document. */
export function bytesOf(document: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(document));
}

const PUBLIC: Readonly<Record<DurablePhase, UpgradePhase>> = {
  "preparing": "preparing",
  "activating": "starting",
  "committed": "complete",
  "rolling-back": "rolling-back",
  "failed": "failed",
  "rollback-failed": "rollback-failed",
};

/**
 * The status of an attempt.
 *
 * @param attempt The attempt
 * @param phase Its public phase
 * @param overrides Members that differ
 */
export function statusOf(
  attempt: AgentUpgradeAttempt,
  phase: UpgradePhase,
  overrides: Partial<AgentUpgradeStatus> = {},
): AgentUpgradeStatus {
  return {
    schema: 1,
    attemptId: attempt.attemptId,
    deviceId: attempt.deviceId,
    attemptDigest: canonicalDigest(attempt),
    targetVersion: attempt.targetVersion,
    phase,
    startedAt: STARTED_AT,
    updatedAt: STARTED_AT,
    transitions: [{ phase: "preparing", at: STARTED_AT }],
    ...overrides,
  };
}

/**
 * The updater's view of an attempt.
 *
 * @param attempt The attempt
 * @param phase Its durable phase
 * @param status Members of its status that differ
 */
export function viewOf(
  attempt: AgentUpgradeAttempt,
  phase: DurablePhase,
  status: Partial<AgentUpgradeStatus> = {},
): TransactionView {
  return {
    phase,
    attemptId: attempt.attemptId,
    attemptDigest: canonicalDigest(attempt),
    targetVersion: attempt.targetVersion,
    targetPath: binaryPath(PATHS, attempt.targetVersion),
    previousPath: binaryPath(PATHS, "1.0.0"),
    status: statusOf(attempt, PUBLIC[phase], status),
  };
}

/**
 * What the updater answers.
 *
 * @param transaction Its transaction
 * @param overrides Members that differ
 */
export function updaterStateOf(
  transaction: TransactionView | null = null,
  overrides: Partial<UpdaterState> = {},
): UpdaterState {
  const phase = transaction?.phase;
  return {
    updaterVersion: "1.0.0",
    capabilities: ["https"],
    busy: phase === "preparing" || phase === "activating" || phase === "rolling-back",
    quarantined: phase === "rollback-failed",
    transaction,
    ...overrides,
  };
}
