/**
 * What stands at the device's intent key, read and bound to the digest of its whole content
 * (`Fleet agent upgrades`, Trust boundary and Intent).
 *
 * @module
 */
import { AGENT_UPGRADE_SCHEMA, type AgentUpgradeAttempt, agentUpgradeAttempt } from "../../contracts/agent_upgrade.ts";
import { type Decoder, parseJson } from "../../contracts/codec.ts";
import { canonicalDigest } from "../../contracts/digest.ts";
import { errorText, isFleetError } from "../../contracts/errors.ts";
import { bounded, uuid } from "../../contracts/formats.ts";
import { ATTEMPT_MAX_BYTES } from "../../contracts/limits.ts";
import { type AttemptIdentity, identityOf } from "./attempt_identity.ts";

/** An intent that names an attempt for this program to look at. */
export interface ValidIntent {
  readonly kind: "attempt";
  readonly attempt: AgentUpgradeAttempt;
  /** The document as it came: it is forwarded unchanged, and the digest is taken over it. */
  readonly document: unknown;
  readonly digest: string;
  readonly revision: number;
  readonly identity: AttemptIdentity;
}

/** An intent that no rule lets through, whatever the device. */
export interface InvalidIntent {
  readonly kind: "invalid";
  /** Typed reason. */
  readonly reason: "InvalidIntent" | "InvalidUuid" | "SchemaUnsupported";
  /** One line that names the field. */
  readonly error: string;
  /** Present when the document has a valid one. */
  readonly attemptId?: string;
  /** Present when the document could be read as JSON. */
  readonly digest?: string;
  readonly revision: number;
  readonly identity: AttemptIdentity;
}

/** What stands at the intent key. */
export type Intent = ValidIntent | InvalidIntent;

function accepts(decoder: Decoder<string>, value: unknown): value is string {
  try {
    decoder(value, "");
    return true;
  } catch {
    return false;
  }
}

function attemptIdOf(document: unknown): string | undefined {
  if (typeof document !== "object" || document === null || !("attemptId" in document)) return undefined;
  return accepts(uuid, document.attemptId) ? document.attemptId : undefined;
}

function invalid(
  revision: number,
  reason: InvalidIntent["reason"],
  error: unknown,
  known: { readonly attemptId?: string; readonly digest?: string },
): InvalidIntent {
  // Without a UUID only the revision tells this intent from another one (DESIGN 6, Intent).
  const identity = known.attemptId === undefined
    ? identityOf({ rejectedRevision: revision })
    : identityOf({ attemptId: known.attemptId, attemptDigest: known.digest });
  return { kind: "invalid", reason, error: bounded(errorText(error)), revision, identity, ...known };
}

/**
 * Reads an intent. Never throws: what cannot be read is an intent that will be rejected.
 *
 * @param value Bytes at the key
 * @param revision Revision of the key
 */
export function readIntent(value: Uint8Array, revision: number): Intent {
  let document: unknown;
  let digest: string;
  try {
    document = parseJson(value, { maxBytes: ATTEMPT_MAX_BYTES });
    digest = canonicalDigest(document);
  } catch (error) {
    return invalid(revision, "InvalidIntent", error, {});
  }
  const attemptId = attemptIdOf(document);
  const known = { digest, ...(attemptId === undefined ? {} : { attemptId }) };
  try {
    const attempt = agentUpgradeAttempt(document, "");
    if (attempt.schema > AGENT_UPGRADE_SCHEMA) {
      const error = `schema: is ${attempt.schema}, this agent reads up to ${AGENT_UPGRADE_SCHEMA}`;
      return invalid(revision, "SchemaUnsupported", error, known);
    }
    const identity = identityOf({ attemptId: attempt.attemptId, attemptDigest: digest });
    return { kind: "attempt", attempt, document, digest, revision, identity };
  } catch (error) {
    const field = isFleetError(error) ? error.field : undefined;
    return invalid(revision, field === "attemptId" ? "InvalidUuid" : "InvalidIntent", error, known);
  }
}
