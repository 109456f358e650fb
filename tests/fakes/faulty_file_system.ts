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

/** An operation fails and changes nothing; so does every later one when `times` is `always`. */
export interface ErrnoFault {
  readonly at: number;
  readonly errno: "ENOSPC" | "EIO" | "EDQUOT" | "EROFS" | "EINVAL";
  readonly times: "once" | "always";
}

/** What happens at the n-th operation. */
export type FileFault =
  | ErrnoFault
  /** A sync reports success and does nothing: a program that has forgotten the call. */
  | { readonly at: number; readonly skip: true }
  /** The program stops before or after it. */
  | { readonly at: number; readonly crash: "before" | "after" };

/** A file system that fails or stops at a chosen operation. */
export class FaultyFileSystem implements FileSystem {
  readonly #inner: FileSystem;
  readonly #fault: FileFault | null;
  readonly #applies: (operation: FileOperation) => boolean;
  readonly #log: FileOperation[] = [];
  #counted = 0;
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

  /** How many operations were made to fail or were left out. */
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
    return this.#change("syncDirectory", path, () => this.#inner.syncDirectory(path), () => {});
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
      sync: () => this.#change("sync", path, () => file.sync(), () => {}),
      // Never stopped: the system closes the files of a dead process, and an open one would leak into the next test.
      close: () => file.close(),
    };
  }

  async #alive<T>(call: () => Promise<T>): Promise<T> {
    const last = this.#log.at(-1);
    if (this.#crashed && last !== undefined) throw new SimulatedCrash("after", last);
    return await call();
  }

  #change<T>(name: OperationName, path: string, call: () => Promise<T>, skip?: () => T): Promise<T> {
    return this.#alive(async () => {
      const fault = this.#fault;
      const operation: FileOperation = { index: this.#counted + 1, name, path };
      this.#log.push(operation);
      if (!this.#applies(operation)) return await call();
      this.#counted++;
      const hit = operation.index === fault?.at;
      if (fault === null) return await call();
      if ("errno" in fault && (hit || fault.times === "always" && operation.index > fault.at)) {
        this.#injected++;
        throw errnoError(fault.errno, `${name} ${path} (injected)`);
      }
      if (!hit) return await call();
      if ("skip" in fault) {
        if (skip === undefined) throw new Error(`${name} cannot be left out`);
        this.#injected++;
        return skip();
      }
      if ("crash" in fault && fault.crash === "before") this.#stop("before", operation);
      const result = await call();
      if ("crash" in fault) this.#stop("after", operation);
      return result;
    });
  }

  #stop(when: "before" | "after", operation: FileOperation): never {
    this.#crashed = true;
    throw new SimulatedCrash(when, operation);
  }
}
