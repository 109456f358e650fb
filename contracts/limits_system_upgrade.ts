/**
 * Numbers of the updater's part in a system upgrade, with their unit and reason; read them through `limits.ts`.
 *
 * @module
 */

const KIB = 1_024;
const MIB = 1_024 * KIB;
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

// ---- The ledger ----

/** Attempts that the ledger remembers until they have expired; a device that is in more runs a week is in a loop. */
export const LEDGER_ENTRIES_MAX = 128;
/** Bytes of the ledger: every entry at its longest, and one status. */
export const LEDGER_MAX_BYTES = 96 * KIB;
/** Preallocated slots of the ledger: more than the writes of one upgrade from its first change of a package on. */
export const LEDGER_RESERVE_SLOTS = 8;

// ---- Free space before an upgrade ----

/** Free bytes of the file system of `/` and `/usr` that an upgrade leaves: logs, and the next agent's binary. */
export const UPGRADE_ROOT_RESERVE_BYTES = 256 * MIB;
/** Free bytes of the file system of `/var` that it leaves, beside the archives. */
export const UPGRADE_VAR_RESERVE_BYTES = 128 * MIB;
/** Free bytes of a `/boot` of its own before it begins: one kernel with its initial file system. */
export const UPGRADE_BOOT_RESERVE_BYTES = 64 * MIB;
/** Bytes on the disk per byte of an archive, at most: what Debian's packages compress to, with old and new there at once. */
export const UNPACKED_TO_ARCHIVE_MAX = 5;

// ---- Wall-clock bounds of what apt and dpkg do; none of them has one of its own ----

/** One look at dpkg's state or at the host, in ms. */
export const APT_LOOK_TIMEOUT_MS = 2 * MINUTE_MS;
/** One refresh of the package index, in ms: the slowest link that is worth an upgrade. */
export const APT_REFRESH_TIMEOUT_MS = 15 * MINUTE_MS;
/** One simulation, in ms: the slowest devices need a minute. */
export const APT_SIMULATE_TIMEOUT_MS = 10 * MINUTE_MS;
/** The download of all archives, in ms: 1 GiB at 150 KiB/s. */
export const APT_DOWNLOAD_TIMEOUT_MS = 2 * HOUR_MS;
/** Unpacking and configuring everything, in ms: ten times what a release upgrade takes on an SD card. */
export const APT_UPGRADE_TIMEOUT_MS = 3 * HOUR_MS;
/** Time between TERM and KILL of what passed its bound, in ms: dpkg finishes the package at hand. */
export const APT_KILL_GRACE_MS = 30 * SECOND_MS;
/** Time that is waited for a lock of apt or dpkg that somebody else holds, in ms: the timers right after a boot. */
export const APT_LOCK_TIMEOUT_MS = 20 * MINUTE_MS;
/** Pause between two tries of a fetch, in ms, for a lock of the index as well, which apt itself does not wait for. */
export const APT_FETCH_RETRY_MS = 20 * SECOND_MS;
/** Fetches that may fail for other causes than a lock: a mirror that is being synced is whole again in a minute. */
export const APT_FETCH_TRIES_MAX = 4;
/** Bytes of output of one command that are read: a simulation of every package of a full desktop has 1 MiB. */
export const APT_OUTPUT_MAX_BYTES = 4 * MIB;
/** Pause between two looks at the unit in which packages are changed, in ms. */
export const UPGRADE_UNIT_POLL_MS = SECOND_MS;
/** Orders to start that unit until it has begun: one may be lost where the service manager answers late. */
export const UNIT_STARTS_MAX = 5;
/** Bytes of the result that the unit leaves. */
export const UPGRADE_RESULT_MAX_BYTES = 64;
/** Time in which an ordered reboot must show in the service manager, in ms. */
export const REBOOT_SHOWS_WITHIN_MS = 30 * SECOND_MS;
/** Time for which a refused reboot is ordered again, in ms: who inhibits it for longer will not give way. */
export const REBOOT_RETRY_WINDOW_MS = 10 * MINUTE_MS;
/** Pause between two orders of a reboot that is refused, in ms. */
export const REBOOT_RETRY_MS = 20 * SECOND_MS;
/** Time in which a reboot that is under way must end this process, in ms: twice systemd's own bound on one job. */
export const REBOOT_UNDER_WAY_MS = 15 * MINUTE_MS;

// ---- The agent's part ----

/** Intents of system upgrades that an agent keeps: the operator takes each away when its run is over. */
export const SYSTEM_INTENTS_MAX = 256;
