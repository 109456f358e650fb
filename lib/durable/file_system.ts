/**
 * The file operations on which durability rests, as a port: the real one, and a simulated disk that keeps only what
 * POSIX promises, pass the same conformance suite.
 *
 * Every failure is a {@link FleetError} with code `E_FS_<ERRNO>` (`E_FS_ENOSPC`, `E_FS_EIO`, …); a full disk or quota
 * has the failure class `environment`. What a call's failure leaves behind is said at the call.
 *
 * @module
 */

/** Kind of a directory entry; links are not followed. */
export type EntryKind = "file" | "directory" | "link" | "other";

/** What `lstat` says of a path. */
export interface EntryInfo {
  /** What it is. */
  readonly kind: EntryKind;
  /** Length of a file in bytes. */
  readonly sizeBytes: number;
  /** Permission bits only. */
  readonly mode: number;
  /** Number of the owner. */
  readonly uid: number;
  /** Number of the group. */
  readonly gid: number;
}

/** An open file that is written from its start. */
export interface WritableFile {
  /** Writes all bytes after what has been written. After a failure any prefix may have been written. */
  write(bytes: Uint8Array): Promise<void>;
  /** Cuts the file to a length. */
  truncate(sizeBytes: number): Promise<void>;
  /**
   * Makes what was written before durable, and the size; a write may run meanwhile. After a failure nothing is known of
   * what is durable (`fsync` is not to be retried).
   */
  sync(): Promise<void>;
  /** Closes the file; idempotent, does not sync. */
  close(): Promise<void>;
}

/** The file operations on which durability rests. */
export interface FileSystem {
  /** All bytes of a file, or null when there is none. @throws `E_FS_TOO_LARGE` above `maxBytes`. */
  readFile(path: string, maxBytes: number): Promise<Uint8Array | null>;
  /**
   * Reads a file in chunks of at most {@link DIGEST_CHUNK_BYTES}; null when there is none. Iterate it once, or the file
   * stays open; a chunk is valid until the next.
   */
  readChunks(path: string): Promise<AsyncIterable<Uint8Array> | null>;
  /** Creates a file that must not exist (`O_EXCL`, also against dangling links), with its mode from the start. */
  create(path: string, mode: number): Promise<WritableFile>;
  /** Opens an existing file for writing from its start, keeping its blocks; null when there is none. */
  openExisting(path: string): Promise<WritableFile | null>;
  /** Atomically replaces `to`; durable only after {@link syncDirectory} of its directory. */
  rename(from: string, to: string): Promise<void>;
  /** Creates a symbolic link that must not exist. */
  symlink(target: string, path: string): Promise<void>;
  /** Target of a symbolic link; null when there is no entry. @throws `E_FS_EINVAL` when it is not a link. */
  readLink(path: string): Promise<string | null>;
  /** Removes a file or link; false when there was none. */
  remove(path: string): Promise<boolean>;
  /** Makes the names of a directory durable. After a failure nothing is known of what is durable. */
  syncDirectory(path: string): Promise<void>;
  /** Creates a directory and its parents; existing ones are kept as they are. */
  makeDirectory(path: string, mode: number): Promise<void>;
  /** Names in a directory, in no order; empty when there is none. */
  list(path: string): Promise<string[]>;
  /** What is at a path, links not followed; null when nothing is. */
  stat(path: string): Promise<EntryInfo | null>;
  /** Sets owner and group of a path, links not followed. */
  chown(path: string, uid: number, gid: number): Promise<void>;
  /** Bytes that an unprivileged process may still write on the file system of a path. */
  freeBytes(path: string): Promise<number>;
}
