/**
 * What `apt-get -s full-upgrade` says that it would do. The simulation runs in the C locale, so that its words are fixed.
 *
 * @module
 */

/** One package that changes, in the order in which apt handles it. */
export interface PlannedPackage {
  /** Name without architecture. */
  readonly name: string;
  /** Installed version; absent for a package that is new. */
  readonly from?: string;
  /** Version that comes; absent for a removal. */
  readonly to?: string;
}

/** What an upgrade would do. */
export interface UpgradePlan {
  readonly upgraded: readonly PlannedPackage[];
  readonly installed: readonly PlannedPackage[];
  readonly removed: readonly PlannedPackage[];
  /** Names of packages that stay although there is something newer: held, phased, or not installable. */
  readonly kept: readonly string[];
  /** How many packages apt says are not upgraded; it counts those that it does not name. */
  readonly keptCount: number;
}

const INSTALL = /^Inst (\S+)(?: \[([^\]]*)\])? \((\S+)/;
const REMOVE = /^(?:Remv|Purg) (\S+)(?: \[([^\]]*)\])?/;
const SUMMARY =
  /^\d+ upgraded, \d+ newly installed, (?:\d+ reinstalled, )?(?:\d+ downgraded, )?\d+ to remove and (\d+) not upgraded\.$/;
/** Headings of the lists of packages that stay: apt wraps the names below into indented lines. */
const KEPT =
  /^(?:The following packages have been kept back|The following upgrades have been deferred due to phasing):$/;

/**
 * A package's name without its architecture: dpkg writes `libc6:armhf` for a foreign one.
 *
 * @param written What a tool printed
 */
export function packageName(written: string): string {
  return written.replace(/:[a-z0-9-]+$/, "");
}

function present<K extends string>(key: K, value: string | undefined): { readonly [P in K]?: string } {
  return (value === undefined || value === "" ? {} : { [key]: value }) as { readonly [P in K]?: string };
}

/**
 * Reads a simulation.
 *
 * @param output What `apt-get -s full-upgrade` printed
 * @returns null when the line that sums it up is missing: the output is not whole, or not of apt
 */
export function parseSimulation(output: string): UpgradePlan | null {
  const upgraded: PlannedPackage[] = [];
  const installed: PlannedPackage[] = [];
  const removed: PlannedPackage[] = [];
  const kept: string[] = [];
  let keptCount: number | undefined;
  let listsKept = false;
  for (const line of output.split("\n")) {
    listsKept = KEPT.test(line) || listsKept && line.startsWith("  ");
    if (listsKept && line.startsWith("  ")) kept.push(...line.trim().split(/\s+/).map(packageName));
    const [, incoming, from, to] = INSTALL.exec(line) ?? [];
    if (incoming !== undefined) {
      const one = { name: packageName(incoming), ...present("from", from), ...present("to", to) };
      (from === undefined ? installed : upgraded).push(one);
      continue;
    }
    const [, outgoing, gone] = REMOVE.exec(line) ?? [];
    if (outgoing !== undefined) removed.push({ name: packageName(outgoing), ...present("from", gone) });
    const count = SUMMARY.exec(line)?.[1];
    if (count !== undefined) keptCount = Number(count);
  }
  return keptCount === undefined ? null : { upgraded, installed, removed, kept, keptCount };
}

/**
 * Whether a plan changes anything.
 *
 * @param plan The plan
 */
export function changesAnything({ upgraded, installed, removed }: UpgradePlan): boolean {
  return upgraded.length + installed.length + removed.length > 0;
}

/**
 * Bytes of the archives that an upgrade would still have to fetch.
 *
 * @param output What `apt-get --print-uris full-upgrade` printed: `'URI' NAME SIZE HASH` lines among others
 */
export function parseDownloadBytes(output: string): number {
  let bytes = 0;
  for (const line of output.split("\n")) {
    const size = /^'[^']+' \S+ ([0-9]{1,15})(?: |$)/.exec(line)?.[1];
    if (size !== undefined) bytes += Number(size);
  }
  return bytes;
}
