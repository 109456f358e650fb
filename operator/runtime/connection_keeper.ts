/**
 * Keeps what the operator needs of the broker as it must be: buckets, the measured clock, and the knowledge of whether
 * the broker has been watched without a gap.
 *
 * At each connection and every minute buckets are ensured, since a broker that restarted has lost those in memory, and
 * nobody else makes them. Reconciliation pauses while the broker is away: every write would fail.
 *
 * @module
 */
import { errorText, isFleetError } from "../../contracts/errors.ts";
import { BROKER_CLOCK_REFRESH_MS } from "../../contracts/limits.ts";
import type { Bus } from "../../lib/bus/port.ts";
import { backoffMs, type Clock } from "../../lib/deadline.ts";
import type { Logger } from "../../lib/log.ts";
import type { BrokerTime } from "./broker_time.ts";

/** What the keeper works with. */
export interface ConnectionKeeperOptions {
  readonly bus: Pick<Bus, "connected" | "onStatus">;
  readonly time: BrokerTime;
  /** Makes the buckets what they must be. */
  readonly ensureBuckets: () => Promise<void>;
  /** Reconciliation may go on. */
  readonly onReady: () => void;
  /** Reconciliation must pause. */
  readonly onAway: () => void;
  readonly retry: { readonly minMs: number; readonly maxMs: number };
  readonly clock: Clock;
  readonly log: Logger;
}

/** Keeps the connection's surroundings. */
export class ConnectionKeeper {
  readonly #options: ConnectionKeeperOptions;
  #wake = new AbortController();

  constructor(options: ConnectionKeeperOptions) {
    this.#options = options;
  }

  /**
   * Runs until the signal aborts.
   *
   * @param signal Ends it
   */
  async run(signal: AbortSignal): Promise<void> {
    const unlisten = this.#listen();
    const onAbort = () => this.#wake.abort();
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      for (let failures = 0; !signal.aborted;) {
        this.#wake = new AbortController();
        const kept = await this.#keep();
        failures = kept ? 0 : failures + 1;
        const pauseMs = kept ? BROKER_CLOCK_REFRESH_MS : backoffMs(failures - 1, this.#options.retry);
        if (!signal.aborted) await this.#options.clock.sleep(pauseMs, this.#wake.signal).catch(() => {});
      }
    } finally {
      signal.removeEventListener("abort", onAbort);
      unlisten();
    }
  }

  #listen(): () => void {
    const { bus, log, onAway, time } = this.#options;
    return bus.onStatus((status) => {
      switch (status.kind) {
        case "connected":
          log.state("nats", "connected to NATS", { server: status.server });
          this.#wake.abort();
          return;
        case "disconnected":
          log.state("nats", "the connection to NATS is lost", {}, "warn");
          time.interrupt();
          onAway();
          return;
        case "reconnecting":
          return;
        case "closed":
          log.state("nats", "the client has given the connection to NATS up", {}, "error");
          return;
        case "auth-error":
        case "error":
          log.state(`nats ${status.kind}`, "NATS reports an error", { error: status.message }, "warn");
      }
    });
  }

  async #keep(): Promise<boolean> {
    const { bus, ensureBuckets, log, onReady, time } = this.#options;
    if (!bus.connected) return false;
    try {
      await ensureBuckets();
      if (!await time.measure() && bus.connected) {
        log.state("broker clock", "the broker does not tell its time: the own clock is used", {}, "warn");
      }
    } catch (error) {
      const code = isFleetError(error) ? error.code : undefined;
      log.state("buckets", "the buckets are not as they must be", { code, error: errorText(error) }, "warn");
      return false;
    }
    // Lost while it was being looked at: the next connection begins anew.
    if (!bus.connected) return false;
    log.state("buckets", "the buckets are as they must be", {}, "debug");
    if (time.watchedSinceMs === null) {
      time.begin();
      onReady();
    }
    return true;
  }
}
