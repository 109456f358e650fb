/**
 * The real file system behind the {@link FileSystem} port.
 *
 * Everything goes through file handles of `node:fs`: they alone give `fchmod` (a mode that the umask has narrowed is
 * widened without naming the path again) and `O_NOFOLLOW`.
 *
 * @module
 */
import { constants } from "node:fs";
import fsPromises, { type FileHandle } from "node:fs/promises";
import { DIGEST_CHUNK_BYTES } from "../../contracts/limits.ts";
import { errnoError, errnoOf, fileSystemError, tooLargeError } from "./file_system_error.ts";
import type { EntryInfo, EntryKind, FileSystem, WritableFile } from "./file_system.ts";

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;
const PERMISSION_BITS = 0o7777;
/** First read of a file whose size says nothing: a page, which holds most files of /proc. */
const FIRST_READ_BYTES = 4_096;

/** Runs a call of the runtime and gives its failure a type. */
async function attempt<T>(action: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw fileSystemError(error, action);
  }
}

/** Like {@link attempt}, with null for a path that is not there. */
async function attemptOrNull<T>(action: string, call: () => Promise<T>): Promise<T | null> {
  try {
    return await call();
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return null;
    throw fileSystemError(error, action);
  }
}

class OsWritableFile implements WritableFile {
  readonly #handle: FileHandle;
  readonly #path: string;
  #closed = false;

  constructor(handle: FileHandle, path: string) {
    this.#handle = handle;
    this.#path = path;
  }

  write(bytes: Uint8Array): Promise<void> {
    return attempt(`write ${this.#path}`, async () => {
      for (let written = 0; written < bytes.byteLength;) {
        const { bytesWritten } = await this.#handle.write(bytes, written, bytes.byteLength - written, null);
        // Zero without an error would make this loop endless; no Linux file system does it for a regular file.
        if (bytesWritten === 0) throw errnoError("EIO", `write ${this.#path}`);
        written += bytesWritten;
      }
    });
  }

  truncate(sizeBytes: number): Promise<void> {
    return attempt(`truncate ${this.#path}`, () => this.#handle.truncate(sizeBytes));
  }

  sync(): Promise<void> {
    return attempt(`sync ${this.#path}`, () => this.#handle.sync());
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await attempt(`close ${this.#path}`, () => this.#handle.close());
  }
}

function kindOf(info: { isFile(): boolean; isDirectory(): boolean; isSymbolicLink(): boolean }): EntryKind {
  if (info.isFile()) return "file";
  if (info.isDirectory()) return "directory";
  return info.isSymbolicLink() ? "link" : "other";
}

/** Opens a regular file for reading; a FIFO or device in its place must neither block nor be read. */
async function openForReading(path: string): Promise<FileHandle | null> {
  const handle = await attemptOrNull(`open ${path}`, () => fsPromises.open(path, O_RDONLY | O_NONBLOCK));
  if (handle === null) return null;
  try {
    const info = await handle.stat();
    if (!info.isFile()) throw errnoError(info.isDirectory() ? "EISDIR" : "EINVAL", `read ${path}`);
    return handle;
  } catch (error) {
    await handle.close();
    throw fileSystemError(error, `read ${path}`);
  }
}

/** Reads to the end, whatever the size says: files of /proc have size 0, others may grow. */
async function readBounded(handle: FileHandle, path: string, maxBytes: number): Promise<Uint8Array> {
  const { size } = await handle.stat();
  if (size > maxBytes) throw tooLargeError(path, maxBytes);
  // One byte more than is expected shows the end of the file, or that the limit is passed.
  let buffer = new Uint8Array(Math.min(Math.max(size, FIRST_READ_BYTES), maxBytes) + 1);
  let length = 0;
  while (true) {
    const { bytesRead } = await handle.read(buffer, length, buffer.byteLength - length, null);
    if (bytesRead === 0) return buffer.slice(0, length);
    length += bytesRead;
    if (length > maxBytes) throw tooLargeError(path, maxBytes);
    if (length === buffer.byteLength) {
      const larger = new Uint8Array(Math.min(2 * length, maxBytes + 1));
      larger.set(buffer);
      buffer = larger;
    }
  }
}

/** Reads one chunk ahead, so that the disk and whoever works on a chunk are busy at the same time. */
async function* chunksOf(handle: FileHandle, path: string): AsyncGenerator<Uint8Array, void, undefined> {
  let current = new Uint8Array(DIGEST_CHUNK_BYTES);
  let next = new Uint8Array(DIGEST_CHUNK_BYTES);
  const read = (buffer: Uint8Array) =>
    attempt(`read ${path}`, () => handle.read(buffer, 0, buffer.byteLength, null)).then(({ bytesRead }) => bytesRead);
  let reading = read(current);
  try {
    for (let length = await reading; length > 0; length = await reading) {
      reading = read(next);
      // Its failure is thrown when its turn comes, and must not count as unhandled until then.
      reading.catch(() => {});
      yield current.subarray(0, length);
      [current, next] = [next, current];
    }
  } finally {
    await reading.catch(() => {});
    await handle.close();
  }
}

/** The real file system. */
export class OsFileSystem implements FileSystem {
  async readFile(path: string, maxBytes: number): Promise<Uint8Array | null> {
    const handle = await openForReading(path);
    if (handle === null) return null;
    try {
      return await attempt(`read ${path}`, () => readBounded(handle, path, maxBytes));
    } finally {
      await handle.close();
    }
  }

  async readChunks(path: string): Promise<AsyncIterable<Uint8Array> | null> {
    const handle = await openForReading(path);
    return handle === null ? null : chunksOf(handle, path);
  }

  create(path: string, mode: number): Promise<WritableFile> {
    return attempt(`create ${path}`, async () => {
      const handle = await fsPromises.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
      try {
        // The umask only ever takes bits away, so the file was never more open than asked.
        if (((await handle.stat()).mode & PERMISSION_BITS) !== mode) await handle.chmod(mode);
      } catch (error) {
        await handle.close();
        await Deno.remove(path);
        throw error;
      }
      return new OsWritableFile(handle, path);
    });
  }

  async openExisting(path: string): Promise<WritableFile | null> {
    const handle = await attemptOrNull(`open ${path}`, () => fsPromises.open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK));
    return handle === null ? null : new OsWritableFile(handle, path);
  }

  rename(from: string, to: string): Promise<void> {
    return attempt(`rename ${from} to ${to}`, () => Deno.rename(from, to));
  }

  symlink(target: string, path: string): Promise<void> {
    return attempt(`link ${path} to ${target}`, () => Deno.symlink(target, path));
  }

  readLink(path: string): Promise<string | null> {
    return attemptOrNull(`read link ${path}`, () => Deno.readLink(path));
  }

  async remove(path: string): Promise<boolean> {
    const removed = await attemptOrNull(`remove ${path}`, async () => {
      // The runtime's remove takes empty directories too, which this port never means to remove.
      if ((await Deno.lstat(path)).isDirectory) throw errnoError("EISDIR", `remove ${path}`);
      await Deno.remove(path);
      return true;
    });
    return removed ?? false;
  }

  syncDirectory(path: string): Promise<void> {
    return attempt(`sync directory ${path}`, async () => {
      const handle = await fsPromises.open(path, O_RDONLY | O_DIRECTORY);
      try {
        await handle.sync();
      } finally {
        await handle.close();
      }
    });
  }

  makeDirectory(path: string, mode: number): Promise<void> {
    return attempt(`make directory ${path}`, () => Deno.mkdir(path, { recursive: true, mode }));
  }

  async list(path: string): Promise<string[]> {
    return await attemptOrNull(`list ${path}`, async () => {
      const names: string[] = [];
      for await (const entry of Deno.readDir(path)) names.push(entry.name);
      return names;
    }) ?? [];
  }

  stat(path: string): Promise<EntryInfo | null> {
    return attemptOrNull(`stat ${path}`, async () => {
      const info = await fsPromises.lstat(path);
      return {
        kind: kindOf(info),
        sizeBytes: info.size,
        mode: info.mode & PERMISSION_BITS,
        uid: info.uid,
        gid: info.gid,
      };
    });
  }

  chown(path: string, uid: number, gid: number): Promise<void> {
    return attempt(`change the owner of ${path}`, () => fsPromises.lchown(path, uid, gid));
  }

  freeBytes(path: string): Promise<number> {
    return attempt(`read the free space of ${path}`, async () => {
      const info = await fsPromises.statfs(path);
      // Blocks are counted in fragments (statvfs(3)); the runtime names them frsize where it knows them.
      const blockBytes = "frsize" in info && typeof info.frsize === "number" ? info.frsize : info.bsize;
      return info.bavail * blockBytes;
    });
  }
}

/** The one instance that programs use. */
export const osFileSystem: FileSystem = new OsFileSystem();
