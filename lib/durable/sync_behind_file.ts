/**
 * Makes a large file durable while it is still being written, so that little is left for the sync at its end: on a slow
 * disk that would otherwise take as long as the transfer before it, and all of the file would wait for it in memory.
 *
 * @module
 */
import { SYNC_BEHIND_BYTES } from "../../contracts/limits.ts";
import type { WritableFile } from "./file_system.ts";
import { syncFile } from "./fsync.ts";

/**
 * A file that begins a sync of its own after every so many bytes and goes on writing meanwhile. It promises no more
 * than the file within: only {@link SyncBehindFile.sync} makes durable.
 */
export class SyncBehindFile implements WritableFile {
  readonly #file: WritableFile;
  readonly #path: string;
  readonly #everyBytes: number;
  #unsyncedBytes = 0;
  #syncing: Promise<void> | null = null;
  #failure: { readonly error: unknown } | null = null;

  /**
   * @param file The file within
   * @param path Its path, for messages
   * @param everyBytes Bytes after which a sync begins, unless one runs. Default {@link SYNC_BEHIND_BYTES}
   */
  constructor(file: WritableFile, path: string, everyBytes: number = SYNC_BEHIND_BYTES) {
    this.#file = file;
    this.#path = path;
    this.#everyBytes = everyBytes;
  }

  /** @throws {FleetError} `E_FSYNC`, fatal, also for a sync that failed behind an earlier write */
  async write(bytes: Uint8Array): Promise<void> {
    this.#throwFailure();
    await this.#file.write(bytes);
    this.#unsyncedBytes += bytes.byteLength;
    if (this.#unsyncedBytes < this.#everyBytes || this.#syncing !== null) return;
    this.#unsyncedBytes = 0;
    this.#syncing = syncFile(this.#file, this.#path)
      .catch((error) => {
        this.#failure = { error };
      })
      .finally(() => {
        this.#syncing = null;
      });
  }

  truncate(sizeBytes: number): Promise<void> {
    return this.#file.truncate(sizeBytes);
  }

  async sync(): Promise<void> {
    await this.#syncing;
    // What a sync has failed to make durable, a later one may skip without an error.
    this.#throwFailure();
    await this.#file.sync();
  }

  async close(): Promise<void> {
    await this.#syncing;
    await this.#file.close();
  }

  #throwFailure(): void {
    if (this.#failure !== null) throw this.#failure.error;
  }
}
