/**
 * Tells of the connection to NATS: an outage is a few lines, however long it lasts and however often it is tried
 * (DESIGN 6, Logs).
 *
 * @module
 */
import { OUTAGE_ERRORS_TOLD_MAX } from "../contracts/limits.ts";
import type { BusStatus } from "../lib/bus/port.ts";
import type { Logger } from "../lib/log.ts";

/** Tells of the connection to NATS. */
export class OutageReporter {
  readonly #log: Logger;
  readonly #say: (text: string) => void;
  /** Null while connected. */
  #told: Set<string> | null = null;
  #suppressed = 0;

  /**
   * @param log Where it tells
   * @param say Takes the state as one line for people
   */
  constructor(log: Logger, say: (text: string) => void) {
    this.#log = log;
    this.#say = say;
  }

  /** The connection has changed. */
  onStatus(status: BusStatus): void {
    switch (status.kind) {
      case "connected":
        this.#told = null;
        this.#log.info("NATS is connected", {
          server: status.server,
          suppressed: this.#suppressed === 0 ? undefined : this.#suppressed,
        });
        this.#suppressed = 0;
        return this.#say("connected to NATS");
      case "disconnected":
      case "reconnecting":
        return this.#begin();
      case "closed":
        return this.#log.error("NATS was given up by its client, the agent begins anew");
      case "auth-error":
      case "error":
        return this.#error(status.kind, status.message);
    }
  }

  #begin(): void {
    if (this.#told !== null) return;
    this.#told = new Set();
    this.#log.warn("NATS is away");
    this.#say("NATS is away, workloads go on");
  }

  #error(kind: "auth-error" | "error", message: string): void {
    const told = this.#told;
    const said = kind === "auth-error" ? "NATS refuses the login" : "NATS reports an error";
    // While connected an error is a matter of its own; the same one again is not told again.
    if (told === null) return this.#log.state("nats-error", said, { error: message }, "warn");
    const text = `${kind} ${message}`;
    if (told.has(text) || told.size >= OUTAGE_ERRORS_TOLD_MAX) {
      this.#suppressed++;
      return;
    }
    told.add(text);
    this.#log.warn(said, { error: message });
  }
}
