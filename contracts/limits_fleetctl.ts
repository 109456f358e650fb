/**
 * Numbers of `fleetctl` alone, with their unit and reason; read them through `limits.ts`, which has all numbers.
 *
 * @module
 */

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const MIB = 1_024 * 1_024;

/** Bytes of one file that `fleetctl apply` reads: ten thousand devices with their groups and labels. */
export const MANIFEST_MAX_BYTES = 4 * MIB;
/** Documents of one file that `fleetctl apply` reads. */
export const MANIFEST_DOCUMENTS_MAX = 10_000;
/** How often `fleetctl` repeats a change whose resource was changed meanwhile: each time somebody else got through. */
export const CONFLICT_RETRIES_MAX = 16;
/** Work of `fleetctl` that takes longer than this is announced, in ms. */
export const PROGRESS_AFTER_MS = 2 * SECOND_MS;
/** Devices whose heartbeats `fleetctl` reads one by one; for more of them one snapshot of the bucket is cheaper. */
export const HEARTBEATS_ONE_BY_ONE_MAX = 16;
/** Characters of one changed field that a dry run shows: an artifact with its URL and digest. */
export const FIELD_CHANGE_MAX_CHARS = 400;
/** Stored documents that cannot be read of which `fleetctl` names each; more of them have one cause. */
export const FLEETCTL_PROBLEMS_MAX = 20;
/** An intent that an online device has not taken for this long is worth a look, in ms: it looks at its key at once. */
export const INTENT_PENDING_WARNING_MS = 2 * MINUTE_MS;
/** Credentials and certificates are called about to expire this long before they do, in ms: two weeks to act. */
export const CREDENTIALS_EXPIRY_WARNING_MS = 14 * 24 * 60 * MINUTE_MS;
/** Longest time that `fleetctl --timeout` takes, in s: an hour. */
export const COMMAND_TIMEOUT_MAX_S = 3_600;
