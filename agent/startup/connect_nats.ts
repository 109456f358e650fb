/**
 * The step that reaches NATS: attempts of at most 15 s within what is left of the window, each failure under the name of
 * what failed, so that a bad network is not taken for a bad binary (DESIGN 5, Verdicts).
 *
 * @module
 */
import { isFleetError } from "../../contracts/errors.ts";
import type { ReadinessStep } from "../../contracts/readiness.ts";
import type { FailedAttempt } from "../../lib/bus/connect.ts";
import { BusConnectError } from "../../lib/bus/connect_error.ts";
import type { Bus } from "../../lib/bus/port.ts";
import type { Clock } from "../../lib/deadline.ts";
import { clockProblem } from "./clock_sanity.ts";
import type { ReadinessReporter } from "./readiness_reporter.ts";
import type { RetryWindow } from "./retry_window.ts";
import { StartupError } from "./startup_error.ts";

/** How a connection is tried. */
export interface ConnectorWindow {
  readonly windowMs: number;
  readonly onAttempt: (failed: FailedAttempt) => void;
  readonly signal: AbortSignal;
}

/** Connects within a window, and reconnects for ever once it has; throws the last failure when the window ends. */
export type Connector = (window: ConnectorWindow) => Promise<Bus>;

/** What the step works with. */
export interface ConnectOptions {
  readonly connect: Connector;
  readonly window: RetryWindow;
  readonly reporter: ReadinessReporter;
  readonly clock: Clock;
}

/** The step that failed; a clock that was never set is the first suspect for all of them. */
function stepOf(error: unknown, clock: Clock): ReadinessStep {
  if (clockProblem(clock.nowMs()) !== null) return "clock";
  return error instanceof BusConnectError ? error.step : "nats";
}

function withClock(error: Error, clock: Clock): string {
  const clockSays = clockProblem(clock.nowMs());
  return clockSays === null ? error.message : `${clockSays.message}, and ${error.message}`;
}

/**
 * Connects to NATS.
 *
 * @param options Connector and window
 * @param signal Ends it; the call then rejects with its reason
 * @throws {StartupError} of class `environment` when the window ends
 */
export async function connectNats(options: ConnectOptions, signal: AbortSignal): Promise<Bus> {
  const { clock, connect, reporter, window } = options;
  await reporter.enter("nats", "connecting to NATS");
  const endMs = clock.monotonicMs() + window.leftMs;
  try {
    return await window.spend(() =>
      connect({
        windowMs: window.leftMs,
        signal,
        onAttempt: ({ error, retryInMs }) => {
          // What ends the window is told by the failure of the step.
          if (retryInMs === null) return;
          void reporter.wait(stepOf(error, clock), withClock(error, clock), endMs - clock.monotonicMs());
        },
      })
    );
  } catch (error) {
    signal.throwIfAborted();
    if (!isFleetError(error) || error.retry === "permanent") throw error;
    throw new StartupError(stepOf(error, clock), withClock(error, clock), "environment", error);
  }
}
