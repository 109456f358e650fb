/**
 * The machine that figures belong to, in words.
 *
 * @module
 */
import os from "node:os";
import fsPromises from "node:fs/promises";

/** Names of what `statfs` gives as a file system's type (`linux/magic.h`). */
const FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0xef53, "ext4"],
  [0x5846_5342, "xfs"],
  [0x9123_683e, "btrfs"],
  [0x2fc1_2fc1, "zfs"],
  [0xf2f5_2010, "f2fs"],
  [0x794c_7630, "overlayfs"],
  [0x0102_1994, "tmpfs"],
]);

const BYTES_PER_GIB = 1_024 ** 3;

/**
 * The name of a file system.
 *
 * @param type As `statfs` gives it
 */
function fileSystemName(type: number): string {
  return FILE_SYSTEMS.get(type) ?? `file system 0x${type.toString(16)}`;
}

/**
 * One line about the machine.
 *
 * @param directory Where the benchmarks put their files
 */
export async function describeMachine(directory: string): Promise<string> {
  const cpus = os.cpus();
  const { type } = await fsPromises.statfs(directory);
  return [
    `${cpus.length} x ${cpus[0]?.model ?? "unknown processor"}`,
    `${(os.totalmem() / BYTES_PER_GIB).toFixed(0)} GiB`,
    `Linux ${os.release()} ${Deno.build.arch}`,
    `deno ${Deno.version.deno}`,
    fileSystemName(type),
  ].join(", ");
}

/** Processes that want a processor, over the last minute, for each processor that there is. */
export function loadPerProcessor(): number {
  return (Deno.loadavg()[0] ?? 0) / Math.max(1, os.cpus().length);
}
