/**
 * What a device's status says to its run (`Fleet tasks`, Execution): terminal only for the run's own attempt, a success
 * only with a heartbeat after it, and neither when it came too late. Times are the broker's.
 *
 * @module
 */
import { bounded } from "../../contracts/formats.ts";
import { isTerminalSystemPhase, type SystemUpgradeStatus } from "../../contracts/system_upgrade.ts";

/** What a status says. */
export type TaskResult =
  /** It is not of this attempt, and says nothing. */
  | { readonly kind: "ignored"; readonly problem: string }
  /** The device has accepted the attempt, and has not ended it; `succeeded` without a heartbeat is not the end. */
  | { readonly kind: "accepted" }
  | { readonly kind: "succeeded"; readonly isLate: boolean }
  | { readonly kind: "failed"; readonly isLate: boolean; readonly error: string };

/** The attempt that a status must be of. */
export interface AttemptKey {
  readonly deviceId: string;
  readonly runId: string;
}

/**
 * Judges a status.
 *
 * @param status What stands under the key of the attempt
 * @param receivedAtMs When the broker received it, in ms
 * @param key The key
 * @param expiresAtMs The run's deadline, in ms; what comes at it is late
 */
export function judgeResult(
  status: SystemUpgradeStatus,
  receivedAtMs: number,
  key: AttemptKey,
  expiresAtMs: number,
): TaskResult {
  for (
    const [member, wanted] of [["runId", key.runId], ["attemptId", key.runId], ["deviceId", key.deviceId]] as const
  ) {
    if (status[member] !== wanted) return { kind: "ignored", problem: `${member}: is not that of its key` };
  }
  if (!isTerminalSystemPhase(status.phase)) return { kind: "accepted" };
  const isLate = receivedAtMs >= expiresAtMs;
  if (status.phase === "failed") return { kind: "failed", isLate, error: resultError(status) };
  const { firstHeartbeat, reason, summary } = status;
  if (firstHeartbeat === undefined) return { kind: "accepted" };
  // A heartbeat of the boot in which it was upgraded is no sign of a device that came back.
  if (reason !== "NothingToDo" && firstHeartbeat.bootId === summary?.bootIdBefore) return { kind: "accepted" };
  return { kind: "succeeded", isLate };
}

/** One line about a failure. */
function resultError({ detail, error, reason }: SystemUpgradeStatus): string {
  return bounded([reason, error ?? detail].filter((part) => part !== undefined).join(": ") || "it failed");
}
