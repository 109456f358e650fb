/**
 * The time that an agent which is not READY may spend on NATS, over all steps together (`Fleet agent upgrades, Limits`:
 * 3 minutes). The time spent on other steps does not count.
 *
 * @module
 */
import { isFleetError } from "../../contracts/errors.ts";
import type { ReadinessStep } from "../../contracts/readiness.ts";
import type { Clock } from "../../lib/deadline.ts";
import type { ReadinessReporter } from "./readiness_reporter.ts";
import { StartupError, startupErrorOf } from "./startup_error.ts";

/** What a window works with. */
export interface RetryWindowOptions {
  /** In ms. */
  readonly windowMs: number;
  /** Pause between two tries, in ms. */
  readonly pauseMs: number;
  readonly clock: Clock;
  readonly reporter: ReadinessReporter;
}

/** The time that an agent which is not READY may spend on NATS. */
export class RetryWindow {
  readonly #options: RetryWindowOptions;
  #leftMs: number;

  constructor(options: RetryWindowOptions) {
    this.#options = options;
    this.#leftMs = options.windowMs;
  }

  /** What is left, in ms. */
  get leftMs(): number {
    return Math.max(0, this.#leftMs);
  }

  /** Runs something on the window's time. */
  async spend<T>(work: () => Promise<T>): Promise<T> {
    const { clock } = this.#options;
    const startedMs = clock.monotonicMs();
    try {
      return await work();
    } finally {
      this.#leftMs -= clock.monotonicMs() - startedMs;
    }
  }

  /**
   * Tries a step until it succeeds or nothing is left.
   *
   * @param step The step, for STATUS and device info
   * @param work The step
   * @param signal Ends it; the call then rejects with its reason
   * @throws {StartupError} The last failure, of class `environment`, when nothing is left
   */
  async retry<T>(step: ReadinessStep, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const { clock, pauseMs, reporter } = this.#options;
    while (true) {
      signal.throwIfAborted();
      try {
        return await this.spend(work);
      } catch (error) {
        signal.throwIfAborted();
        if (!isFleetError(error)) throw error;
        if (this.#leftMs <= pauseMs) throw startupErrorOf(step, asEnvironment(step, error));
        await reporter.wait(step, error, this.#leftMs);
        await this.spend(() => clock.sleep(pauseMs, signal));
      }
    }
  }
}

/** What a broker cannot do in three minutes says nothing about the binary. */
function asEnvironment(step: ReadinessStep, error: Error): StartupError {
  return error instanceof StartupError ? error : new StartupError(step, error.message, "environment", error);
}
