/**
 * What tells one attempt from another: its UUID together with the digest of its whole content, so that a UUID reused
 * with other content is another attempt; or the KV revision of an intent that had no valid UUID (DESIGN 6, Intent).
 *
 * @module
 */
import type { AgentUpgradeStatus } from "../../contracts/agent_upgrade.ts";

declare const IDENTITY: unique symbol;
/** An attempt's identity; compare with `===`. */
export type AttemptIdentity = string & { readonly [IDENTITY]: true };

/** The members that identify an attempt. */
export type IdentityMembers = {
  readonly [K in "attemptId" | "attemptDigest" | "rejectedRevision"]?: AgentUpgradeStatus[K] | undefined;
};

/**
 * The identity of the attempt that a status, or the parts of one, speak of.
 *
 * @param members A status, or its identifying members
 */
export function identityOf(members: IdentityMembers): AttemptIdentity {
  const { attemptId, attemptDigest, rejectedRevision } = members;
  const text = attemptId === undefined
    ? `revision ${rejectedRevision ?? "unknown"}`
    : `${attemptId} ${attemptDigest ?? "without digest"}`;
  return text as AttemptIdentity;
}
