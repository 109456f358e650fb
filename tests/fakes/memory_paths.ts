/**
 * Path resolution on the simulated disk.
 *
 * @module
 */
import { errnoError } from "../../lib/durable/file_system_error.ts";
import type { DirectoryNode, DiskNode } from "./memory_disk.ts";

/** Where a path leads. */
export interface Resolved {
  /** The directory that has or would have the entry; the root for the root itself. */
  readonly directory: DirectoryNode;
  /** The entry's name; empty for the root itself. */
  readonly name: string;
  /** What is there. */
  readonly node: DiskNode | null;
}

/** As Linux has it. */
const LINKS_MAX = 40;
const NAME_MAX_BYTES = 255;

function partsOf(path: string): string[] {
  return path.split("/").filter((part) => part !== "" && part !== ".");
}

/**
 * Walks a path.
 *
 * @param root The root directory
 * @param path An absolute path
 * @param follow Whether a link at the end is followed; links on the way always are
 * @param action What is being done, for the error: "open /x"
 * @throws `E_FS_ENOENT` when a directory on the way is missing, `E_FS_ENOTDIR`, `E_FS_ELOOP`, `E_FS_ENAMETOOLONG`
 */
export function resolvePath(root: DirectoryNode, path: string, follow: boolean, action: string): Resolved {
  if (!path.startsWith("/")) throw errnoError("EINVAL", action);
  const rest = partsOf(path);
  const trail: DirectoryNode[] = [root];
  let links = 0;
  let found: Resolved = { directory: root, name: "", node: root };
  for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
    const directory = trail.at(-1) ?? root;
    if (name === "..") {
      if (trail.length > 1) trail.pop();
      found = { directory: trail.at(-2) ?? root, name: "", node: trail.at(-1) ?? root };
      continue;
    }
    if (new TextEncoder().encode(name).byteLength > NAME_MAX_BYTES) throw errnoError("ENAMETOOLONG", action);
    const node = directory.entries.get(name) ?? null;
    const last = rest.length === 0;
    if (node?.kind === "link" && (follow || !last)) {
      if (++links > LINKS_MAX) throw errnoError("ELOOP", action);
      if (node.target.startsWith("/")) trail.length = 1;
      rest.unshift(...partsOf(node.target));
      found = { directory: trail.at(-2) ?? root, name: "", node: trail.at(-1) ?? root };
      continue;
    }
    if (last) return { directory, name, node };
    if (node === null) throw errnoError("ENOENT", action);
    if (node.kind !== "directory") throw errnoError("ENOTDIR", action);
    trail.push(node);
  }
  return found;
}
