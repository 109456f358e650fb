/**
 * What stands at a key of `system-upgrade-intent`: an attempt, or something that will be rejected. Its identity is the
 * run's UID, which is the last token of the key (`Fleet tasks`, Execution).
 *
 * @module
 */
import { splitSystemUpgradeKey } from "../../contracts/buckets.ts";
import { parseJson } from "../../contracts/codec.ts";
import { canonicalDigest } from "../../contracts/digest.ts";
import { errorText } from "../../contracts/errors.ts";
import { bounded, uuid } from "../../contracts/formats.ts";
import { SYSTEM_ATTEMPT_MAX_BYTES } from "../../contracts/limits.ts";
import {
  SYSTEM_UPGRADE_SCHEMA,
  type SystemUpgradeAttempt,
  systemUpgradeAttempt,
  type SystemUpgradeReason,
} from "../../contracts/system_upgrade.ts";

/** An attempt that can be forwarded. */
export interface ValidSystemIntent {
  readonly kind: "attempt";
  readonly runId: string;
  readonly revision: number;
  readonly attempt: SystemUpgradeAttempt;
  /** As it came: its digest is taken over all of it. */
  readonly document: unknown;
  readonly digest: string;
}

/** What cannot be read as an attempt of its run. */
export interface InvalidSystemIntent {
  readonly kind: "invalid";
  readonly runId: string;
  readonly revision: number;
  readonly reason: Extract<SystemUpgradeReason, "InvalidAttempt" | "SchemaUnsupported">;
  readonly error: string;
  /** Absent when it is no JSON. */
  readonly digest?: string;
}

/** What stands at an intent key. */
export type SystemIntent = ValidSystemIntent | InvalidSystemIntent;

/**
 * The run that a key names, or null when it names none: such a key cannot be answered, since the status has the same one.
 *
 * @param key A key of the device
 */
export function runOfKey(key: string): string | null {
  const runId = splitSystemUpgradeKey(key)?.runId;
  if (runId === undefined) return null;
  try {
    return uuid(runId, "key");
  } catch {
    return null;
  }
}

/**
 * Reads an intent. Never throws: what cannot be read is an intent that will be rejected.
 *
 * @param runId The run that its key names
 * @param value Bytes at the key
 * @param revision Revision of the key
 */
export function readSystemIntent(runId: string, value: Uint8Array, revision: number): SystemIntent {
  let document: unknown;
  let digest: string;
  const invalid = (error: unknown, known: { readonly digest?: string } = {}): InvalidSystemIntent => {
    return { kind: "invalid", runId, revision, reason: "InvalidAttempt", error: bounded(errorText(error)), ...known };
  };
  try {
    document = parseJson(value, { maxBytes: SYSTEM_ATTEMPT_MAX_BYTES });
    digest = canonicalDigest(document);
  } catch (error) {
    return invalid(error);
  }
  try {
    const attempt = systemUpgradeAttempt(document, "");
    if (attempt.schema > SYSTEM_UPGRADE_SCHEMA) {
      const error = `schema: is ${attempt.schema}, this agent reads up to ${SYSTEM_UPGRADE_SCHEMA}`;
      return { kind: "invalid", runId, revision, reason: "SchemaUnsupported", error, digest };
    }
    if (attempt.runId !== runId) return invalid(`runId: is ${attempt.runId}, the key names ${runId}`, { digest });
    return { kind: "attempt", runId, revision, attempt, document, digest };
  } catch (error) {
    return invalid(error, { digest });
  }
}
