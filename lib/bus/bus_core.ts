/**
 * One connection of the client library: bounded requests, typed errors, status events.
 *
 * @module
 */
import { type Msg, type MsgHdrs, type NatsConnectionImpl, RequestOne, type Status } from "@nats-io/nats-core/internal";
import { errorText } from "../../contracts/errors.ts";
import { DEVICE_API_PREFIX } from "../../contracts/subjects.ts";
import { findApiPrefix } from "./api_prefix.ts";
import { type ApiError, apiError, busError, isLoginRefusal, requestError } from "./bus_error.ts";
import type { ResolvedBusOptions } from "./bus_options.ts";
import type { BusStatus } from "./port.ts";

/** A request and what it is for. */
export interface BusRequest {
  readonly subject: string;
  /** For messages: "read device-info/device-1". */
  readonly what: string;
  readonly data?: Uint8Array;
  readonly headers?: MsgHdrs;
  /** Whether it changes something. */
  readonly isWrite: boolean;
}

/** What reads and writes are made of. */
export class BusCore {
  readonly options: ResolvedBusOptions;
  readonly connection: NatsConnectionImpl;
  readonly #lifetime: AbortController;
  readonly #listeners = new Set<(status: BusStatus) => void>();
  /** Requests that wait for their answer. The library's own ones go on waiting when the connection is lost. */
  readonly #requests = new Set<RequestOne>();
  #apiPrefix: string | null = null;

  /**
   * @param connection A connection that is open
   * @param options Its options
   * @param lifetime Aborted by {@link close}; ends dials, watches and snapshots
   */
  constructor(connection: NatsConnectionImpl, options: ResolvedBusOptions, lifetime: AbortController) {
    this.connection = connection;
    this.options = options;
    this.#lifetime = lifetime;
    void this.#followStatus();
  }

  /** Aborts when the bus is closed. */
  get closing(): AbortSignal {
    return this.#lifetime.signal;
  }

  get connected(): boolean {
    return !this.connection.isClosed() && this.connection.protocol.connected;
  }

  onStatus(listener: (status: BusStatus) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #cancelRequests(): void {
    const error = new Error("the connection was lost");
    for (const request of this.#requests) request.cancel(error);
  }

  /** Tells the listeners. */
  emit(status: BusStatus): void {
    for (const listener of this.#listeners) listener(status);
  }

  async #followStatus(): Promise<void> {
    for await (const status of this.connection.status()) {
      if (status.type === "disconnect") this.#cancelRequests();
      const known = busStatus(status);
      if (known !== null && !this.closing.aborted) this.emit(known);
    }
    if (!this.closing.aborted) this.emit({ kind: "closed" });
  }

  /**
   * The prefix of the JetStream API for this program.
   *
   * @throws {FleetError} as {@link request}
   */
  async apiPrefix(): Promise<string> {
    this.#apiPrefix ??= await findApiPrefix(this.options.deviceId, (request) => this.request(request));
    return this.#apiPrefix ?? DEVICE_API_PREFIX;
  }

  /** @throws {FleetError} `E_BUS_CLOSED`, `E_BUS_UNREACHABLE` */
  requireConnected(what: string): void {
    if (this.closing.aborted || this.connection.isClosed()) {
      throw busError("E_BUS_CLOSED", `Cannot ${what}: the connection is closed`);
    }
    if (!this.connected) throw busError("E_BUS_UNREACHABLE", `Cannot ${what}: not connected to NATS`);
  }

  /**
   * Sends a request and waits for its answer. Without a connection nothing is sent, so that the outcome is known.
   *
   * @throws {FleetError} `E_BUS_UNREACHABLE`, `E_BUS_TIMEOUT` or `E_BUS_UNKNOWN_OUTCOME`, `E_BUS_AUTH`,
   *   `E_BUS_NO_BUCKET`, `E_BUS_CLOSED`
   */
  async request({ subject, what, data, headers, isWrite }: BusRequest): Promise<Msg> {
    this.requireConnected(what);
    const { protocol } = this.connection;
    const timeout = this.options.bounds.requestTimeoutMs;
    const request = new RequestOne(protocol.muxSubscriptions, subject, { timeout }, false);
    // Canceled below, it rejects whether or not anybody waits.
    request.deferred.catch(() => {});
    this.#requests.add(request);
    try {
      protocol.request(request);
      const reply = `${protocol.muxSubscriptions.baseInbox}${request.token}`;
      this.connection.publish(subject, data, headers === undefined ? { reply } : { reply, headers });
      return await Promise.race([request.timer, request.deferred]);
    } catch (error) {
      throw requestError(error, what, isWrite);
    } finally {
      this.#requests.delete(request);
      request.cancel();
    }
  }

  /**
   * Sends a JSON request of the JetStream API.
   *
   * @returns the answer, or its `error` member as `{ error }`
   * @throws {FleetError} as {@link request}
   */
  async apiRequest(subject: string, body: unknown, what: string): Promise<Record<string, unknown>> {
    const data = body === null ? new Uint8Array(0) : new TextEncoder().encode(JSON.stringify(body));
    const message = await this.request({ subject, what, data, isWrite: false });
    return jsonAnswer(message, what);
  }

  /** As {@link apiRequest}, with an `error` thrown. */
  async apiCall(subject: string, body: unknown, what: string): Promise<Record<string, unknown>> {
    const answer = await this.apiRequest(subject, body, what);
    const error = answerError(answer);
    if (error !== null) throw apiError(error, what);
    return answer;
  }

  async flush(timeoutMs: number): Promise<void> {
    const timeout = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => timeout.reject(busError("E_BUS_TIMEOUT", "Cannot flush to NATS: no answer")),
      timeoutMs,
    );
    try {
      this.requireConnected("flush to NATS");
      const flushed = this.connection.flush();
      flushed.catch(() => {});
      await Promise.race([flushed, timeout.promise]);
    } catch (error) {
      throw requestError(error, "flush to NATS", false);
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    if (this.closing.aborted) return;
    if (this.connected) await this.flush(this.options.bounds.requestTimeoutMs).catch(() => {});
    this.#lifetime.abort(busError("E_BUS_CLOSED", "The connection to NATS is closed"));
    await this.connection.close();
  }
}

/** Reads an answer that must be a JSON object. */
export function jsonAnswer(message: Msg, what: string): Record<string, unknown> {
  try {
    const answer: unknown = JSON.parse(new TextDecoder().decode(message.data));
    if (typeof answer === "object" && answer !== null) return answer as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw busError("E_BUS_REJECTED", `Cannot ${what}: the server's answer is no JSON object`);
}

/** The `error` member of a JetStream answer, or null. */
export function answerError(answer: Record<string, unknown>): ApiError | null {
  const { error } = answer;
  return typeof error === "object" && error !== null ? error as ApiError : null;
}

function busStatus(status: Status): BusStatus | null {
  switch (status.type) {
    case "reconnect":
      return { kind: "connected", server: status.server };
    case "disconnect":
      return { kind: "disconnected" };
    case "reconnecting":
      return { kind: "reconnecting" };
    case "error":
      return {
        kind: isLoginRefusal(status.error) ? "auth-error" : "error",
        message: errorText(status.error),
      };
    default:
      return null;
  }
}
