/**
 * The upgrade of a device's operating system on the wire: the attempt that the operator writes, and the status that the
 * updater owns and the agent publishes (`Fleet tasks`, Execution). `docs/wire.md` describes both for other languages.
 *
 * @module
 */
import {
  boundedJson,
  type Decoded,
  decodeError,
  type Decoder,
  flag,
  integer,
  list,
  object,
  oneOf,
  oneOfOr,
  optional,
  refined,
  text,
} from "./codec.ts";
import { FAILURE_CLASSES } from "./errors.ts";
import { detail, deviceId, instant, reason, sha256Hex, shortText, uuid } from "./formats.ts";
import {
  COMMAND_NAME_MAX_CHARS,
  COMMAND_REPORT_MAX_BYTES,
  PACKAGE_NAME_MAX_CHARS,
  PACKAGES_NAMED_MAX,
  POST_MORTEM_LINE_MAX_CHARS,
  POST_MORTEM_LINES_MAX,
  TRANSITIONS_MAX,
} from "./limits.ts";

/** Schema version of the documents of this file. */
export const SYSTEM_UPGRADE_SCHEMA = 1;

/**
 * The one operation, and the capability of an updater that has it: every package upgraded by apt, and a reboot. What apt
 * and dpkg may do is compiled into the updater (`Fleet tasks`, TaskRun).
 */
export const APT_FULL_UPGRADE_V1 = "AptFullUpgradeV1";

/** Decodes the members of an attempt, without the rule between them. */
export const systemUpgradeAttemptShape = object({
  schema: integer(1),
  /** The attempt's UUID: the run's (`Fleet tasks`, Placement). */
  attemptId: uuid,
  /** UID of the run. */
  runId: uuid,
  /** The one device that it is for. */
  deviceId,
  operation: oneOf([APT_FULL_UPGRADE_V1]),
  /** When the plan was made, by the broker's clock. */
  createdAt: instant,
  /** From then on it must not be accepted any more; one that was accepted goes on. */
  expiresAt: instant,
});
/** An attempt of a system upgrade. */
export type SystemUpgradeAttempt = Decoded<typeof systemUpgradeAttemptShape>;

/** Decodes an attempt of a system upgrade. Its digest is taken over the whole document as it came. */
export const systemUpgradeAttempt: Decoder<SystemUpgradeAttempt> = refined(
  systemUpgradeAttemptShape,
  (attempt, path) => {
    if (attempt.attemptId !== attempt.runId) {
      throw decodeError(path === "" ? "attemptId" : `${path}.attemptId`, "must be the same as runId");
    }
    return attempt;
  },
);

/** Phases of a system upgrade, as the updater has them in its ledger; the last two are terminal. */
export const SYSTEM_UPGRADE_PHASES = [
  "accepted",
  "checking",
  "refreshing",
  "simulating",
  "downloading",
  "upgrading",
  "rebooting",
  "succeeded",
  "failed",
] as const;
/** One of {@link SYSTEM_UPGRADE_PHASES}. */
export type SystemUpgradePhase = (typeof SYSTEM_UPGRADE_PHASES)[number];

/**
 * Whether an attempt in this phase has ended for good.
 *
 * @param phase A phase
 */
export function isTerminalSystemPhase(phase: SystemUpgradePhase): boolean {
  return phase === "succeeded" || phase === "failed";
}

/** Reasons of a terminal phase; the list is closed. `docs/wire.md` says what each means and `docs/operations.md` what to do. */
export const SYSTEM_UPGRADE_REASONS = [
  // Succeeded.
  "Upgraded",
  "Rebooted",
  "NothingToDo",
  // Refused: nothing was begun.
  "InvalidAttempt",
  "SchemaUnsupported",
  "WrongDevice",
  "UnsupportedOperation",
  "AttemptReused",
  "Expired",
  "Withdrawn",
  "UpdaterRefused",
  // Before a package was touched.
  "ClockInsane",
  "DiskFull",
  "ReadOnlyFileSystem",
  "LockTimeout",
  "DpkgBroken",
  "IndexRefreshFailed",
  "SignatureInvalid",
  "ReleaseNotYetValid",
  "ReleaseExpired",
  "ReleaseInfoChanged",
  "SimulationFailed",
  "ProtectedRemoval",
  "DownloadFailed",
  "HashMismatch",
  // While or after packages were changed.
  "UpgradeFailed",
  "UpgradeTimedOut",
  "AuditFailed",
  "RebootRefused",
  "Interrupted",
  // The updater itself.
  "LedgerLost",
  "Internal",
] as const;
/** One of {@link SYSTEM_UPGRADE_REASONS}. */
export type SystemUpgradeReason = (typeof SYSTEM_UPGRADE_REASONS)[number];

/** Decodes a package's name as apt says it: `name`, or `name:arch` of a foreign architecture. */
export const packageName: Decoder<string> = text({
  what: "a package name such as libc6 or libc6:armhf",
  maxChars: PACKAGE_NAME_MAX_CHARS,
  pattern: /^[a-z0-9][a-z0-9+.-]*(?::[a-z0-9-]+)?$/,
});

/** Decodes packages that something was done with: all are counted, the first ones named. */
export const packageGroup = object({ count: integer(0), names: list(packageName, PACKAGES_NAMED_MAX) });
/** Packages that something was done with. */
export type PackageGroup = Decoded<typeof packageGroup>;

/** Decodes what an upgrade changed, as far as it came. */
export const systemUpgradeSummary = object({
  /** Packages with another version than before. */
  upgraded: optional(packageGroup),
  /** Packages that were not there before. */
  installed: optional(packageGroup),
  removed: optional(packageGroup),
  /** Held, kept back or deferred by phasing. */
  kept: optional(packageGroup),
  /** Bytes of the archives that were fetched. */
  downloadedBytes: optional(integer(0)),
  /** Release of the running kernel. */
  kernelBefore: optional(shortText),
  kernelAfter: optional(shortText),
  bootIdBefore: optional(shortText),
  bootIdAfter: optional(shortText),
});
/** What an upgrade changed. */
export type SystemUpgradeSummary = Decoded<typeof systemUpgradeSummary>;

const outputLine = text({ what: "a line", maxChars: POST_MORTEM_LINE_MAX_CHARS, minChars: 0 });
/** Decodes the members of what is known of a command that failed, without the bound on the whole. */
export const commandReportShape = object({
  /** The command with its verb, such as `apt-get update`. */
  command: text({ what: "a command", maxChars: COMMAND_NAME_MAX_CHARS }),
  exitCode: optional(integer(0, 255)),
  signal: optional(shortText),
  /** Whether it was ended at its time limit. */
  timedOut: optional(flag),
  durationMs: optional(integer(0)),
  /** Last lines of output, oldest first. */
  lastLines: optional(list(outputLine, POST_MORTEM_LINES_MAX)),
});
/** What is known of a command that failed. */
export type CommandReport = Decoded<typeof commandReportShape>;

/** Decodes what is known of a command that failed; at most 8 KiB as JSON. */
export const commandReport: Decoder<CommandReport> = boundedJson(commandReportShape, COMMAND_REPORT_MAX_BYTES);

/** Decodes one timed change of phase. */
export const systemUpgradeTransition = object({
  phase: oneOf(SYSTEM_UPGRADE_PHASES),
  at: instant,
  code: optional(reason),
});
/** One timed change of phase. */
export type SystemUpgradeTransition = Decoded<typeof systemUpgradeTransition>;

/** Decodes the agent's record of the first heartbeat that the broker took after the updater had succeeded. */
export const firstHeartbeat = object({
  /** The heartbeat's own number within the agent's life. */
  sequence: integer(1),
  /** The heartbeat's boot. */
  bootId: shortText,
  /** The device's clock, for people: the operator goes by the broker's time of receipt. */
  at: instant,
});
/** The agent's record of the first heartbeat after success. */
export type FirstHeartbeat = Decoded<typeof firstHeartbeat>;

/**
 * Decodes the status of a system upgrade. Everything but `firstHeartbeat` is the updater's; the agent makes a status only
 * for an intent that never got to the updater.
 */
export const systemUpgradeStatus = object({
  schema: integer(1),
  attemptId: uuid,
  runId: uuid,
  deviceId,
  /** Digest of the attempt's canonical JSON; absent when the intent could not be read as JSON. */
  attemptDigest: optional(sha256Hex),
  operation: optional(shortText),
  phase: oneOf(SYSTEM_UPGRADE_PHASES),
  /** Why it ended as it did: one of {@link SYSTEM_UPGRADE_REASONS}, or one that a newer updater has. */
  reason: optional(reason),
  failureClass: optional(oneOfOr(FAILURE_CLASSES, "internal")),
  /** What it waits for. */
  detail: optional(detail),
  /** The first cause of a failure. */
  error: optional(detail),
  startedAt: instant,
  updatedAt: instant,
  /** When it ended. */
  completedAt: optional(instant),
  transitions: list(systemUpgradeTransition, TRANSITIONS_MAX),
  summary: optional(systemUpgradeSummary),
  /** The command that failed. */
  failedCommand: optional(commandReport),
  /** The systemd unit in whose journal the details stand. */
  journalUnit: optional(shortText),
  /** Of a success, and added by the agent; without it the success does not count (`Fleet tasks`, Execution). */
  firstHeartbeat: optional(firstHeartbeat),
});
/** The status of a system upgrade. */
export type SystemUpgradeStatus = Decoded<typeof systemUpgradeStatus>;
