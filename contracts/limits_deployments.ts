/**
 * Numbers of deployments and their containers, with their unit and reason; read them through `limits.ts`, which has all
 * numbers.
 *
 * @module
 */

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const KIB = 1_024;
const MIB = 1_024 * KIB;

// ---- What a deployment may say ----

/** Containers of one deployment: a device runs tens of them, and a status names each. */
export const DEPLOYMENT_CONTAINERS_MAX = 64;
/** Containers of all deployments of one device: what one list of Podman's answers within its bounds. */
export const DEVICE_CONTAINERS_MAX = 512;
/** Bytes of the workload of one deployment, as JSON: half of what a resource and a desired-state entry may have. */
export const WORKLOAD_MAX_BYTES = 128 * KIB;
/** Characters of a container's name within its deployment: one DNS label. */
export const CONTAINER_NAME_MAX_CHARS = 63;
/** Characters of an image reference: 255 of name, 129 of tag and 72 of digest, as registries take them. */
export const IMAGE_MAX_CHARS = 456;
/** Words of a command or an entrypoint. */
export const COMMAND_WORDS_MAX = 128;
/** Characters of one of them. */
export const COMMAND_WORD_MAX_CHARS = 4_096;
/** Environment variables of one container. */
export const ENVIRONMENT_MAX = 128;
/** Characters of the name of an environment variable. */
export const ENVIRONMENT_NAME_MAX_CHARS = 256;
/** Characters of the value of an environment variable. */
export const ENVIRONMENT_VALUE_MAX_CHARS = 8_192;
/** Published ports of one container. */
export const PORTS_MAX = 64;
/** Highest port number (RFC 6335). */
export const PORT_MAX = 65_535;
/** Volumes of one container. */
export const VOLUMES_MAX = 64;
/** Characters of a path of a volume, and of the name of one: Podman's own names are shorter. */
export const VOLUME_PATH_MAX_CHARS = 1_024;
/** Characters of the user of a container: a name or number, and a group likewise. */
export const CONTAINER_USER_MAX_CHARS = 65;
/** Longest time that a container may take to stop, in s: a stop is one mutation, which a drain waits for. */
export const CONTAINER_STOP_MAX_S = 30;
/** Time that a container may take to stop where its deployment says nothing, in s, as Podman has it. */
export const CONTAINER_STOP_DEFAULT_S = 10;
/** Bytes of one deployment status: every container with its longest reason, and the longest error. */
export const DEPLOYMENT_STATUS_MAX_BYTES = 32 * KIB;
/** Bytes of the statuses of a device on average, header and index included: a few deployments of a few containers. */
export const DEPLOYMENT_STATUS_AVERAGE_BYTES = 8 * KIB;

// ---- Podman ----

/** One short request to Podman, in ms: it takes its lock for as long as another client's change runs. */
export const PODMAN_REQUEST_TIMEOUT_MS = 30 * SECOND_MS;
/** Pull of one image, in ms: 500 MB over 1 Mbit/s take more than an hour, and Podman begins a layer that broke anew. */
export const PODMAN_PULL_TIMEOUT_MS = 120 * MINUTE_MS;
/** Bytes of one answer of Podman: a list of {@link DEVICE_CONTAINERS_MAX} containers with the labels of their images. */
export const PODMAN_ANSWER_MAX_BYTES = 8 * MIB;
/** Bytes of one line of the progress of a pull. */
export const PODMAN_PULL_LINE_MAX_BYTES = 64 * KIB;
/** Pause between two looks at the containers when nothing has changed, in ms: each one starts Podman's service. */
export const WORKLOAD_RESYNC_MS = MINUTE_MS;
/** Pause before the look after a change, in ms: most of what cannot run ends within it. */
export const WORKLOAD_SETTLE_MS = 5 * SECOND_MS;
/** Time for which a container must run after a restart that nobody asked for, to count as well again, in ms. */
export const RESTART_STABLE_MS = 3 * MINUTE_MS;
/** First pause before a container that could not be made as desired is tried again, in ms. */
export const WORKLOAD_RETRY_MIN_MS = 2 * SECOND_MS;
/** Longest pause before a container that could not be made as desired is tried again, in ms. */
export const WORKLOAD_RETRY_MAX_MS = 5 * MINUTE_MS;

// ---- Operator ----

/** Characters of a device's error that the operator keeps: a fleet that fails as a whole must not fill its memory. */
export const DEPLOYMENT_ERROR_KEPT_MAX_CHARS = 256;
/** Time for which one reading of a deployment serves the changes of all devices, in ms. */
export const DEPLOYMENT_REREAD_MS = SECOND_MS;
