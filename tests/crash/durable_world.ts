/**
 * A program that changes one path durably, and the question what a crash leaves of it.
 *
 * @module
 */
import { isFleetError } from "../../contracts/errors.ts";
import type { FileSystem } from "../../lib/durable/file_system.ts";
import { replaceFile } from "../../lib/durable/replace_file.ts";
import { selectLink } from "../../lib/durable/replace_link.ts";
import { removeStaleTemps } from "../../lib/durable/temp_name.ts";
import { MemoryFileSystem } from "../fakes/memory_file_system.ts";

export const DIRECTORY = "/var/lib/x";
const FILE = `${DIRECTORY}/file`;
const LINK = `${DIRECTORY}/link`;

/** One durable change. */
export interface DurableChange {
  readonly name: string;
  /** What the path shows before; null for nothing. */
  readonly before: string | null;
  readonly after: string;
  run(fs: FileSystem): Promise<unknown>;
  /** What the path shows, or null. */
  look(fs: FileSystem): Promise<string | null>;
}

async function lookAtFile(fs: FileSystem): Promise<string | null> {
  const content = await fs.readFile(FILE, 1_000_000);
  return content === null ? null : new TextDecoder().decode(content);
}

async function lookAtLink(fs: FileSystem): Promise<string | null> {
  try {
    return await fs.readLink(LINK);
  } catch (error) {
    if (isFleetError(error, "E_FS_EINVAL")) return "no link";
    throw error;
  }
}

function fileChange(name: string, before: string | null, after: string): DurableChange {
  const run = (fs: FileSystem) => replaceFile(fs, FILE, new TextEncoder().encode(after), { mode: 0o600 });
  return { name, before, after, run, look: lookAtFile };
}

function linkChange(name: string, before: string | null, after: string): DurableChange {
  return { name, before, after, run: (fs) => selectLink(fs, LINK, after), look: lookAtLink };
}

/** Every change that the tests try. */
export const CHANGES: readonly DurableChange[] = [
  fileChange("replaceFile() of a file", "old content, somewhat longer", "new content"),
  fileChange("replaceFile() of a file by a longer one", "old", "n".repeat(10_000)),
  fileChange("replaceFile() of nothing", null, "new content"),
  linkChange("selectLink() of a link", "fleet-agent-v1", "fleet-agent-v2"),
  linkChange("selectLink() of nothing", null, "fleet-agent-v2"),
];

/** A disk on which the old state of a change is durable. */
export async function diskBefore(change: DurableChange): Promise<MemoryFileSystem> {
  const fs = new MemoryFileSystem();
  await fs.makeDirectory(DIRECTORY, 0o755);
  if (change.before !== null) {
    if (change.look === lookAtLink) await fs.symlink(change.before, LINK);
    else {
      const file = await fs.create(FILE, 0o600);
      await file.write(new TextEncoder().encode(change.before));
      await file.close();
    }
  }
  fs.syncAll();
  return fs;
}

/** What breaks the promise of a change on any disk that a power cut now may leave. */
export async function brokenStates(
  fs: MemoryFileSystem,
  change: DurableChange,
  allowed: readonly (string | null)[],
): Promise<{ states: number; broken: (string | null)[] }> {
  const broken: (string | null)[] = [];
  const states = fs.crashStates();
  for (const disk of states) {
    const seen = await change.look(disk);
    if (!allowed.includes(seen)) broken.push(seen);
    // A program that starts again must get there from any state, and leave no temporary file.
    await removeStaleTemps(disk, DIRECTORY);
    await change.run(disk);
    const [left] = disk.crashStates();
    if (left === undefined || await change.look(left) !== change.after || (await left.list(DIRECTORY)).length !== 1) {
      broken.push("not repaired by another run");
    }
  }
  return { states: states.count, broken };
}
