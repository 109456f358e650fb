/**
 * Numbers of tasks and system upgrades, with their unit and reason; read them through `limits.ts`, which has all numbers.
 *
 * @module
 */

const KIB = 1_024;
const MINUTE_S = 60;
const DAY_S = 24 * 60 * MINUTE_S;

// ---- A run ----

/** Shortest deadline of a run, in s: a device must get its intent, answer and send a heartbeat within it. */
export const TASK_DEADLINE_MIN_S = MINUTE_S;
/** Longest deadline of a run, in s: a week; intents, plans and ledgers are kept for longer than it. */
export const TASK_DEADLINE_MAX_S = 7 * DAY_S;

// ---- The frozen plan ----

/** Devices of one chunk of a plan: with the longest ids it stays far below the 1 MiB of one NATS message. */
export const TASK_PLAN_CHUNK_DEVICES_MAX = 2_000;
/** Chunks of one plan: the largest fleet's. */
export const TASK_PLAN_CHUNKS_MAX = 50;
/** Bytes of a manifest or a chunk: a chunk of the longest ids, with room for a newer writer's members. */
export const TASK_PLAN_MAX_BYTES = 192 * KIB;
/** Bytes of plans that one device may need: dozens of kept runs over the whole fleet, at common lengths of ids. */
export const TASK_PLAN_DEVICE_BYTES = KIB;

// ---- Documents of system upgrades ----

/** Bytes of a system-upgrade attempt: its members are few and short. */
export const SYSTEM_ATTEMPT_MAX_BYTES = 4 * KIB;
/** Bytes of attempts that one device may need: few runs are under way at once, and their intents are small. */
export const SYSTEM_ATTEMPT_DEVICE_BYTES = 2 * KIB;
/** Bytes of a system-upgrade status: every member at its limit, with room for a newer writer's members. */
export const SYSTEM_STATUS_MAX_BYTES = 48 * KIB;
/** Bytes of statuses that one device may need: those of several runs, of which few have an error at its limit. */
export const SYSTEM_STATUS_DEVICE_BYTES = 12 * KIB;
/** Packages that a summary names of each kind; all of them are counted. */
export const PACKAGES_NAMED_MAX = 24;
/** Characters of a package's name with its architecture: Debian's longest has about 80. */
export const PACKAGE_NAME_MAX_CHARS = 96;
/** Bytes of what is kept of a failed command, as JSON. */
export const COMMAND_REPORT_MAX_BYTES = 8 * KIB;
/** Characters of the name of a failed command. */
export const COMMAND_NAME_MAX_CHARS = 256;

// ---- History ----

/** Bytes of the record of an ended run: its spec at the limits of groups and labels. */
export const TASK_HISTORY_MAX_BYTES = 128 * KIB;
/** Bytes of history that one device may need: records are of runs, of which a large fleet has more. */
export const TASK_HISTORY_DEVICE_BYTES = KIB;

// ---- Ages: what is kept for longer than a run may last, and goes by itself ----

/** Age at which an intent goes, in s: longer than the longest deadline, so that no running attempt loses its own. */
export const SYSTEM_INTENT_MAX_AGE_S = 9 * DAY_S;
/** Age at which a status goes, in s: a month in which people look for what happened. */
export const SYSTEM_STATUS_MAX_AGE_S = 30 * DAY_S;
/** Age at which a plan goes, in s: as long as the statuses of its devices. */
export const TASK_PLAN_MAX_AGE_S = 30 * DAY_S;
/** Age at which the record of an ended run goes, in s: a year. */
export const TASK_HISTORY_MAX_AGE_S = 365 * DAY_S;

// ---- The operator's work on runs ----

/** Chunks of a plan that are read or written at a time: enough to hide round trips, few enough to hold in memory. */
export const PLAN_CHUNKS_AT_ONCE = 8;
/**
 * Intents that are written before the run is read again: as many may still be written after somebody else has ended it,
 * and are withdrawn then.
 */
export const RELEASE_BATCH = 64;
/** Intents of ended devices or runs that are removed before other work is let in. */
export const WITHDRAW_BATCH = 64;
/** Time after a deadline for results that the broker has received before it to be seen, in ms. */
export const DEADLINE_SETTLE_MS = 2_000;
/**
 * Age of an intent whose run nobody knows before it is taken for one of a deleted run, in ms: the run may have been made
 * a moment ago, and be told of later than its intents.
 */
export const ORPHAN_SETTLE_MS = 30_000;
/** Pause between two looks at what is left of an ended run, in ms; results come sooner by their watch. */
export const ENDED_RUN_LOOK_MS = 60 * MINUTE_S * 1_000;
