/**
 * What the simulated disk keeps: what programs see now, and what a power cut is sure to leave.
 *
 * @module
 */
import { tornContents } from "./torn_content.ts";

/** Size of a block: space is allocated in these. */
export const BLOCK_BYTES = 4_096;

/** What every entry has. Mode and owner are taken as durable at once; no program here relies on their order. */
export interface Ownership {
  mode: number;
  uid: number;
  gid: number;
}

/** A file. Contents are never changed in place, so that snapshots can share them. */
export interface FileNode extends Ownership {
  readonly kind: "file";
  content: Uint8Array;
  /** Content at the last sync; empty before the first. */
  durable: Uint8Array;
  /** What a crash may leave, while it is known. */
  afterCrash: readonly Uint8Array[] | null;
  /** Allocated blocks: always the first ones, since files are written from their start. */
  blocks: number;
}

/** A symbolic link. Its target cannot be synced by itself: it is durable with its name. */
export interface LinkNode extends Ownership {
  readonly kind: "link";
  readonly target: string;
}

/** A directory. */
export interface DirectoryNode extends Ownership {
  readonly kind: "directory";
  entries: Map<string, DiskNode>;
  /** Entries at the last sync of the directory. */
  durable: Map<string, DiskNode>;
  /** For each name that was changed since then, what it named one after the other; null where it was free. */
  unsynced: Map<string, (DiskNode | null)[]>;
}

/** A file, link or directory. */
export type DiskNode = FileNode | LinkNode | DirectoryNode;

/** An empty directory. */
export function newDirectory(mode: number, uid: number, gid: number): DirectoryNode {
  return { kind: "directory", mode, uid, gid, entries: new Map(), durable: new Map(), unsynced: new Map() };
}

/** Changes what a name stands for, without making it durable. */
export function setEntry(directory: DirectoryNode, name: string, node: DiskNode | null): void {
  if (node === null) directory.entries.delete(name);
  else directory.entries.set(name, node);
  const values = directory.unsynced.get(name);
  if (values === undefined) directory.unsynced.set(name, [node]);
  else values.push(node);
}

/** Makes the names of a directory durable. */
export function syncEntries(directory: DirectoryNode): void {
  directory.durable = new Map(directory.entries);
  directory.unsynced = new Map();
}

/** Makes the content of a file durable. */
export function setDurable(node: FileNode): void {
  node.durable = node.content;
  node.afterCrash = null;
}

/** What a crash may leave of a file: the durable content first, the newest last. */
export function contentsAfterCrash(file: FileNode): readonly Uint8Array[] {
  file.afterCrash ??= tornContents(file.durable, file.content);
  return file.afterCrash;
}

/**
 * What a crash may leave a name to stand for: the durable node first, the newest last. Each name operation since the
 * last sync may be on the disk or not, whatever happened to the others, so a name may show any of its values.
 */
export function nodesAfterCrash(directory: DirectoryNode, name: string): readonly (DiskNode | null)[] {
  const values = directory.unsynced.get(name) ?? [];
  const distinct = new Set([...values].reverse());
  distinct.delete(directory.durable.get(name) ?? null);
  return [directory.durable.get(name) ?? null, ...[...distinct].reverse()];
}

/** Every name that the directory has or may have after a crash, in a fixed order. */
export function namesAfterCrash(directory: DirectoryNode): string[] {
  return [...new Set([...directory.durable.keys(), ...directory.unsynced.keys()])].sort();
}

/** Copies a tree with everything that is not durable in it. */
export function cloneNode<T extends DiskNode>(node: T, copies: Map<DiskNode, DiskNode> = new Map()): T {
  const known = copies.get(node);
  // Two names of one node stay two names of one copy; the map holds a copy of the same kind.
  if (known !== undefined) return known as T;
  const copy: DiskNode = { ...node };
  copies.set(node, copy);
  if (copy.kind === "directory") {
    const cloned = (value: DiskNode | null) => value === null ? null : cloneNode(value, copies);
    const clonedMap = (map: Map<string, DiskNode>) =>
      new Map([...map].map(([name, value]) => [name, cloneNode(value, copies)]));
    copy.entries = clonedMap(copy.entries);
    copy.durable = clonedMap(copy.durable);
    copy.unsynced = new Map([...copy.unsynced].map(([name, values]) => [name, values.map(cloned)]));
  }
  return copy as T;
}

/** Calls for each node that can be reached now, once. */
export function visitNodes(node: DiskNode, visit: (node: DiskNode) => void, seen: Set<DiskNode> = new Set()): void {
  if (seen.has(node)) return;
  seen.add(node);
  visit(node);
  if (node.kind === "directory") { for (const child of node.entries.values()) visitNodes(child, visit, seen); }
}
