/**
 * Numbers of artifacts in registries and of their transfer, with their unit and reason; read them through `limits.ts`,
 * which has all numbers.
 *
 * @module
 */

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const KIB = 1_024;
const MIB = 1_024 * KIB;

// ---- Transfer ----

/** Bytes that a connection must bring to count as progress: less of it, again and again, is a link that is down. */
export const FETCH_PROGRESS_MIN_BYTES = 256 * KIB;
/** How often one attempt begins the artifact from its start: the second time is for one that changed meanwhile. */
export const FETCH_STARTS_MAX = 3;
/**
 * Age at which a file counts as settled, in ms: its time of modification then tells it from a later one
 * (RFC 9110, 8.8.2.2, which asks for a second; servers' clocks and file systems differ by more).
 */
export const LAST_MODIFIED_SETTLED_MS = MINUTE_MS;

// ---- OCI registries ----

/** Bytes of an OCI manifest or index (DESIGN 5); an agent's has one thousand. */
export const OCI_MANIFEST_MAX_BYTES = MIB;
/** Redirects of one blob: a registry sends to its storage, and that to a mirror. */
export const OCI_REDIRECTS_MAX = 3;
/** Manifests that an index may list: one for each platform that a runtime knows of. */
export const OCI_INDEX_MANIFESTS_MAX = 256;
/** Layers that a manifest may list before it is refused unread; an agent has one. */
export const OCI_LAYERS_MAX = 1_024;
/** Characters of a media type: two names of at most 127 and a slash (RFC 6838, 4.2). */
export const OCI_MEDIA_TYPE_MAX_CHARS = 255;
/** Characters of a repository's name, as registries limit it. */
export const OCI_REPOSITORY_MAX_CHARS = 255;
/** Characters of a tag (OCI Distribution Specification 1.1, Pulling manifests). */
export const OCI_TAG_MAX_CHARS = 128;
/** Characters of a `WWW-Authenticate` header that are read. */
export const OCI_CHALLENGE_MAX_CHARS = 4 * KIB;
/** Bytes of a token service's answer. */
export const OCI_TOKEN_ANSWER_MAX_BYTES = 64 * KIB;
/** Characters of a token: what common servers take as one header line, with room for its name. */
export const OCI_TOKEN_MAX_CHARS = 7 * KIB;

// ---- fleetctl artifact ----

/** Bytes of one piece of an upload: registries behind proxies take no larger one, and one is lost when a link breaks. */
export const PUSH_PIECE_BYTES = 4 * MIB;
/** Longest piece that a registry may ask for, in bytes: it is held in memory. */
export const PUSH_PIECE_MAX_BYTES = 32 * MIB;
/** How often the upload of one file is begun: a link that breaks more often is down. */
export const PUSH_STARTS_MAX = 3;
/** Time for one request of an upload, in ms: a piece at 20 KiB/s. */
export const PUSH_REQUEST_TIMEOUT_MS = 4 * MINUTE_MS;
/** Time for a whole push, in ms: two programs at 50 KiB/s. */
export const PUSH_TIMEOUT_MS = 60 * MINUTE_MS;
/** Files of one push: one for each architecture. */
export const PUSH_FILES_MAX = 2;
/** Longest pause before `fleetctl` repeats a request to a registry or host, in ms: a person waits for it. */
export const FLEETCTL_REPEAT_MAX_MS = SECOND_MS;
/** Bytes at the start of an artifact that tell what it is: a program's header, or the first line of a script. */
export const ARTIFACT_HEAD_BYTES = 256;
