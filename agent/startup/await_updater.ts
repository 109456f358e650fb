/**
 * The step that reads the updater's transaction. Without it the agent does not become READY, since a seed rule binds the
 * two; but it does not end either: it waits, has published device info that says so, sends heartbeats, and leaves it to
 * the service manager's start bound to begin anew (DESIGN 5, Units).
 *
 * @module
 */
import { isFleetError } from "../../contracts/errors.ts";
import type { UpdaterState } from "../../contracts/updater_protocol.ts";
import type { Clock } from "../../lib/deadline.ts";
import type { UpdaterWatch } from "../upgrade/updater_watch.ts";
import type { ReadinessReporter } from "./readiness_reporter.ts";

/** What the step works with. */
export interface AwaitUpdaterOptions {
  readonly updater: Pick<UpdaterWatch, "ask">;
  /** Pause between two tries, in ms. */
  readonly pauseMs: number;
  readonly clock: Clock;
  readonly reporter: ReadinessReporter;
  /** Called when the step waits, so that device info says so. */
  readonly onWait: () => void;
}

/**
 * Waits for the updater's state, without end.
 *
 * @param options Updater and pause
 * @param signal Ends it; the call then rejects with its reason
 */
export async function awaitUpdater(options: AwaitUpdaterOptions, signal: AbortSignal): Promise<UpdaterState> {
  const { clock, onWait, pauseMs, reporter, updater } = options;
  await reporter.enter("updater", "reading the updater's transaction");
  while (true) {
    signal.throwIfAborted();
    try {
      return await updater.ask(signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!isFleetError(error)) throw error;
      await reporter.wait("updater", error, null);
      onWait();
      await clock.sleep(pauseMs, signal);
    }
  }
}
