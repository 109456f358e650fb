/**
 * The simulated disk: a {@link FileSystem} that keeps over a power cut only what POSIX promises.
 *
 * The model:
 *
 * - A file's data and size are durable after `sync` of the file. What was written since then may be there in whole, in
 *   part, in any order, as zeroes, or not at all.
 * - A name is durable after `syncDirectory` of its directory. Each change of a name since then (created, renamed,
 *   removed, linked) may be there or not, each by itself: a name shows its old or any newer state, never a mixture. So
 *   a rename may reach the disk before the data of the file, and may leave both names or neither.
 * - A directory whose own name is not durable may be gone with everything below it.
 *
 * Space is counted in blocks of 4 KiB: writing over allocated blocks needs none, truncating and removing free them.
 * Names need no space.
 *
 * @module
 */
import { DIGEST_CHUNK_BYTES } from "../../contracts/limits.ts";
import type { EntryInfo, FileSystem, WritableFile } from "../../lib/durable/file_system.ts";
import { errnoError, tooLargeError } from "../../lib/durable/file_system_error.ts";
import { type CrashStateOptions, crashTrees } from "./crash_states.ts";
import type { FileOperation, OperationName } from "./file_operation.ts";
import {
  BLOCK_BYTES,
  cloneNode,
  type DirectoryNode,
  type FileNode,
  newDirectory,
  setDurable,
  setEntry,
  syncEntries,
  visitNodes,
} from "./memory_disk.ts";
import { MemoryFile } from "./memory_file.ts";
import { type Resolved, resolvePath } from "./memory_paths.ts";

/** Called before and after each operation that changes something; what it throws, the operation throws. */
export type OperationListener = (operation: FileOperation, when: "before" | "after") => void;

/** Options of a {@link MemoryFileSystem}. */
export interface MemoryFileSystemOptions {
  /** Blocks of 4 KiB that files may take. Default no limit. */
  readonly capacityBlocks?: number;
  /** Owner of what is created. Default 0. */
  readonly uid?: number;
  readonly gid?: number;
}

/** Disks that a power cut may leave. */
export interface CrashStates extends Iterable<MemoryFileSystem> {
  /** How many there are to iterate over. */
  readonly count: number;
  /** Whether these are all, or a sample. */
  readonly exhaustive: boolean;
}

const UNLIMITED_BYTES = 2 ** 50;

/** The simulated disk. */
export class MemoryFileSystem implements FileSystem {
  #root: DirectoryNode;
  #capacityBlocks: number | undefined;
  readonly #uid: number;
  readonly #gid: number;
  readonly #open = new Map<MemoryFile, FileNode>();
  readonly #listeners = new Set<OperationListener>();
  #operations = 0;

  constructor(options: MemoryFileSystemOptions = {}) {
    this.#capacityBlocks = options.capacityBlocks;
    this.#uid = options.uid ?? 0;
    this.#gid = options.gid ?? 0;
    this.#root = newDirectory(0o755, this.#uid, this.#gid);
  }

  #withRoot(root: DirectoryNode): MemoryFileSystem {
    const copy = new MemoryFileSystem({ uid: this.#uid, gid: this.#gid });
    copy.#capacityBlocks = this.#capacityBlocks;
    copy.#root = root;
    return copy;
  }

  // ---- The test's side ----

  /** Operations so far that changed something or tried to. */
  get operations(): number {
    return this.#operations;
  }

  /** Calls a listener around each operation. @returns a function that ends it */
  onOperation(listener: OperationListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** A copy that shares nothing: what is not durable is not durable in the copy either. No file is open in it. */
  clone(): MemoryFileSystem {
    return this.#withRoot(cloneNode(this.#root));
  }

  /** Every state in which a power cut now may leave the disk; this one may change while they are iterated over. */
  crashStates(options: CrashStateOptions = {}): CrashStates {
    const trees = crashTrees(cloneNode(this.#root), options);
    const states = (): Iterator<MemoryFileSystem> => {
      const iterator = trees[Symbol.iterator]();
      return {
        next: () => {
          const { done, value } = iterator.next();
          return done === true ? { done, value: undefined } : { done: false, value: this.#withRoot(value) };
        },
      };
    };
    return { count: trees.count, exhaustive: trees.exhaustive, [Symbol.iterator]: states };
  }

  /** Makes everything durable, as a clean shutdown does. */
  syncAll(): void {
    visitNodes(this.#root, (node) => {
      if (node.kind === "directory") syncEntries(node);
      else if (node.kind === "file") setDurable(node);
    });
  }

  /** Blocks that files take, removed ones that are still open included. */
  get usedBlocks(): number {
    const seen = new Set<unknown>();
    let blocks = 0;
    const count = (node: FileNode) => {
      if (!seen.has(node)) blocks += node.blocks;
      seen.add(node);
    };
    visitNodes(this.#root, (node) => node.kind === "file" && count(node));
    for (const node of this.#open.values()) count(node);
    return blocks;
  }

  /** Leaves so many blocks free; `undefined` takes the limit away. Whoever filled the disk takes what is freed before. */
  setFreeBlocks(freeBlocks: number | undefined): void {
    this.#capacityBlocks = freeBlocks === undefined ? undefined : this.usedBlocks + freeBlocks;
  }

  // ---- The port ----

  async readFile(path: string, maxBytes: number): Promise<Uint8Array | null> {
    const file = this.#file(path, `read ${path}`);
    if (file === null) return null;
    if (file.content.byteLength > maxBytes) throw tooLargeError(path, maxBytes);
    return file.content.slice();
  }

  async readChunks(path: string): Promise<AsyncIterable<Uint8Array> | null> {
    const file = this.#file(path, `read ${path}`);
    return file === null ? null : chunksOf(file);
  }

  create(path: string, mode: number): Promise<WritableFile> {
    return this.#change("create", path, () => {
      const { directory, name, node } = this.#at(path, `create ${path}`);
      if (node !== null) throw errnoError("EEXIST", `create ${path}`);
      const empty = new Uint8Array();
      const owner = { mode, uid: this.#uid, gid: this.#gid };
      const file: FileNode = { kind: "file", content: empty, durable: empty, afterCrash: null, blocks: 0, ...owner };
      setEntry(directory, name, file);
      return this.#openFile(file, path);
    });
  }

  async openExisting(path: string): Promise<WritableFile | null> {
    const action = `open ${path}`;
    const node = this.#nodeAt(path, action);
    if (node === null) return null;
    if (node.kind === "link") throw errnoError("ELOOP", action);
    if (node.kind === "directory") throw errnoError("EISDIR", action);
    return this.#openFile(node, path);
  }

  rename(from: string, to: string): Promise<void> {
    return this.#change("rename", to, () => {
      const action = `rename ${from} to ${to}`;
      const source = this.#at(from, action);
      const target = this.#at(to, action);
      if (source.node === null) throw errnoError("ENOENT", action);
      // Two names of one file: rename(2) does nothing, and both stay.
      if (source.node === target.node) return;
      if (target.node?.kind === "directory") {
        if (source.node.kind !== "directory") throw errnoError("EISDIR", action);
        if (target.node.entries.size > 0) throw errnoError("ENOTEMPTY", action);
      } else if (source.node.kind === "directory") {
        if (target.node !== null) throw errnoError("ENOTDIR", action);
        if (`${to}/`.startsWith(`${from}/`)) throw errnoError("EINVAL", action);
      }
      setEntry(target.directory, target.name, source.node);
      setEntry(source.directory, source.name, null);
    });
  }

  symlink(target: string, path: string): Promise<void> {
    return this.#change("symlink", path, () => {
      const { directory, name, node } = this.#at(path, `link ${path}`);
      if (node !== null) throw errnoError("EEXIST", `link ${path} to ${target}`);
      setEntry(directory, name, { kind: "link", target, mode: 0o777, uid: this.#uid, gid: this.#gid });
    });
  }

  async readLink(path: string): Promise<string | null> {
    const node = this.#nodeAt(path, `read link ${path}`);
    if (node !== null && node.kind !== "link") throw errnoError("EINVAL", `read link ${path}`);
    return node?.target ?? null;
  }

  remove(path: string): Promise<boolean> {
    return this.#change("remove", path, () => {
      const found = this.#lookUp(path, false, `remove ${path}`);
      if (found === null || found.node === null) return false;
      if (found.node.kind === "directory") throw errnoError("EISDIR", `remove ${path}`);
      setEntry(found.directory, found.name, null);
      return true;
    });
  }

  syncDirectory(path: string): Promise<void> {
    return this.#change("syncDirectory", path, () => {
      const { node } = resolvePath(this.#root, path, true, `sync directory ${path}`);
      if (node === null) throw errnoError("ENOENT", `sync directory ${path}`);
      if (node.kind !== "directory") throw errnoError("ENOTDIR", `sync directory ${path}`);
      syncEntries(node);
    });
  }

  makeDirectory(path: string, mode: number): Promise<void> {
    return this.#change("makeDirectory", path, () => {
      let at = "";
      for (const part of path.split("/").filter((name) => name !== "")) {
        at += `/${part}`;
        const { directory, name, node } = resolvePath(this.#root, at, true, `make directory ${path}`);
        if (node === null) setEntry(directory, name, newDirectory(mode, this.#uid, this.#gid));
        else if (node.kind !== "directory") {
          throw errnoError(at === path ? "EEXIST" : "ENOTDIR", `make directory ${path}`);
        }
      }
    });
  }

  async list(path: string): Promise<string[]> {
    const node = this.#lookUp(path, true, `list ${path}`)?.node ?? null;
    if (node !== null && node.kind !== "directory") throw errnoError("ENOTDIR", `list ${path}`);
    return node === null ? [] : [...node.entries.keys()];
  }

  async stat(path: string): Promise<EntryInfo | null> {
    const node = this.#nodeAt(path, `stat ${path}`);
    if (node === null) return null;
    const sizeBytes = node.kind === "file"
      ? node.content.byteLength
      : node.kind === "link"
      ? new TextEncoder().encode(node.target).byteLength
      : BLOCK_BYTES;
    return { kind: node.kind, sizeBytes, mode: node.mode, uid: node.uid, gid: node.gid };
  }

  chown(path: string, uid: number, gid: number): Promise<void> {
    return this.#change("chown", path, () => {
      const { node } = this.#at(path, `change the owner of ${path}`);
      if (node === null) throw errnoError("ENOENT", `change the owner of ${path}`);
      node.uid = uid;
      node.gid = gid;
    });
  }

  async freeBytes(path: string): Promise<number> {
    const { node } = resolvePath(this.#root, path, true, `read the free space of ${path}`);
    if (node === null) throw errnoError("ENOENT", `read the free space of ${path}`);
    return this.#capacityBlocks === undefined ? UNLIMITED_BYTES : this.#freeBlocks() * BLOCK_BYTES;
  }

  // ---- Inside ----

  #freeBlocks(): number {
    return this.#capacityBlocks === undefined ? Infinity : Math.max(0, this.#capacityBlocks - this.usedBlocks);
  }

  async #change<T>(name: OperationName, path: string, body: () => T): Promise<T> {
    const operation: FileOperation = { index: ++this.#operations, name, path };
    for (const listener of this.#listeners) listener(operation, "before");
    const result = body();
    for (const listener of this.#listeners) listener(operation, "after");
    return result;
  }

  /** The entry at a path; a link at its end is not followed. */
  #at(path: string, action: string): Resolved {
    return resolvePath(this.#root, path, false, action);
  }

  /** Like {@link #at}, with null when a directory on the way is missing. */
  #lookUp(path: string, follow: boolean, action: string): Resolved | null {
    try {
      return resolvePath(this.#root, path, follow, action);
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "E_FS_ENOENT") return null;
      throw error;
    }
  }

  #nodeAt(path: string, action: string): Resolved["node"] {
    return this.#lookUp(path, false, action)?.node ?? null;
  }

  #file(path: string, action: string): FileNode | null {
    const node = this.#lookUp(path, true, action)?.node ?? null;
    if (node?.kind === "directory") throw errnoError("EISDIR", action);
    return node?.kind === "file" ? node : null;
  }

  #openFile(node: FileNode, path: string): MemoryFile {
    const file = new MemoryFile(node, path, {
      change: (name, body) => this.#change(name, path, body),
      freeBlocks: () => this.#freeBlocks(),
      closed: () => this.#open.delete(file),
    });
    this.#open.set(file, node);
    return file;
  }
}

async function* chunksOf(file: FileNode): AsyncIterable<Uint8Array> {
  for (let at = 0; at < file.content.byteLength; at += DIGEST_CHUNK_BYTES) {
    yield file.content.slice(at, at + DIGEST_CHUNK_BYTES);
  }
}
