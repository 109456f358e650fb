/**
 * Root's way out of a corrupt journal, while no updater runs: the journal is archived, and one in `rollback-failed`
 * that names the binary that root chose takes its place. Starting the updater and a repair then go on as ever.
 *
 * @module
 */
import { AGENT_UPGRADE_SCHEMA, type AgentUpgradeAttempt } from "../../contracts/agent_upgrade.ts";
import { canonicalDigest } from "../../contracts/digest.ts";
import { errorText, FleetError, isFleetError } from "../../contracts/errors.ts";
import { type Architecture, bounded } from "../../contracts/formats.ts";
import { binaryPath, type ManagedPaths } from "../../contracts/managed_paths.ts";
import { JOURNAL_CORRUPT } from "../../contracts/updater_protocol.ts";
import type { FileSystem } from "../../lib/durable/file_system.ts";
import { installedDigest } from "../candidate.ts";
import type { UpdaterRecord } from "../core/record.ts";
import { JournalStore } from "../journal_store.ts";
import { archiveFile } from "./archive_file.ts";

/** Whose journal it is, and what root chose. */
export interface ReplacementChoice {
  readonly deviceId: string;
  readonly arch: Architecture;
  readonly version: string;
  /** The time, in ms since the epoch. */
  readonly nowMs: number;
  /** A fresh UUID: the replacement belongs to no attempt that was ever sent. */
  readonly attemptId: string;
}

/** What the journal is, seen from outside of an updater. */
export type JournalCondition =
  | { readonly kind: "sound" }
  | { readonly kind: "corrupt"; readonly problem: string };

/**
 * Whether the journal can be trusted.
 *
 * @param fs The file system
 * @param paths The managed paths
 */
export async function inspectJournal(fs: FileSystem, paths: ManagedPaths): Promise<JournalCondition> {
  try {
    await JournalStore.open(fs, paths);
    return { kind: "sound" };
  } catch (error) {
    if (!isFleetError(error, "E_JOURNAL_CORRUPT")) throw error;
    return { kind: "corrupt", problem: errorText(error) };
  }
}

/**
 * Archives a corrupt journal and writes its replacement. The caller holds the updater's lock.
 *
 * @param fs The file system
 * @param paths The managed paths
 * @param choice What root chose
 * @returns the path of the archive
 * @throws {FleetError} `E_REPAIR_NO_BINARY` when the version is not installed; nothing is changed then
 */
export async function replaceCorruptJournal(
  fs: FileSystem,
  paths: ManagedPaths,
  choice: ReplacementChoice,
): Promise<string> {
  const path = binaryPath(paths, choice.version);
  const installed = await installedDigest(fs, path, new AbortController().signal);
  if (installed === null || installed.sha256 === "") {
    throw new FleetError(`Cannot select version ${choice.version}: ${path} is not there`, {
      code: "E_REPAIR_NO_BINARY",
    });
  }
  // A copy, then a replacement in one step: at no moment is there no journal, which would mean "no transaction".
  const archive = await archiveFile(fs, paths.journal, choice.nowMs) ?? paths.journal;
  await JournalStore.overwrite(fs, paths, replacement(choice, path, installed, archive));
  return archive;
}

function replacement(
  { deviceId, arch, version, nowMs, attemptId }: ReplacementChoice,
  path: string,
  { sha256, sizeBytes }: { readonly sha256: string; readonly sizeBytes: number },
  archive: string,
): UpdaterRecord {
  const at = new Date(nowMs).toISOString();
  const attempt: AgentUpgradeAttempt = {
    schema: AGENT_UPGRADE_SCHEMA,
    attemptId,
    deviceId,
    targetVersion: version,
    arch,
    // The reserved top-level domain of RFC 2606: this attempt is never fetched.
    artifact: { url: "https://repair.invalid/", maxBytes: Math.max(1, sizeBytes), sha256 },
  };
  return {
    history: [],
    transaction: {
      attempt,
      digest: canonicalDigest(attempt),
      phase: "rollback-failed",
      step: "none",
      previousPath: path,
      targetPath: path,
      startedAt: at,
      updatedAt: at,
      transitions: [{ phase: "rollback-failed", at, code: JOURNAL_CORRUPT }],
      finding: {
        reason: JOURNAL_CORRUPT,
        failureClass: "internal",
        error: bounded(`the journal was corrupt and is kept as ${archive}`),
      },
    },
  };
}
