/**
 * Time as a port, bounded waiting, and pauses between tries.
 *
 * @module
 */
import { type FailureClass, FleetError } from "../contracts/errors.ts";
import { TIMER_MAX_MS } from "../contracts/limits.ts";

/** Time. Intervals are measured by {@link Clock.monotonicMs} only: the wall clock of a device may jump by years. */
export interface Clock {
  /** Wall clock, in ms since the epoch. */
  nowMs(): number;
  /** A clock that never runs back, in ms since an arbitrary start. */
  monotonicMs(): number;
  /**
   * Waits. Rejects with the signal's reason when it aborts, also when it has done so before the call.
   *
   * @param ms How long; 0 and less still yields to other work
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

function timer(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason);
    const onAbort = () => {
      clearTimeout(handle);
      reject(signal?.reason);
    };
    const handle = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** The machine's clocks. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  async sleep(ms, signal) {
    let restMs = Math.max(0, ms);
    do {
      const partMs = Math.min(restMs, TIMER_MAX_MS);
      await timer(partMs, signal);
      restMs -= partMs;
    } while (restMs > 0);
  },
};

/** Options of {@link withDeadline}. */
export interface DeadlineOptions {
  /** Default {@link systemClock}. */
  readonly clock?: Clock;
  /** Ends the wait early; the call then rejects with its reason. */
  readonly signal?: AbortSignal;
  /** Code of the error. Default `E_DEADLINE`. */
  readonly code?: string;
  /** Default `environment`: what is bounded by time is mostly another party. */
  readonly failureClass?: FailureClass;
}

/**
 * Runs something for at most a time. At the deadline its signal aborts and the call rejects at once, whether or not the
 * work heeds the signal; what the work does afterwards is ignored.
 *
 * @param timeoutMs How long it may take
 * @param what What is bounded, for the message: "connect to the registry"
 * @param work The work; its signal aborts at the deadline and with `options.signal`
 * @param options Clock, outer signal, code and class of the error
 * @returns what the work returned
 * @throws {FleetError} `E_DEADLINE` (transient) after `timeoutMs`; otherwise what the work threw
 */
export async function withDeadline<T>(
  timeoutMs: number,
  what: string,
  work: (signal: AbortSignal) => Promise<T>,
  options: DeadlineOptions = {},
): Promise<T> {
  const { clock = systemClock, signal, code = "E_DEADLINE", failureClass = "environment" } = options;
  signal?.throwIfAborted();
  const working = new AbortController();
  const waiting = new AbortController();
  const onAbort = () => working.abort(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  const ended = new Promise<never>((_, reject) => {
    working.signal.addEventListener("abort", () => reject(working.signal.reason), { once: true });
  });
  ended.catch(() => {});
  clock.sleep(timeoutMs, waiting.signal).then(() => {
    const message = `Cannot ${what}: not done within ${timeoutMs} ms`;
    working.abort(new FleetError(message, { code, retry: "transient", failureClass }));
  }, () => {});
  try {
    const running = work(working.signal);
    // When the deadline wins, a later failure of the work must not count as unhandled.
    running.catch(() => {});
    return await Promise.race([running, ended]);
  } finally {
    waiting.abort();
    signal?.removeEventListener("abort", onAbort);
  }
}

/** Options of {@link backoffMs}. */
export interface BackoffOptions {
  /** Ceiling of the first pause, in ms. */
  readonly minMs: number;
  /** Ceiling of every later pause, in ms. */
  readonly maxMs: number;
  /** Source of randomness in [0, 1). Default `Math.random`. */
  readonly random?: () => number;
}

/**
 * The pause before a try: full jitter, so that clients that failed together do not come back together. The ceiling
 * doubles with each failed try from `minMs` to `maxMs`; the pause is anywhere between 0 and the ceiling.
 *
 * @param failures Failed tries so far, less one: 0 for the pause after the first failure
 * @param options Ceilings and randomness
 * @returns whole ms
 */
export function backoffMs(failures: number, options: BackoffOptions): number {
  const { minMs, maxMs, random = Math.random } = options;
  const ceilingMs = Math.min(maxMs, minMs * 2 ** Math.max(0, failures));
  return Math.round(random() * ceilingMs);
}
