/**
 * Every number of the system, with its unit and its reason. The relations between them are asserted in
 * `limits_test.ts`. Numbers marked *seed* are fixed by `Fleet agent upgrades, Limits` and never change without it.
 *
 * @module
 */

export * from "./limits_artifacts.ts";
export * from "./limits_deployments.ts";
export * from "./limits_fleetctl.ts";
export * from "./limits_system_upgrade.ts";
export * from "./limits_tasks.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const KIB = 1_024;
const MIB = 1_024 * KIB;

// ---- Artifact transfer (seed) ----

/** Seed: time to connect to the artifact's host and receive its response header, in ms. */
export const HTTPS_CONNECT_TIMEOUT_MS = 15 * SECOND_MS;
/** Seed: time for the complete artifact request, in ms. */
export const HTTPS_REQUEST_TIMEOUT_MS = 5 * MINUTE_MS;
/** Seed: compiled ceiling of an artifact, in bytes; an attempt may only lower it. */
export const ARTIFACT_MAX_BYTES = 100 * MIB;
/** Longest artifact URL, in characters: below every common proxy's and server's request-line limit of 8 KiB. */
export const ARTIFACT_URL_MAX_CHARS = 2_048;
/** Free bytes that must remain on the file system of the binaries after an install: room for logs and dpkg. */
export const INSTALL_RESERVE_BYTES = 64 * MIB;
/** How often in a row a fetch is repeated within its request's time without progress: such a link is down. */
export const FETCH_RESUMES_MAX = 10;
/** Ceiling of the first pause before a transfer is taken up again, in ms. */
export const FETCH_RESUME_MIN_MS = 500;
/** Ceiling of the longest such pause, in ms: a router restarts in less than ten of them. */
export const FETCH_RESUME_MAX_MS = 15 * SECOND_MS;
/** Silence after which a connection counts as broken, in ms. */
export const FETCH_STALL_TIMEOUT_MS = 30 * SECOND_MS;
/** Buffer that a response's body is read into, in bytes: the runtime gives 16 KiB at most, a newer one may give more. */
export const FETCH_READ_BYTES = 64 * KIB;
/** Bytes of a large file after which a sync begins while it is still written: about as much is left for its end. */
export const SYNC_BEHIND_BYTES = 8 * MIB;
/** Chunk of a streaming digest, in bytes: the fastest size measured that keeps the event loop free. */
export const DIGEST_CHUNK_BYTES = MIB;

// ---- NATS (seed, and the measured behaviour of clients) ----

/** Seed: one NATS connection attempt, in ms. */
export const NATS_CONNECT_TIMEOUT_MS = 15 * SECOND_MS;
/** Seed: window in which an agent that is not READY retries NATS, in ms. */
export const NATS_RETRY_WINDOW_MS = 3 * MINUTE_MS;
/** First pause between connection attempts, in ms. */
export const NATS_RECONNECT_MIN_MS = 500;
/** Longest pause between connection attempts, in ms: an outage of hours must not become a stampede when it ends. */
export const NATS_RECONNECT_MAX_MS = 30 * SECOND_MS;
/** Oldest NATS server: auth callout needs it, and 2.9 loses updates after a purge (DESIGN 4). */
export const NATS_SERVER_VERSION_MIN = "2.10.0";
/** One JetStream API request, in ms. */
export const NATS_REQUEST_TIMEOUT_MS = 5 * SECOND_MS;
/** Client ping interval, in ms: a half-dead link is noticed within three of them. */
export const NATS_PING_INTERVAL_MS = 20 * SECOND_MS;
/** Unanswered pings after which a connection counts as dead. */
export const NATS_MAX_PINGS_OUT = 2;
/** A snapshot that makes no progress for this long is an error, in ms. */
export const SNAPSHOT_STALL_TIMEOUT_MS = 10 * SECOND_MS;
/**
 * Pause between the server's signs of life on an idle snapshot, in ms. The first one ends a snapshot whose count of
 * pending messages never reaches zero.
 */
export const SNAPSHOT_HEARTBEAT_MS = 250;
/**
 * Pause between the server's signs of life on an idle watch, in ms. A dead connection is found by pings; this finds a
 * lost consumer behind a living one, and costs the server one message per watch and device.
 */
export const WATCH_HEARTBEAT_MS = 30 * SECOND_MS;
/** Signs of life that may be missed before a watch begins again. */
export const WATCH_HEARTBEATS_MISSED_MAX = 2;
/** Time after which the server drops a consumer that nobody listens to, in ms. */
export const CONSUMER_IDLE_MS = 5 * SECOND_MS;
/** First line of a NATS server that is read, in bytes: a large cluster's greeting lists its servers. */
export const NATS_INFO_MAX_BYTES = 64 * KIB;
/** Bytes of a CA bundle: a distribution's whole bundle has a quarter of it. */
export const CA_BUNDLE_MAX_BYTES = MIB;
/** Bytes of a file with a password, a token or NATS credentials. */
export const SECRET_FILE_MAX_BYTES = 64 * KIB;
/** Characters of a bucket's key: far below the 4 KiB of a NATS control line with the longest API subject before it. */
export const BUCKET_KEY_MAX_CHARS = 1_024;
/** Server URLs in one configuration. */
export const NATS_SERVERS_MAX = 16;

// ---- Probe, stop, start (seed) ----

/** Seed: the complete candidate probe, in ms. */
export const PROBE_TIMEOUT_MS = 4 * MINUTE_MS;
/** Output of the probe that is read, in bytes; more is discarded and fails the probe. */
export const PROBE_OUTPUT_MAX_BYTES = 64 * KIB;
/** Time for which a candidate that is still open for writing elsewhere is tried again, in ms: a fork holds it briefly. */
export const EXEC_BUSY_RETRY_MS = SECOND_MS;
/** Pause between two such tries, in ms. */
export const EXEC_BUSY_PAUSE_MS = 25;
/** Time after the end of a process for which its output is still read, in ms: a descendant may hold the pipe for ever. */
export const OUTPUT_GRACE_MS = 500;
/** Time in which a killed process must be gone, in ms: only one that hangs in the kernel is not. */
export const KILL_GRACE_MS = 2 * SECOND_MS;
/** Pause between two looks for the rest of a process group, in ms. */
export const PROCESS_POLL_MS = 20;
/** Checks in one self-test report. */
export const PROBE_CHECKS_MAX = 32;
/** Seed: systemd's bound on stopping the agent (TimeoutStopSec), in ms. */
export const SERVICE_STOP_TIMEOUT_MS = 60 * SECOND_MS;
/** Seed: the updater's bound on stopping the agent, in ms. */
export const UPDATER_STOP_BOUND_MS = 65 * SECOND_MS;
/** Seed: systemd's bound on starting the agent (TimeoutStartSec), in ms. */
export const SERVICE_START_TIMEOUT_MS = 4 * MINUTE_MS;
/** Seed: the updater's bound on starting the agent, in ms. */
export const UPDATER_START_BOUND_MS = 4 * MINUTE_MS + 15 * SECOND_MS;
/** Pause before a service that ended is started again (RestartSec), in ms. */
export const SERVICE_RESTART_DELAY_MS = 3 * SECOND_MS;
/** Bytes of the agent's output under the process adapter before its older part is dropped. */
export const AGENT_OUTPUT_MAX_BYTES = 4 * MIB;
/** Bytes of it that are kept then. */
export const AGENT_OUTPUT_KEPT_BYTES = 64 * KIB;
/** Pause between two looks at its size, in ms. */
export const AGENT_OUTPUT_CHECK_MS = SECOND_MS;
/** Bytes at its end in which the last lines are looked for: enough for 20 of them in any script. */
export const OUTPUT_TAIL_BYTES = 32 * KIB;
/** Pause between two looks whether an adopted agent, which is no child of this updater, still lives, in ms. */
export const ADOPTED_POLL_MS = 250;
/** Bytes of the process adapter's record of the agent's process. */
export const PROCESS_RECORD_MAX_BYTES = 4 * KIB;
/** One question to the service manager or the system's log, in ms: both answer within one, unless the machine hangs. */
export const SYSTEM_TOOL_TIMEOUT_MS = 10 * SECOND_MS;
/** Bytes that one of their answers may have: the last output lines of an agent at the longest that the log keeps. */
export const SYSTEM_TOOL_OUTPUT_MAX_BYTES = MIB;
/** First pause before a rollback that met an environment fault is repeated, in ms. */
export const ROLLBACK_RETRY_MIN_MS = 5 * SECOND_MS;
/** Longest pause before a rollback that met an environment fault is repeated, in ms. */
export const ROLLBACK_RETRY_MAX_MS = 5 * MINUTE_MS;

// ---- Updater socket (seed) ----

/** Seed: time a client has to send its request, in ms. */
export const SOCKET_READ_TIMEOUT_MS = 10 * SECOND_MS;
/** Seed: time to answer a status request, in ms. */
export const SOCKET_STATUS_TIMEOUT_MS = 15 * SECOND_MS;
/** Seed: time to answer an upgrade request, in ms. */
export const SOCKET_UPGRADE_TIMEOUT_MS = 20 * MINUTE_MS;
/** Seed: bytes of one socket request or response. */
export const SOCKET_MESSAGE_MAX_BYTES = MIB;
/** Seed: concurrent socket handlers. */
export const SOCKET_HANDLERS_MAX = 32;
/** Upgrade requests that wait for their outcome at once: half of the handlers are left for status. */
export const SOCKET_UPGRADE_WAITERS_MAX = SOCKET_HANDLERS_MAX / 2;
/** Time a client has to take its response, in ms. */
export const SOCKET_WRITE_TIMEOUT_MS = 10 * SECOND_MS;
/** Time for which what a client still sends is read and dropped after the response, so that it gets to see it, in ms. */
export const SOCKET_LINGER_MS = SECOND_MS;
/** Refused clients that are answered at once; more are closed without a word. */
export const SOCKET_REFUSALS_MAX = 32;
/** Pause after a connection could not be accepted, in ms: what is short then, such as file descriptors, comes back. */
export const SOCKET_ACCEPT_PAUSE_MS = 100;
/** Bytes of a Unix socket's path: the kernel's 108 less the final zero. */
export const UNIX_SOCKET_PATH_MAX_BYTES = 107;

// ---- Journal and status (seed, DESIGN 5) ----

/** Seed: retained transitions of one attempt. */
export const TRANSITIONS_MAX = 16;
/** Seed: characters of a detail or an error. */
export const DETAIL_MAX_CHARS = 1_024;
/** Bytes of the journal (DESIGN 5, Journal). */
export const JOURNAL_MAX_BYTES = 64 * KIB;
/** Remembered outcomes, so that a repeated old attempt never runs again (DESIGN 5, Journal). */
export const JOURNAL_HISTORY_MAX = 64;
/** Preallocated journal slots: more than the writes that the longest transaction still needs once the disk is full. */
export const JOURNAL_RESERVE_SLOTS = 12;
/** Pause between two looks at the journal's reserve, in ms: what a full disk has used is made anew when there is room. */
export const RESERVE_REFILL_INTERVAL_MS = 10 * SECOND_MS;
/** Time that a stopping updater gives to what is under way, in ms; its journal makes a longer wait needless. */
export const UPDATER_SHUTDOWN_MS = 5 * SECOND_MS;
/** Bytes of a failed candidate's post-mortem (DESIGN 5, Journal). */
export const POST_MORTEM_MAX_BYTES = 8 * KIB;
/** Output lines of a failed candidate that are kept. */
export const POST_MORTEM_LINES_MAX = 20;
/** Characters of one kept output line. */
export const POST_MORTEM_LINE_MAX_CHARS = 256;
/** Characters of a `STATUS=` text that are kept. */
export const STATUS_TEXT_MAX_CHARS = 512;
/** Bytes of one sd_notify datagram that are read: systemd's own bound is a page. */
export const NOTIFY_MESSAGE_MAX_BYTES = 4 * KIB;
/** First pause before READY is sent again, in ms. */
export const NOTIFY_RETRY_MIN_MS = 50;
/** Longest pause before READY is sent again, in ms: a supervisor that comes back learns of it within a second. */
export const NOTIFY_RETRY_MAX_MS = SECOND_MS;
/** Longest wait for one best-effort notification, in ms: a supervisor that does not read must not stop its service. */
export const NOTIFY_SEND_TIMEOUT_MS = SECOND_MS;

// ---- Files ----

/** Tries of a fresh temporary name; with 64 random bits a second one is only needed beside a broken random source. */
export const TEMP_NAME_TRIES_MAX = 8;
/** Tries of locking a lock file that is replaced between its opening and its locking. */
export const LOCK_TRIES_MAX = 8;
/** Longest single timer, in ms: the runtime fires at once what does not fit into 31 bits. */
export const TIMER_MAX_MS = 2_147_483_647;

/** One repair, in ms: stop, and start of the chosen binary, at their bounds, with the answer. */
export const REPAIR_TIMEOUT_MS = UPDATER_STOP_BOUND_MS + UPDATER_START_BOUND_MS + SOCKET_STATUS_TIMEOUT_MS;
/** Time that root has to start the updater during the repair of a corrupt journal, in ms. */
export const REPAIR_UPDATER_WAIT_MS = 10 * MINUTE_MS;
/** Pause between two looks for the updater that root is starting, in ms. */
export const REPAIR_LOOK_AGAIN_MS = 250;
/** Managed binaries that a repair report lists: more than a person reads, less than a socket message holds. */
export const BINARIES_SHOWN_MAX = 200;

// ---- Documents ----

/** Characters of a semantic version (DESIGN 5, Managed paths). */
export const VERSION_MAX_CHARS = 64;
/** Characters of a device id: one DNS label (DESIGN 4). */
export const DEVICE_ID_MAX_CHARS = 63;
/** Characters of a resource name: a DNS subdomain as Kubernetes takes it. */
export const RESOURCE_NAME_MAX_CHARS = 253;
/** Characters of a label key: 253 of prefix, a slash and 63 of name, as Kubernetes takes it. */
export const LABEL_KEY_MAX_CHARS = 317;
/** Characters of a label value, as Kubernetes takes it. */
export const LABEL_VALUE_MAX_CHARS = 63;
/** Labels of one resource or selector: far above use, far below what a status bucket could not hold. */
export const LABELS_MAX = 64;
/** Characters of a group name. */
export const GROUP_NAME_MAX_CHARS = 128;
/** Groups of one device or resource. */
export const GROUPS_MAX = 64;
/** Artifacts of one release: two architectures times two forms today, with room for more. */
export const RELEASE_ARTIFACTS_MAX = 16;
/** Highest release priority; the lowest is its negative. */
export const RELEASE_PRIORITY_MAX = 1_000_000;
/** Failed release identities that a device remembers (DESIGN 3). */
export const FAILED_IDENTITIES_MAX = 8;
/** Tied releases that a device names: enough to see who to ask, without growing with the number of releases. */
export const TIED_RELEASES_MAX = 8;
/** Conditions of one resource. */
export const CONDITIONS_MAX = 16;
/** Nesting of any JSON document that is read. */
export const JSON_DEPTH_MAX = 32;
/** Bytes of an upgrade attempt. */
export const ATTEMPT_MAX_BYTES = 16 * KIB;
/** Bytes of an upgrade status: transitions, detail, error and one post-mortem, with room for a newer writer's fields. */
export const STATUS_MAX_BYTES = 32 * KIB;
/** Bytes of a device info or heartbeat. */
export const DEVICE_DOCUMENT_MAX_BYTES = 16 * KIB;
/** Bytes of the groups of one device: all of them at their longest, with room for writers that escape and indent. */
export const DEVICE_GROUPS_MAX_BYTES = 16 * KIB;
/** Bytes of one desired-state entry. */
export const DESIRED_STATE_MAX_BYTES = 256 * KIB;
/** Bytes of one embedded resource. */
export const RESOURCE_MAX_BYTES = 256 * KIB;
/**
 * Bytes of headers that a write may add to a document, in a bucket: the expected revision, the operation and the
 * message id. The server's bound on a value counts them too.
 */
export const BUCKET_HEADERS_MAX_BYTES = KIB;
/** Bytes that every bucket gets whatever the fleet size: room for tens of the largest documents, markers and the index. */
export const BUCKET_BASE_BYTES = 16 * MIB;
/** Largest document of a bucket over its average one: no fleet has every document at its limit. */
export const BUCKET_LARGEST_TO_AVERAGE = 4;
/** Bytes of the groups of a device on average, header and index included: a device is in a few groups. */
export const DEVICE_GROUPS_AVERAGE_BYTES = 2 * KIB;
/** Bytes of an embedded resource on average: most are a `Device`, whose status is small. */
export const RESOURCE_AVERAGE_BYTES = 8 * KIB;
/** Bytes of a configuration file. */
export const CONFIG_MAX_BYTES = 64 * KIB;
/** Bytes of a self-test report: room for every check with the longest reason. */
export const SELF_TEST_REPORT_MAX_BYTES = 48 * KIB;
/** Capabilities that a device reports. */
export const CAPABILITIES_MAX = 32;
/** Characters of a capability, an OS name and other short texts of a device. */
export const SHORT_TEXT_MAX_CHARS = 128;
/** Characters of a mount point in a heartbeat: `/usr`, `/var` and `/boot` today. */
export const MOUNT_PATH_MAX_CHARS = 64;
/** Mount points in a heartbeat. */
export const MOUNTS_MAX = 16;
/** Characters of a path in a document or a configuration: Linux's PATH_MAX without the final zero. */
export const PATH_MAX_CHARS = 4_095;
/** Characters of a user or group name: what Linux's account tools take. */
export const ACCOUNT_NAME_MAX_CHARS = 32;
/** Characters of one log field. */
export const LOG_FIELD_MAX_CHARS = 2_048;
/** Fields of one log line: with the field limit it keeps a line below 66 KiB, whatever was thrown at it. */
export const LOG_FIELDS_MAX = 32;
/** Nested values that are looked at in one log field, so that a huge object costs no more than a small one. */
export const LOG_FIELD_NODES_MAX = 256;
/** Nesting that is shown in one log field; below it a value is named by its type. */
export const LOG_FIELD_DEPTH_MAX = 4;
/** States whose repetition is suppressed at once; the one that was seen longest ago is forgotten first. */
export const LOG_STATES_MAX = 256;

// ---- Fleet ----

/** Pause between heartbeats, in ms. */
export const HEARTBEAT_INTERVAL_MS = 30 * SECOND_MS;
/** Heartbeats that may be missed before a device is `Stale`. */
export const STALE_AFTER_HEARTBEATS = 4;
/**
 * Age of a non-terminal phase after which a silent device is `Lost`, in ms: the seed's limits of one upgrade added up
 * (request, probe, stop, start, and stop and start again for a rollback).
 */
export const LOST_AFTER_MS = HTTPS_REQUEST_TIMEOUT_MS + PROBE_TIMEOUT_MS +
  2 * (UPDATER_STOP_BOUND_MS + UPDATER_START_BOUND_MS);
/** Default number of devices that the buckets' `max_bytes` are made for. */
export const FLEET_SIZE_DEFAULT = 1_000;
/** Largest number of devices that the system is made for. */
export const FLEET_SIZE_MAX = 100_000;
/** Pause between two status writes of one resource, in ms (DESIGN 7). */
export const STATUS_WRITE_INTERVAL_MS = SECOND_MS;
/** Pause between two polls of the updater's transaction while one is active, in ms. */
export const UPDATER_POLL_ACTIVE_MS = 500;
/** Pause between two polls of the updater's transaction otherwise, in ms. */
export const UPDATER_POLL_IDLE_MS = 5 * SECOND_MS;
/** Clock skew against the server above which a device's clock is called insane, in ms. */
export const CLOCK_SKEW_MAX_MS = 5 * MINUTE_MS;
/** A clock before this instant has never been set: 2026-01-01T00:00:00Z in ms since the epoch. */
export const CLOCK_EARLIEST_MS = 1_767_225_600_000;

// ---- Agent ----

/** Problems of one configuration that are named; the rest is counted. */
export const CONFIG_PROBLEMS_MAX = 32;
/** Random part of the pause between heartbeats, in ms: a fleet that started together must not write together. */
export const HEARTBEAT_JITTER_MS = 3 * SECOND_MS;
/** Shortest pause between heartbeats when something worth telling changes, in ms. */
export const HEARTBEAT_MIN_GAP_MS = SECOND_MS;
/** Pause between two tries of a step before READY that waits for its surroundings, in ms. */
export const STARTUP_RETRY_MS = SECOND_MS;
/** Pause between two looks at an intent that is deferred, in ms; a change of the updater's state comes sooner. */
export const INTENT_RECHECK_MS = 15 * SECOND_MS;
/** Silence of the updater after which the agent says that it is away, in ms: longer than its restart. */
export const UPDATER_AWAY_AFTER_MS = 15 * SECOND_MS;
/** Age at which what the agent knows of its published status is read again from the bucket, in ms. */
export const STATUS_REREAD_MS = 10 * MINUTE_MS;
/** Silence of one of the agent's loops after which the watchdog is no longer fed, in ms: above every bound within one. */
export const LOOP_STALL_MS = 2 * MINUTE_MS;
/** Entries of one device's desired state. */
export const DESIRED_ENTRIES_MAX = 1_024;
/** Errors of one NATS outage that are logged: with many servers each may fail in its own way. */
export const OUTAGE_ERRORS_TOLD_MAX = 8;
/** Names looked at in the directory of the binaries, which nobody clears: their sum then is of the first ones. */
export const BINARIES_LISTED_MAX = 4_096;
/** Bytes of `last-drain.json`. */
export const LAST_DRAIN_MAX_BYTES = 4 * KIB;

/*
 * A drain ends below the service manager's stop bound even when the mutation hangs and NATS is away, so that the
 * agent's last words are its own.
 */
/** Time that a drain waits for the mutation that runs, in ms. */
export const DRAIN_MUTATION_TIMEOUT_MS = 40 * SECOND_MS;
/** Time that a drain waits for the updater's status, in ms. */
export const DRAIN_STATUS_TIMEOUT_MS = 3 * SECOND_MS;
/** Time that a drain waits for the acknowledgement of `stopping`, in ms. */
export const DRAIN_PUBLISH_TIMEOUT_MS = 5 * SECOND_MS;
/** Time that a drain waits for `last-drain.json` to be durable, in ms. */
export const DRAIN_RECORD_TIMEOUT_MS = 2 * SECOND_MS;
/** Time that a drain waits for NATS to have everything, in ms. */
export const DRAIN_FLUSH_TIMEOUT_MS = 2 * SECOND_MS;
/** Time that a drain waits for loops and connections to end, in ms. */
export const DRAIN_CLOSE_TIMEOUT_MS = 3 * SECOND_MS;

// ---- Operator ----

/** Silence after which a device is `Stale`, in ms: every heartbeat that may be missed, at its latest. */
export const STALE_AFTER_MS = STALE_AFTER_HEARTBEATS * (HEARTBEAT_INTERVAL_MS + HEARTBEAT_JITTER_MS);
/**
 * Age of a `complete` up to which an older device info is taken for one whose successor is still on its way, in ms: the
 * agent publishes both over different streams, within a second of one another.
 */
export const DEVICE_INFO_SETTLE_MS = MINUTE_MS;
/**
 * Pause before the operator answers a resource that somebody else has written, in ms: another operator that is ahead is
 * caught up with instead of written over.
 */
export const FOREIGN_WRITE_SETTLE_MS = 2 * SECOND_MS;
/** Pause after a lost compare-and-set, in ms: the winner's write comes by the watch within it. */
export const LOST_RACE_PAUSE_MS = 200;
/** Longest wait for the groups' bucket to be read to its end, after a start or an outage, in ms: as long, a plan waits. */
export const GROUPS_CATCH_UP_MS = 10 * SECOND_MS;
/** Reconciliations of one kind at a time: enough to hide the round trips of writes, few enough to stay fair. */
export const RECONCILE_CONCURRENCY = 32;
/** Time that reconciliation may keep the event loop before it lets messages in, in ms. */
export const RECONCILE_SLICE_MS = 10;
/** First pause before a failed reconciliation is tried again, in ms. */
export const RECONCILE_RETRY_MIN_MS = 500;
/** Longest pause before a failed reconciliation is tried again, in ms: an outage that ends is noticed within it. */
export const RECONCILE_RETRY_MAX_MS = 30 * SECOND_MS;
/** Pause between two measurements of the broker's clock, in ms. */
export const BROKER_CLOCK_REFRESH_MS = MINUTE_MS;
/** Different texts of a fleet that are kept once in memory: far above its versions, far below its devices. */
export const INTERNED_TEXTS_MAX = 10_000;
/** Characters of the problem of one unreadable document: those of all buckets of a device fit into one message. */
export const DOCUMENT_PROBLEM_MAX_CHARS = 200;
