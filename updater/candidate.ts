/**
 * Brings a candidate's bytes durably to its managed path, or verifies the ones that are there.
 *
 * @module
 */
import type { AgentUpgradeAttempt } from "../contracts/agent_upgrade.ts";
import { FleetError } from "../contracts/errors.ts";
import { ARTIFACT_MAX_BYTES, INSTALL_RESERVE_BYTES } from "../contracts/limits.ts";
import { digestFile, Sha256Stream } from "../lib/digest/sha256_stream.ts";
import type { FileSystem, WritableFile } from "../lib/durable/file_system.ts";
import { syncDirectory } from "../lib/durable/fsync.ts";
import { makeDirectoryDurably } from "../lib/durable/make_directory.ts";
import { replaceFileWith } from "../lib/durable/replace_file.ts";
import { removeStaleTemps, splitPath } from "../lib/durable/temp_name.ts";
import type { Fetcher } from "./ports.ts";

const BINARY_MODE = 0o755;
const DIRECTORY_MODE = 0o755;

/** What {@link prepareCandidate} works with. */
export interface CandidateContext {
  readonly fs: FileSystem;
  readonly fetcher: Fetcher;
}

/** What was done, and with how many bytes. */
export interface PreparedCandidate {
  readonly how: "fetched" | "reused";
  readonly sizeBytes: number;
}

/**
 * SHA-256 of an installed binary, or null when there is no file at the path.
 *
 * @param fs The file system
 * @param path A managed binary's path
 * @param signal Ends the reading
 */
export async function installedDigest(
  fs: FileSystem,
  path: string,
  signal: AbortSignal,
): Promise<{ readonly sha256: string; readonly sizeBytes: number } | null> {
  const info = await fs.stat(path);
  if (info?.kind !== "file") return null;
  // What is larger than any artifact may be is no artifact: it is replaced, not read.
  if (info.sizeBytes > ARTIFACT_MAX_BYTES) return { sha256: "", sizeBytes: info.sizeBytes };
  return await digestFile(fs, path, { maxBytes: ARTIFACT_MAX_BYTES, signal });
}

/**
 * Installs the candidate of an attempt. Bytes with another digest at the path are replaced by rename; admission has
 * refused an attempt whose path the link selects.
 *
 * @param context File system and fetcher
 * @param attempt The attempt
 * @param targetPath The managed path of its version
 * @param signal Ends the transfer
 * @throws {FleetError} `E_DISK_SPACE`, `E_DIGEST_MISMATCH`, `E_FSYNC` (fatal), or what the fetcher and the files throw;
 * the path is then as it was
 */
export async function prepareCandidate(
  { fs, fetcher }: CandidateContext,
  attempt: AgentUpgradeAttempt,
  targetPath: string,
  signal: AbortSignal,
): Promise<PreparedCandidate> {
  const { directory } = splitPath(targetPath);
  await makeDirectoryDurably(fs, directory, DIRECTORY_MODE);
  await removeStaleTemps(fs, directory);
  const present = await installedDigest(fs, targetPath, signal);
  if (present?.sha256 === attempt.artifact.sha256) {
    // An updater that was killed right after the rename left a name in memory only; the link must not outlive it.
    await syncDirectory(fs, directory);
    return { how: "reused", sizeBytes: present.sizeBytes };
  }
  await requireSpace(fs, directory, attempt.artifact.maxBytes);
  const sizeBytes = await replaceFileWith(
    fs,
    targetPath,
    { mode: BINARY_MODE },
    (file) => transfer(fetcher, attempt, file, signal),
  );
  return { how: "fetched", sizeBytes };
}

async function requireSpace(fs: FileSystem, directory: string, maxBytes: number): Promise<void> {
  const needed = maxBytes + INSTALL_RESERVE_BYTES;
  const free = await fs.freeBytes(directory);
  if (free >= needed) return;
  throw new FleetError(
    `Cannot install below ${directory}: ${free} bytes are free, the artifact and a reserve need ${needed}`,
    { code: "E_DISK_SPACE", retry: "transient", failureClass: "environment" },
  );
}

/** One pass: every chunk is counted, hashed and written; what a wrong digest left is removed by the caller. */
async function transfer(
  fetcher: Fetcher,
  { artifact }: AgentUpgradeAttempt,
  file: WritableFile,
  signal: AbortSignal,
): Promise<number> {
  const digest = new Sha256Stream(Math.min(artifact.maxBytes, ARTIFACT_MAX_BYTES));
  for await (const chunk of fetcher.fetch(artifact, signal)) {
    // The disk takes the chunk while it is hashed.
    const written = file.write(chunk);
    try {
      digest.update(chunk);
    } finally {
      await written;
    }
  }
  const found = digest.hex();
  if (found !== artifact.sha256) {
    throw new FleetError(`The artifact's SHA-256 is ${found}, the attempt wants ${artifact.sha256}`, {
      code: "E_DIGEST_MISMATCH",
      failureClass: "policy",
      field: "artifact.sha256",
    });
  }
  return digest.sizeBytes;
}
