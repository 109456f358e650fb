/**
 * Polls the updater and remembers how it stands: its last answer, and since when it has been silent.
 *
 * @module
 */
import { errorText, isFleetError } from "../../contracts/errors.ts";
import { SOCKET_STATUS_TIMEOUT_MS } from "../../contracts/limits.ts";
import type { UpdaterState } from "../../contracts/updater_protocol.ts";
import type { Clock } from "../../lib/deadline.ts";
import type { Logger } from "../../lib/log.ts";
import type { Blockers } from "../blockers.ts";
import type { UpdaterClient } from "./updater_client.ts";

/** What the watch works with. */
export interface UpdaterWatchOptions {
  readonly client: UpdaterClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly blockers: Blockers;
  /** Silence after which the updater counts as away, in ms. */
  readonly awayAfterMs: number;
}

/** What device info says of the updater. */
export type UpdaterSummary = { readonly version: string; readonly capabilities: string[] };

/** Polls the updater. */
export class UpdaterWatch {
  readonly #options: UpdaterWatchOptions;
  #summary: UpdaterSummary | undefined;
  #answeredMs: number;

  constructor(options: UpdaterWatchOptions) {
    this.#options = options;
    this.#answeredMs = options.clock.monotonicMs();
  }

  /** What device info says of the updater; undefined once it has been away for long enough. */
  get summary(): UpdaterSummary | undefined {
    return this.#summary;
  }

  /**
   * Asks for the state.
   *
   * @throws {FleetError} as {@link UpdaterClient.status}
   */
  async ask(signal: AbortSignal): Promise<UpdaterState> {
    const { blockers, client, clock, log } = this.#options;
    const state = await client.status(SOCKET_STATUS_TIMEOUT_MS, signal);
    this.#answeredMs = clock.monotonicMs();
    this.#summary = { version: state.updaterVersion, capabilities: state.capabilities };
    blockers.set("updater", state.quarantined ? "refuses every attempt until root repairs the device" : null);
    blockers.set("ledger", state.ledgerProblem ?? null);
    log.state("updater", "the updater answers", this.#summary);
    return state;
  }

  /**
   * Asks for the state; null when the updater cannot be reached or its answer cannot be read. Never throws, except when
   * the signal aborts.
   */
  async poll(signal: AbortSignal): Promise<UpdaterState | null> {
    try {
      return await this.ask(signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!isFleetError(error)) throw error;
      this.#silent(errorText(error));
      return null;
    }
  }

  /** A restart of the updater is shorter than this and worth no line, no write and no alarm. */
  #silent(why: string): void {
    const { awayAfterMs, blockers, clock, log } = this.#options;
    if (clock.monotonicMs() - this.#answeredMs < awayAfterMs) return;
    this.#summary = undefined;
    blockers.set("updater", why);
    log.state("updater", "the updater does not answer", { error: why }, "warn");
  }
}
