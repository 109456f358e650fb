/**
 * A file system that fails or stops at a chosen operation, in front of any other.
 *
 * Operations that change something are counted from 1; see {@link OperationName}. After a simulated crash nothing that
 * the program still does in its handlers reaches the disk, as nothing would.
 *
 * @module
 */
import type { EntryInfo, FileSystem, WritableFile } from "../../lib/durable/file_system.ts";
import { errnoError } from "../../lib/durable/file_system_error.ts";
import { type FileOperation, type OperationName, SimulatedCrash } from "./file_operation.ts";

/** What happens at the n-th operation. */
export type FileFault =
  /** It fails, and so does every later one when `times` is `always`. It changes nothing. */
  | { readonly at: number; readonly errno: "ENOSPC" | "EIO" | "EDQUOT" | "EROFS"; readonly times: "once" | "always" }
  /** The program stops before or after it. */
  | { readonly at: number; readonly crash: "before" | "after" };

/** A file system that fails or stops at a chosen operation. */
export class FaultyFileSystem implements FileSystem {
  readonly #inner: FileSystem;
  readonly #fault: FileFault | null;
  readonly #applies: (operation: FileOperation) => boolean;
  readonly #log: FileOperation[] = [];
  #injected = 0;
  #crashed = false;

  /**
   * @param inner Where operations go
   * @param fault What happens; null for nothing, to count the operations of a run
   * @param applies Which operations may fail; the others are not counted. Default all
   */
  constructor(inner: FileSystem, fault: FileFault | null, applies: (operation: FileOperation) => boolean = () => true) {
    this.#inner = inner;
    this.#fault = fault;
    this.#applies = applies;
  }

  /** Operations so far, the failed ones included; `index` counts those that may fail. */
  get operations(): readonly FileOperation[] {
    return this.#log;
  }

  /** How many operations were made to fail. */
  get injected(): number {
    return this.#injected;
  }

  /** Whether the program has been stopped; code that wraps errors may hide the {@link SimulatedCrash}. */
  get crashed(): boolean {
    return this.#crashed;
  }

  readFile(path: string, maxBytes: number): Promise<Uint8Array | null> {
    return this.#alive(() => this.#inner.readFile(path, maxBytes));
  }

  readChunks(path: string): Promise<AsyncIterable<Uint8Array> | null> {
    return this.#alive(() => this.#inner.readChunks(path));
  }

  create(path: string, mode: number): Promise<WritableFile> {
    return this.#change("create", path, async () => this.#faultyFile(await this.#inner.create(path, mode), path));
  }

  openExisting(path: string): Promise<WritableFile | null> {
    return this.#alive(async () => {
      const file = await this.#inner.openExisting(path);
      return file === null ? null : this.#faultyFile(file, path);
    });
  }

  rename(from: string, to: string): Promise<void> {
    return this.#change("rename", to, () => this.#inner.rename(from, to));
  }

  symlink(target: string, path: string): Promise<void> {
    return this.#change("symlink", path, () => this.#inner.symlink(target, path));
  }

  readLink(path: string): Promise<string | null> {
    return this.#alive(() => this.#inner.readLink(path));
  }

  remove(path: string): Promise<boolean> {
    return this.#change("remove", path, () => this.#inner.remove(path));
  }

  syncDirectory(path: string): Promise<void> {
    return this.#change("syncDirectory", path, () => this.#inner.syncDirectory(path));
  }

  makeDirectory(path: string, mode: number): Promise<void> {
    return this.#change("makeDirectory", path, () => this.#inner.makeDirectory(path, mode));
  }

  list(path: string): Promise<string[]> {
    return this.#alive(() => this.#inner.list(path));
  }

  stat(path: string): Promise<EntryInfo | null> {
    return this.#alive(() => this.#inner.stat(path));
  }

  chown(path: string, uid: number, gid: number): Promise<void> {
    return this.#change("chown", path, () => this.#inner.chown(path, uid, gid));
  }

  freeBytes(path: string): Promise<number> {
    return this.#alive(() => this.#inner.freeBytes(path));
  }

  #faultyFile(file: WritableFile, path: string): WritableFile {
    return {
      write: (bytes) => this.#change("write", path, () => file.write(bytes)),
      truncate: (sizeBytes) => this.#change("truncate", path, () => file.truncate(sizeBytes)),
      sync: () => this.#change("sync", path, () => file.sync()),
      // Never stopped: the system closes the files of a dead process, and an open one would leak into the next test.
      close: () => file.close(),
    };
  }

  async #alive<T>(call: () => Promise<T>): Promise<T> {
    const last = this.#log.at(-1);
    if (this.#crashed && last !== undefined) throw new SimulatedCrash("after", last);
    return await call();
  }

  #change<T>(name: OperationName, path: string, call: () => Promise<T>): Promise<T> {
    return this.#alive(async () => {
      const counted = this.#log.filter(this.#applies).length;
      const operation: FileOperation = { index: counted + 1, name, path };
      this.#log.push(operation);
      const fault = this.#fault;
      if (fault === null || !this.#applies(operation)) return await call();
      if ("errno" in fault) {
        const hit = fault.times === "once" ? operation.index === fault.at : operation.index >= fault.at;
        if (!hit) return await call();
        this.#injected++;
        throw errnoError(fault.errno, `${name} ${path} (injected)`);
      }
      if (operation.index !== fault.at) return await call();
      if (fault.crash === "before") this.#stop("before", operation);
      await call();
      this.#stop("after", operation);
    });
  }

  #stop(when: "before" | "after", operation: FileOperation): never {
    this.#crashed = true;
    throw new SimulatedCrash(when, operation);
  }
}
