/**
 * Whether a control group still has processes. The service manager forgets a unit's processes that survive its SIGKILL;
 * the kernel does not.
 *
 * @module
 */

/** Where the hierarchies are mounted: the unified one, and systemd's own beside the legacy ones. */
const UNIFIED = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"];
const LEGACY = "/sys/fs/cgroup/systemd";

/**
 * Reads `cgroup.events` of the unified hierarchy.
 *
 * @param text The file's text
 */
export function isPopulated(text: string): boolean {
  return /^populated 1$/m.test(text);
}

async function read(path: string): Promise<string | null> {
  try {
    return await Deno.readTextFile(path);
  } catch {
    return null;
  }
}

/**
 * Whether a process is left in a control group or below it.
 *
 * @param controlGroup Its path below the root of the hierarchy
 */
export async function hasProcesses(controlGroup: string): Promise<boolean> {
  for (const root of UNIFIED) {
    const events = await read(`${root}${controlGroup}/cgroup.events`);
    if (events !== null) return isPopulated(events);
  }
  return (await read(`${LEGACY}${controlGroup}/cgroup.procs`) ?? "").trim() !== "";
}
