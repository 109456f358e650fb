/**
 * Brings a candidate's bytes durably to its managed path, or verifies the ones that are there.
 *
 * @module
 */
import type { AgentUpgradeAttempt } from "../contracts/agent_upgrade.ts";
import { FleetError } from "../contracts/errors.ts";
import {
  ARTIFACT_MAX_BYTES,
  FETCH_STARTS_MAX,
  HTTPS_REQUEST_TIMEOUT_MS,
  INSTALL_RESERVE_BYTES,
} from "../contracts/limits.ts";
import type { Clock } from "../lib/deadline.ts";
import { digestFile, Sha256Stream } from "../lib/digest/sha256_stream.ts";
import type { FileSystem, WritableFile } from "../lib/durable/file_system.ts";
import { syncDirectory } from "../lib/durable/fsync.ts";
import { makeDirectoryDurably } from "../lib/durable/make_directory.ts";
import { replaceFileWith } from "../lib/durable/replace_file.ts";
import { removeStaleTemps, splitPath } from "../lib/durable/temp_name.ts";
import { isToStartOver, isWorthKeeping, keepPartial, partialPath, removePartials } from "./partial_artifact.ts";
import type { Fetcher, FetchRequest } from "./ports.ts";

const BINARY_MODE = 0o755;
const DIRECTORY_MODE = 0o755;

/** What {@link prepareCandidate} works with. */
export interface CandidateContext {
  readonly fs: FileSystem;
  readonly fetcher: Fetcher;
  readonly clock: Pick<Clock, "monotonicMs">;
}

/** What was done, and with how many bytes. */
export interface PreparedCandidate {
  readonly how: "fetched" | "resumed" | "reused";
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
 * the path is then as it was, and what came of a transfer that broke is kept for the next attempt
 */
export async function prepareCandidate(
  context: CandidateContext,
  attempt: AgentUpgradeAttempt,
  targetPath: string,
  signal: AbortSignal,
): Promise<PreparedCandidate> {
  const { fs } = context;
  const { artifact } = attempt;
  const { directory } = splitPath(targetPath);
  await makeDirectoryDurably(fs, directory, DIRECTORY_MODE);
  await removeStaleTemps(fs, directory);
  const present = await installedDigest(fs, targetPath, signal);
  if (present?.sha256 === artifact.sha256) {
    // An updater that was killed right after the rename left a name in memory only; the link must not outlive it.
    await syncDirectory(fs, directory);
    return { how: "reused", sizeBytes: present.sizeBytes };
  }
  const partial = partialPath(directory, artifact.sha256);
  await removePartials(fs, directory, partial);
  await requireSpace(fs, directory, artifact.maxBytes);
  const startedMs = context.clock.monotonicMs();
  let prepared: PreparedCandidate | undefined;
  for (let starts = 1; prepared === undefined; starts++) {
    // All tries together have the time of one request.
    const leftMs = Math.round(HTTPS_REQUEST_TIMEOUT_MS - (context.clock.monotonicMs() - startedMs));
    let unproven = false;
    const request = { ...artifact, timeoutMs: Math.max(1, leftMs), onUnproven: () => unproven = true };
    try {
      prepared = await replaceFileWith(
        fs,
        targetPath,
        { mode: BINARY_MODE },
        (file, temp) => transfer(context, request, { file, temp, partial }, signal),
      );
    } catch (error) {
      const isOver = starts >= FETCH_STARTS_MAX || context.clock.monotonicMs() - startedMs >= HTTPS_REQUEST_TIMEOUT_MS;
      if (isOver || !isToStartOver(error, unproven)) throw error;
      await fs.remove(partial);
    }
  }
  await removePartials(fs, directory);
  return prepared;
}

/** A partial file is given up before an attempt is. */
async function requireSpace(fs: FileSystem, directory: string, maxBytes: number): Promise<void> {
  const needed = maxBytes + INSTALL_RESERVE_BYTES;
  if (await fs.freeBytes(directory) >= needed) return;
  await removePartials(fs, directory);
  const free = await fs.freeBytes(directory);
  if (free >= needed) return;
  throw new FleetError(
    `Cannot install below ${directory}: ${free} bytes are free, the artifact and a reserve need ${needed}`,
    { code: "E_DISK_SPACE", retry: "transient", failureClass: "environment" },
  );
}

/** Where the bytes go, and where they are kept when the way to the rest of them breaks. */
interface Destination {
  readonly file: WritableFile;
  readonly temp: string;
  readonly partial: string;
}

/** One pass: every chunk is counted, hashed and written; what a wrong digest left is removed by the caller. */
async function transfer(
  { fs, fetcher }: CandidateContext,
  request: FetchRequest & { readonly onUnproven: () => void },
  { file, temp, partial }: Destination,
  signal: AbortSignal,
): Promise<PreparedCandidate> {
  const digest = new Sha256Stream(Math.min(request.maxBytes, ARTIFACT_MAX_BYTES));
  const kept = await fs.readChunks(partial);
  // Before it is taken: a file that is larger than the artifact may be is none of its beginnings either.
  if (kept !== null) request.onUnproven();
  await take(digest, file, kept ?? []);
  const offsetBytes = digest.sizeBytes;
  // A transfer may have broken after the last byte.
  if (digest.hex() !== request.sha256) {
    try {
      await take(digest, file, fetcher.fetch({ ...request, offsetBytes }, signal));
    } catch (error) {
      if (isWorthKeeping(error) && digest.sizeBytes > 0) await keepPartial(fs, temp, partial);
      throw error;
    }
  }
  const found = digest.hex();
  if (found !== request.sha256) {
    throw new FleetError(`The artifact's SHA-256 is ${found}, the attempt wants ${request.sha256}`, {
      code: "E_DIGEST_MISMATCH",
      failureClass: "policy",
      field: "artifact.sha256",
    });
  }
  return { how: offsetBytes > 0 ? "resumed" : "fetched", sizeBytes: digest.sizeBytes };
}

async function take(
  digest: Sha256Stream,
  file: WritableFile,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> {
  for await (const chunk of chunks) {
    // The disk takes the chunk while it is hashed.
    const written = file.write(chunk);
    try {
      digest.update(chunk);
    } finally {
      await written;
    }
  }
}
