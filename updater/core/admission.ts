/**
 * Whether an attempt may begin: an ordered list of checks over what has been gathered. A refusal changes nothing.
 *
 * @module
 */
import type { AgentUpgradeAttempt } from "../../contracts/agent_upgrade.ts";
import type { FailureClass } from "../../contracts/errors.ts";
import type { AttemptOutcome, UpdaterErrorCode, UpdaterRefusal } from "../../contracts/updater_protocol.ts";
import { isActive, type UpdaterRecord } from "./record.ts";

/** What admission looks at beside the record. */
export interface AdmissionFacts {
  readonly deviceId: string;
  readonly arch: string;
  /** URL schemes that the updater fetches. */
  readonly schemes: readonly string[];
  /** Whether every reserve slot of the journal is there. */
  readonly reserveComplete: boolean;
  /** Whether a system upgrade is under way: the two exclude one another (DESIGN 5). Default no */
  readonly systemUpgradeActive?: boolean;
  /** Whether the updater is stopping. */
  readonly stopping: boolean;
}

/** What becomes of a request. */
export type Admission =
  | { readonly kind: "admit" }
  /** The attempt runs already: its outcome answers this request as well. */
  | { readonly kind: "attach" }
  /** It ran before, and never runs again. */
  | { readonly kind: "answer"; readonly outcome: AttemptOutcome }
  | { readonly kind: "refuse"; readonly refusal: UpdaterRefusal };

/**
 * A refusal.
 *
 * @param code Its code
 * @param message One clear line
 * @param failureClass How it is classified. Default `policy`, which is never retryable as it stands
 * @param field The offending field
 */
export function refuse(
  code: UpdaterErrorCode,
  message: string,
  failureClass: FailureClass = "policy",
  field?: string,
): UpdaterRefusal {
  return {
    code,
    message,
    failureClass,
    retryable: failureClass !== "policy",
    ...(field === undefined ? {} : { field }),
  };
}

/** The digest under which this UUID has been accepted before, and how it ended if it has. */
function earlier(record: UpdaterRecord, attemptId: string): { digest: string; outcome?: AttemptOutcome } | undefined {
  const { transaction } = record;
  const outcome = record.history.find((entry) => entry.attemptId === attemptId);
  if (transaction?.attempt.attemptId === attemptId) {
    // While it is active, an outcome of the same UUID can only be one that a repair is about to replace.
    return { digest: transaction.digest, ...(outcome !== undefined && !isActive(record) ? { outcome } : {}) };
  }
  return outcome === undefined ? undefined : { digest: outcome.attemptDigest, outcome };
}

/**
 * Decides about an attempt that has been decoded.
 *
 * @param record The record
 * @param attempt The attempt
 * @param digest SHA-256 over its canonical JSON as it came
 * @param facts What has been gathered
 */
export function admit(
  record: UpdaterRecord,
  attempt: AgentUpgradeAttempt,
  digest: string,
  facts: AdmissionFacts,
): Admission {
  const known = earlier(record, attempt.attemptId);
  if (known !== undefined) {
    if (known.digest !== digest) {
      return refused(
        "E_UUID_REUSED",
        `attempt ${attempt.attemptId} was accepted before with other content`,
        "attemptId",
      );
    }
    return known.outcome === undefined ? { kind: "attach" } : { kind: "answer", outcome: known.outcome };
  }
  if (attempt.deviceId !== facts.deviceId) {
    return refused(
      "E_WRONG_DEVICE",
      `the attempt is for device ${attempt.deviceId}, this is ${facts.deviceId}`,
      "deviceId",
    );
  }
  if (attempt.arch !== facts.arch) {
    return refused("E_WRONG_ARCH", `the attempt is for ${attempt.arch}, this device is ${facts.arch}`, "arch");
  }
  const scheme = attempt.artifact.url.slice(0, attempt.artifact.url.indexOf(":"));
  if (!facts.schemes.includes(scheme)) {
    return refused(
      "E_UNSUPPORTED_SCHEME",
      `this updater fetches ${facts.schemes.join(", ")}, not ${scheme}`,
      "artifact.url",
    );
  }
  return admitNow(record, facts);
}

/** The checks that pass with time or by a hand on the device, after those that never will. */
function admitNow(record: UpdaterRecord, facts: AdmissionFacts): Admission {
  const wait = (code: UpdaterErrorCode, message: string, failureClass: FailureClass): Admission => ({
    kind: "refuse",
    refusal: refuse(code, message, failureClass),
  });
  if (facts.stopping) return wait("E_STOPPING", "the updater is stopping", "environment");
  if (record.transaction?.phase === "rollback-failed") {
    return wait(
      "E_QUARANTINED",
      "the device needs `fleet-updater repair` by root before another attempt",
      "environment",
    );
  }
  if (isActive(record)) {
    return wait("E_BUSY", "another attempt is under way", "environment");
  }
  if (facts.systemUpgradeActive === true) return wait("E_BUSY", "a system upgrade is under way", "environment");
  if (!facts.reserveComplete) {
    return wait(
      "E_NO_RESERVE",
      "the journal's reserve is not complete: free space below the state directory",
      "environment",
    );
  }
  return { kind: "admit" };
}

function refused(code: UpdaterErrorCode, message: string, field: string): Admission {
  return { kind: "refuse", refusal: refuse(code, message, "policy", field) };
}
