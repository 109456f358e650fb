/**
 * Follows a source for as long as the program runs: a source that ends or fails is opened again, after a pause with
 * jitter.
 *
 * @module
 */
import { errorText, isFleetError } from "../../contracts/errors.ts";
import { RECONCILE_SLICE_MS } from "../../contracts/limits.ts";
import { backoffMs, type Clock, systemClock } from "../../lib/deadline.ts";
import type { Logger } from "../../lib/log.ts";
import { EventLoopSlice } from "./event_loop_slice.ts";

/** A source and what is done with it. */
export interface WatchLoopOptions<E> {
  /** For the log. */
  readonly name: string;
  /** Opens the source; it yields everything that is there, and then changes, until the signal aborts. */
  readonly open: (signal: AbortSignal) => AsyncIterable<E> | Promise<AsyncIterable<E>>;
  /** Called when the source is opened again: everything that is there follows once more. */
  readonly onReopen: () => void;
  /** Takes one event; must not throw. */
  readonly onEvent: (event: E) => void;
  readonly retry: { readonly minMs: number; readonly maxMs: number };
  readonly log: Logger;
  /** Default the system's. */
  readonly clock?: Clock;
}

/**
 * Follows a source until the signal aborts.
 *
 * @param options The source
 * @param signal Ends it
 */
export async function runWatchLoop<E>(options: WatchLoopOptions<E>, signal: AbortSignal): Promise<void> {
  const { name, log, retry, clock = systemClock } = options;
  const slice = new EventLoopSlice(RECONCILE_SLICE_MS);
  let failures = 0;
  for (let opened = 0; !signal.aborted; opened++) {
    try {
      if (opened > 0) options.onReopen();
      for await (const event of await options.open(signal)) {
        failures = 0;
        options.onEvent(event);
        if (slice.isOver) await slice.renew();
      }
      if (signal.aborted) return;
      log.state(`watch ${name}`, "a watch has ended and is begun again", { watch: name }, "warn");
    } catch (error) {
      if (signal.aborted) return;
      const code = isFleetError(error) ? error.code : undefined;
      log.state(`watch ${name}`, "cannot watch", { watch: name, code, error: errorText(error) }, "warn");
    }
    await clock.sleep(backoffMs(failures++, retry), signal).catch(() => {});
  }
}
