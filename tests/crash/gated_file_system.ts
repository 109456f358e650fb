/**
 * A file system that passes a gate before and after every operation. A test counts the points, and at one of them lets
 * the gate never open again: to the program behind it, that is SIGKILL. An exception would not be: programs catch them.
 *
 * @module
 */
import type { FileSystem, WritableFile } from "../../lib/durable/file_system.ts";

/** Passed before and after each operation; what it throws is the operation's failure. */
export type Gate = (operation: string, side: "before" | "after") => Promise<void>;

async function through<T>(gate: Gate, operation: string, run: () => Promise<T>): Promise<T> {
  await gate(operation, "before");
  const result = await run();
  await gate(operation, "after");
  return result;
}

function gatedFile(file: WritableFile, gate: Gate): WritableFile {
  return {
    write: (bytes) => through(gate, "write", () => file.write(bytes)),
    truncate: (sizeBytes) => through(gate, "truncate", () => file.truncate(sizeBytes)),
    sync: () => through(gate, "sync", () => file.sync()),
    close: () => file.close(),
  };
}

/**
 * Puts a gate in front of a file system. Only operations that change something pass it: a crash before or after a read
 * is a crash at the neighbouring change.
 *
 * @param fs The file system
 * @param gate The gate
 */
export function gatedFileSystem(fs: FileSystem, gate: Gate): FileSystem {
  return {
    readFile: (path, maxBytes) => fs.readFile(path, maxBytes),
    readChunks: (path) => fs.readChunks(path),
    readLink: (path) => fs.readLink(path),
    list: (path) => fs.list(path),
    stat: (path) => fs.stat(path),
    freeBytes: (path) => fs.freeBytes(path),
    makeDirectory: (path, mode) => fs.makeDirectory(path, mode),
    chown: (path, uid, gid) => fs.chown(path, uid, gid),
    create: (path, mode) => through(gate, "create", async () => gatedFile(await fs.create(path, mode), gate)),
    openExisting: async (path) => {
      const file = await fs.openExisting(path);
      return file === null ? null : gatedFile(file, gate);
    },
    rename: (from, to) => through(gate, "rename", () => fs.rename(from, to)),
    symlink: (target, path) => through(gate, "symlink", () => fs.symlink(target, path)),
    remove: (path) => through(gate, "remove", () => fs.remove(path)),
    syncDirectory: (path) => through(gate, "syncDirectory", () => fs.syncDirectory(path)),
  };
}
