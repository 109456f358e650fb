/**
 * What `/proc` says of processes. Reading `/proc` needs a program that holds every permission of the runtime.
 *
 * @module
 */

/** One process. */
export interface ProcessInfo {
  readonly pid: number;
  readonly groupId: number;
  /** Start in clock ticks since boot: with the boot id it tells a process from a later one with the same pid. */
  readonly startTicks: number;
  /** Whether it has ended and only waits for its parent to look. */
  readonly ended: boolean;
}

const PID_REGEXP = /^[1-9][0-9]{0,9}$/;

/** Fields after the command's name, which stands in brackets and may hold anything, brackets included. */
function fieldsOf(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

/**
 * Decodes `/proc/PID/stat` (proc(5)).
 *
 * @param pid The process
 * @param stat The file's text
 * @returns null for a text that is none
 */
export function decodeStat(pid: number, stat: string): ProcessInfo | null {
  const fields = fieldsOf(stat);
  const [state] = fields;
  const groupId = Number(fields[2]);
  const startTicks = Number(fields[19]);
  if (state === undefined || !Number.isSafeInteger(groupId) || !Number.isSafeInteger(startTicks)) return null;
  return { pid, groupId, startTicks, ended: state === "Z" || state === "X" };
}

/**
 * A process, or null when there is none.
 *
 * @param pid Its id
 */
export function processInfo(pid: number): ProcessInfo | null {
  try {
    return decodeStat(pid, Deno.readTextFileSync(`/proc/${pid}/stat`));
  } catch {
    return null;
  }
}

/** The ids of all processes. */
function processIds(): number[] {
  return [...Deno.readDirSync("/proc")].filter(({ name }) => PID_REGEXP.test(name)).map(({ name }) => Number(name));
}

/**
 * The living processes of a group.
 *
 * @param groupId The group
 */
export function groupMembers(groupId: number): ProcessInfo[] {
  return processIds().map(processInfo).filter((info): info is ProcessInfo =>
    info !== null && info.groupId === groupId && !info.ended
  );
}

/**
 * The living processes that were started with a variable in their environment, children that inherited it included:
 * the nearest thing to a control group that needs no rights.
 *
 * @param name The variable
 * @param value Its value
 */
export function markedProcesses(name: string, value: string): ProcessInfo[] {
  const wanted = `\0${name}=${value}\0`;
  return processIds().map((pid) => {
    try {
      const environment = `\0${Deno.readTextFileSync(`/proc/${pid}/environ`)}`;
      return environment.includes(wanted) ? processInfo(pid) : null;
    } catch {
      // It has ended, or belongs to somebody else.
      return null;
    }
  }).filter((info): info is ProcessInfo => info !== null && !info.ended);
}

/** The id of this boot of the kernel, or undefined where it cannot be read. */
export function currentBootId(): string | undefined {
  try {
    return Deno.readTextFileSync("/proc/sys/kernel/random/boot_id").trim();
  } catch {
    return undefined;
  }
}
