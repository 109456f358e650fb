/**
 * How much room an upgrade needs before it begins: a package system on a full disk is what an upgrade must never leave.
 *
 * @module
 */
import {
  UNPACKED_TO_ARCHIVE_MAX,
  UPGRADE_BOOT_RESERVE_BYTES,
  UPGRADE_ROOT_RESERVE_BYTES,
  UPGRADE_VAR_RESERVE_BYTES,
} from "../../../contracts/limits.ts";

/** Paths whose file systems are looked at; one that is not there or not mounted counts as the one above it. */
export const SPACE_PATHS = ["/", "/usr", "/var", "/var/cache/apt/archives", "/boot", "/boot/firmware"] as const;
/** One of {@link SPACE_PATHS}. */
export type SpacePath = (typeof SPACE_PATHS)[number];

/** Room on the file system of a path. */
export interface Space {
  readonly path: SpacePath;
  readonly freeBytes: number;
  /** Which file system it is; paths of the same one share their room. */
  readonly device: number;
}

/** What is kept free, in bytes; tests lower them. */
export interface SpaceReserves {
  readonly rootBytes: number;
  readonly varBytes: number;
  readonly bootBytes: number;
}

/** What the product keeps free. */
export const SPACE_RESERVES: SpaceReserves = {
  rootBytes: UPGRADE_ROOT_RESERVE_BYTES,
  varBytes: UPGRADE_VAR_RESERVE_BYTES,
  bootBytes: UPGRADE_BOOT_RESERVE_BYTES,
};

/**
 * What is missing for an upgrade, if anything is.
 *
 * @param spaces The file systems
 * @param archiveBytes Bytes of the archives that have still to be fetched; 0 while unknown
 * @param reserves What is kept free
 */
export function spaceProblem(
  spaces: readonly Space[],
  archiveBytes: number,
  reserves: SpaceReserves = SPACE_RESERVES,
): string | undefined {
  const { rootBytes, varBytes, bootBytes } = reserves;
  const root = spaces.find(({ path }) => path === "/");
  const wanted: Readonly<Record<SpacePath, number>> = {
    "/": rootBytes,
    "/usr": archiveBytes * UNPACKED_TO_ARCHIVE_MAX,
    "/var": varBytes,
    "/var/cache/apt/archives": archiveBytes,
    // A kernel goes there only where it is a file system of its own; else the room of the root is enough.
    "/boot": bootBytes,
    "/boot/firmware": bootBytes,
  };
  const needs = new Map<number, { readonly path: SpacePath; readonly freeBytes: number; neededBytes: number }>();
  for (const { path, freeBytes, device } of spaces) {
    const isBoot = path === "/boot" || path === "/boot/firmware";
    if (isBoot && device === root?.device) continue;
    const known = needs.get(device);
    // Two boot paths of one file system hold one kernel.
    if (known !== undefined && isBoot) continue;
    if (known === undefined) needs.set(device, { path, freeBytes, neededBytes: wanted[path] });
    else known.neededBytes += wanted[path];
  }
  for (const { path, freeBytes, neededBytes } of needs.values()) {
    if (freeBytes < neededBytes) return `${path}: ${freeBytes} bytes are free, the upgrade needs ${neededBytes}`;
  }
  return undefined;
}
