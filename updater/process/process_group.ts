/**
 * Signals to process groups.
 *
 * @module
 */

/**
 * Sends a signal to a process or, with a negative id, to a group.
 *
 * @param id Process id, or the negative of a group's
 * @param signal The signal
 * @returns whether there was anybody to receive it
 */
export function sendSignal(id: number, signal: Deno.Signal): boolean {
  // Group 0 and 1, and process -1, mean everybody: no record, however wrong, may get there.
  if (!Number.isSafeInteger(id) || Math.abs(id) <= 1) return false;
  try {
    Deno.kill(id, signal);
    return true;
  } catch {
    return false;
  }
}

/**
 * Sends a signal to a process group.
 *
 * @param groupId The group, which is the id of the process that leads it
 * @param signal The signal
 * @returns whether there was anybody to receive it
 */
export function signalGroup(groupId: number, signal: Deno.Signal): boolean {
  return sendSignal(-groupId, signal);
}
