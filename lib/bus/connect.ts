/**
 * Connects to NATS: once, or again and again within a window; once connected, it reconnects for ever.
 *
 * @module
 */
import { backoffMs, type Clock, systemClock } from "../deadline.ts";
import { type BusOptions, resolveBusOptions } from "./bus_options.ts";
import { connectCore } from "./connect_core.ts";
import { BusConnectError } from "./connect_error.ts";
import { NatsBus } from "./nats_bus.ts";

/** A failed attempt, for STATUS and the log. */
export interface FailedAttempt {
  readonly error: BusConnectError;
  /** Counts from 1. */
  readonly attempt: number;
  /** Pause before the next one, in ms; null when the window leaves no time for it. */
  readonly retryInMs: number | null;
}

/** How long {@link connectBusWithin} tries. */
export interface ConnectWindow {
  /** In ms. */
  readonly windowMs: number;
  /** Called after each failed attempt; must not throw. */
  readonly onAttempt?: (failed: FailedAttempt) => void;
  /** Ends it early; the call then throws the signal's reason. */
  readonly signal?: AbortSignal;
  /** Default {@link systemClock}. */
  readonly clock?: Clock;
}

/**
 * Tries every server once, in random order, each for at most the connect timeout (`Fleet agent upgrades, Limits`: 15 s).
 *
 * @param options Servers and credentials
 * @param signal Ends the attempt; the call then throws its reason
 * @throws {BusConnectError} of the server that came furthest
 * @throws {FleetError} `E_BUS_CONFIG` for options that no server makes right
 */
export async function connectBus(options: BusOptions, signal?: AbortSignal): Promise<NatsBus> {
  return new NatsBus(await connectCore(resolveBusOptions(options), signal, Number.POSITIVE_INFINITY, systemClock));
}

/**
 * Tries again and again until a window ends, with jittered pauses (`Fleet agent upgrades, Limits`: 3 min).
 *
 * @param options Servers and credentials
 * @param window How long, and whom to tell
 * @throws {BusConnectError} of the last attempt, when the window ends
 * @throws {FleetError} `E_BUS_CONFIG` for options that no server makes right
 */
export async function connectBusWithin(options: BusOptions, window: ConnectWindow): Promise<NatsBus> {
  const { windowMs, onAttempt, signal, clock = systemClock } = window;
  const resolved = resolveBusOptions(options);
  const { reconnectMinMs: minMs, reconnectMaxMs: maxMs } = resolved.bounds;
  const endMs = clock.monotonicMs() + windowMs;
  for (let attempt = 1;; attempt++) {
    try {
      return new NatsBus(await connectCore(resolved, signal, endMs, clock));
    } catch (error) {
      if (!(error instanceof BusConnectError)) throw error;
      const pauseMs = backoffMs(attempt - 1, { minMs, maxMs, random: resolved.random });
      const isLast = clock.monotonicMs() + pauseMs >= endMs;
      onAttempt?.({ error, attempt, retryInMs: isLast ? null : pauseMs });
      if (isLast) throw error;
      await clock.sleep(pauseMs, signal);
    }
  }
}
