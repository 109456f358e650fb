/**
 * What this process holds in memory, as Linux counts it.
 *
 * @module
 */

/** Resident memory in MiB: now, and the most since the start or the last {@link forgetPeak}. */
export interface ProcessMemory {
  readonly residentMib: number;
  readonly peakMib: number;
}

const KIB_PER_MIB = 1_024;

/**
 * Reads `/proc/<pid>/status`.
 *
 * @param status Its text
 * @throws {Error} when a line is missing
 */
export function parseProcessMemory(status: string): ProcessMemory {
  return { residentMib: lineMib(status, "VmRSS"), peakMib: lineMib(status, "VmHWM") };
}

function lineMib(status: string, name: string): number {
  const kib = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)?.[1];
  if (kib === undefined) throw new Error(`Cannot read the memory of the process: there is no ${name}`);
  return Number(kib) / KIB_PER_MIB;
}

/** Memory of this process. */
export function readMemory(): ProcessMemory {
  return parseProcessMemory(Deno.readTextFileSync("/proc/self/status"));
}

/** Lets the peak begin anew, at what is resident now (`proc(5)`, clear_refs). */
export function forgetPeak(): void {
  Deno.writeTextFileSync("/proc/self/clear_refs", "5", { create: false });
}
