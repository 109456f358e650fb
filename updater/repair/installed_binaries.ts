/**
 * The managed binaries on the disk, for root's eyes.
 *
 * @module
 */
import { BINARIES_SHOWN_MAX } from "../../contracts/limits.ts";
import { type ManagedPaths, versionOfBinary } from "../../contracts/managed_paths.ts";
import type { FileSystem } from "../../lib/durable/file_system.ts";

/** One managed binary. */
export interface InstalledBinary {
  readonly version: string;
  readonly path: string;
  readonly sizeBytes: number;
}

/**
 * The managed binaries, in order of name.
 *
 * @param fs The file system
 * @param paths The managed paths
 * @returns at most {@link BINARIES_SHOWN_MAX}, and how many more there are
 */
export async function installedBinaries(
  fs: FileSystem,
  paths: ManagedPaths,
): Promise<{ readonly binaries: InstalledBinary[]; readonly moreBinaries: number }> {
  const found: InstalledBinary[] = [];
  for (const name of (await fs.list(paths.binariesDirectory)).sort()) {
    const path = `${paths.binariesDirectory}/${name}`;
    const version = managedVersion(paths, path);
    const info = version === undefined ? null : await fs.stat(path);
    if (version !== undefined && info?.kind === "file") found.push({ version, path, sizeBytes: info.sizeBytes });
  }
  const binaries = found.slice(0, BINARIES_SHOWN_MAX);
  return { binaries, moreBinaries: found.length - binaries.length };
}

/** The version that a path names, or undefined when it is no managed binary, such as a temporary file. */
function managedVersion(paths: ManagedPaths, path: string): string | undefined {
  try {
    return versionOfBinary(paths, path);
  } catch {
    return undefined;
  }
}
