/**
 * Feeds the service manager's watchdog as long as every loop of the agent makes progress (`WatchdogSec=`, DESIGN 5).
 *
 * @module
 */
import type { Clock } from "../lib/deadline.ts";
import type { Logger } from "../lib/log.ts";
import type { Notifier } from "../lib/systemd/notify.ts";
import type { LoopProgress } from "./loop_progress.ts";

/**
 * The watchdog's interval in ms, or null when the service manager wants none of this process.
 *
 * @param env Values of `WATCHDOG_USEC` and `WATCHDOG_PID` (sd_watchdog_enabled(3))
 * @param pid This process
 */
export function watchdogIntervalMs(
  env: { readonly usec?: string | undefined; readonly pid?: string | undefined },
  pid: number,
): number | null {
  if (env.usec === undefined || !/^[1-9][0-9]{0,14}$/.test(env.usec)) return null;
  if (env.pid !== undefined && env.pid !== String(pid)) return null;
  return Math.max(1, Math.floor(Number(env.usec) / 1_000));
}

/** What the watchdog works with. */
export interface WatchdogOptions {
  readonly intervalMs: number;
  readonly notifier: Pick<Notifier, "notify">;
  readonly progress: LoopProgress;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Feeds the watchdog twice in each interval until the signal aborts, except while a loop is stalled: then the service
 * manager ends the process.
 *
 * @param options Interval, notifier, progress
 * @param signal Ends it
 */
export async function feedWatchdog(options: WatchdogOptions, signal: AbortSignal): Promise<void> {
  const { intervalMs, notifier, progress, clock, log } = options;
  while (!signal.aborted) {
    const stalled = progress.stalled();
    if (stalled.length === 0) await notifier.notify({ watchdog: true });
    else log.state("watchdog", "a loop is stalled, the watchdog is not fed", { loops: stalled.join(", ") }, "error");
    await clock.sleep(intervalMs / 2, signal).catch(() => {});
  }
}
