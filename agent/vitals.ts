/**
 * What a heartbeat says of the device's health (DESIGN 6, Heartbeat).
 *
 * @module
 */
import { statfs } from "node:fs/promises";
import type { Heartbeat } from "../contracts/device.ts";
import { BINARIES_LISTED_MAX } from "../contracts/limits.ts";
import type { ManagedPaths } from "../contracts/managed_paths.ts";

/** Vitals as a heartbeat has them. */
export type Vitals = Heartbeat["vitals"];

/** Where the vitals are looked for. */
export interface VitalsSource {
  /** Prefix of all managed paths. */
  readonly root: string;
  readonly paths: ManagedPaths;
  /** Device clock minus server clock, in ms; null while unknown. */
  readonly clockSkewMs: number | null;
  /** Starts of the agent under the present boot, where the service manager tells. */
  readonly restarts: number | undefined;
  readonly credentialsExpireAt: string | undefined;
}

/** Where updates and logs go, and where a full disk stops them. */
const MOUNT_POINTS = ["/usr", "/var", "/boot"];

/**
 * Bytes that an unprivileged process may still write on the file system of a path; null when it cannot be read.
 *
 * @param path Any existing path on it
 */
export async function freeBytes(path: string): Promise<number | null> {
  try {
    const { bavail, bsize } = await statfs(path);
    return bavail * bsize;
  } catch {
    return null;
  }
}

/**
 * Bytes of all managed binaries; null when their directory cannot be read.
 *
 * @param directory Where they are
 */
export async function binariesBytes(directory: string): Promise<number | null> {
  let bytes = 0;
  let listed = 0;
  try {
    for await (const { name, isFile } of Deno.readDir(directory)) {
      if (++listed > BINARIES_LISTED_MAX) break;
      if (isFile) bytes += (await Deno.lstat(`${directory}/${name}`)).size;
    }
    return bytes;
  } catch {
    // A binary that is replaced under the listing makes it incomplete; the next heartbeat has the sum.
    return null;
  }
}

/**
 * Gathers the vitals. What cannot be read is left out: a heartbeat is never lost for want of a number.
 *
 * @param source Where to look
 */
export async function gatherVitals(source: VitalsSource): Promise<Vitals> {
  const { clockSkewMs, credentialsExpireAt, paths, restarts, root } = source;
  const free: Record<string, number> = {};
  for (const mountPoint of MOUNT_POINTS) {
    const bytes = await freeBytes(`${root}${mountPoint}`);
    if (bytes !== null) free[mountPoint] = bytes;
  }
  const binaries = await binariesBytes(paths.binariesDirectory);
  return {
    freeBytes: free,
    ...(binaries === null ? {} : { binariesBytes: binaries }),
    ...(clockSkewMs === null ? {} : { clockSkewMs: Math.round(clockSkewMs) }),
    ...(restarts === undefined ? {} : { restarts }),
    ...(credentialsExpireAt === undefined ? {} : { credentialsExpireAt }),
    rssBytes: Deno.memoryUsage().rss,
  };
}
