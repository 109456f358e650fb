/**
 * A server that takes one request per connection (contracts/updater_protocol.ts: the client half-closes, the server
 * answers once and closes). It knows nothing of what is asked; `serveUpdaterSocket` and the repair socket do.
 *
 * Guarantees: each connection ends within read + answer + write bound + a second; at most {@link SOCKET_HANDLERS_MAX}
 * are handled at once, one more is refused at once without being read; nothing that a client does ends the server.
 *
 * @module
 */
import { errorText } from "../../contracts/errors.ts";
import {
  SOCKET_ACCEPT_PAUSE_MS,
  SOCKET_HANDLERS_MAX,
  SOCKET_MESSAGE_MAX_BYTES,
  SOCKET_READ_TIMEOUT_MS,
  SOCKET_REFUSALS_MAX,
} from "../../contracts/limits.ts";
import type { UpdaterErrorCode } from "../../contracts/updater_protocol.ts";
import { type Clock, systemClock } from "../../lib/deadline.ts";
import type { Logger } from "../../lib/log.ts";
import { loweredBound } from "../../lib/lowered_bound.ts";
import { listenUnix, type UnixSocketPlace } from "./listen_unix.ts";
import { type ReadOutcome, readRequest } from "./read_request.ts";
import { sendResponse } from "./send_response.ts";

/** A response, before it becomes JSON. */
export type ResponseDocument = Readonly<Record<string, unknown>>;

/** What a server is made of. */
export interface RequestServerOptions extends UnixSocketPlace {
  /**
   * Answers one request, bounded in time by itself. The signal aborts when the server stops; what then comes is still
   * sent if it comes at once.
   */
  readonly answer: (bytes: Uint8Array, signal: AbortSignal) => Promise<ResponseDocument>;
  /** The response that refuses a request. */
  readonly refuse: (code: UpdaterErrorCode, message: string) => ResponseDocument;
  readonly log: Logger;
  /** Stops the server: it accepts no more, and every client is answered. */
  readonly signal: AbortSignal;
  /** Lowered bound of the reading, in ms. Default {@link SOCKET_READ_TIMEOUT_MS} */
  readonly readTimeoutMs?: number;
  readonly clock?: Clock;
}

/** A running server. */
export interface RequestServer {
  /** Resolves when the server has stopped and its last client is gone. Never rejects. */
  readonly finished: Promise<void>;
}

class Server {
  readonly #options: RequestServerOptions;
  readonly #clock: Clock;
  readonly #handled = new Set<Promise<void>>();
  readonly #refused = new Set<Promise<void>>();

  constructor(options: RequestServerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  async run(listener: Deno.UnixListener): Promise<void> {
    const { signal, log, path } = this.#options;
    while (!signal.aborted) {
      let conn: Deno.UnixConn;
      try {
        conn = await listener.accept();
      } catch (error) {
        if (signal.aborted) break;
        log.state("socket accept", "connections cannot be accepted", { path, error: errorText(error) }, "error");
        await this.#clock.sleep(SOCKET_ACCEPT_PAUSE_MS, signal).catch(() => {});
        continue;
      }
      this.#admit(conn);
    }
    await Promise.all([...this.#handled, ...this.#refused]);
  }

  #admit(conn: Deno.UnixConn): void {
    const { log, path } = this.#options;
    if (this.#handled.size < SOCKET_HANDLERS_MAX) {
      log.state("socket", "clients are served", { path }, "debug");
      return this.#track(this.#handled, conn, this.#handle(conn));
    }
    log.state("socket", "clients are refused", { path, handlers: SOCKET_HANDLERS_MAX }, "warn");
    if (this.#refused.size >= SOCKET_REFUSALS_MAX) return closeQuietly(conn);
    const message = `${SOCKET_HANDLERS_MAX} clients are being served, try again`;
    const refusal = this.#options.refuse("E_TOO_MANY_CLIENTS", message);
    this.#track(this.#refused, conn, this.#send(conn, refusal));
  }

  #track(among: Set<Promise<void>>, conn: Deno.UnixConn, conversation: Promise<void>): void {
    const ended = conversation.catch((error) => {
      this.#options.log.error("connection failed", { error: errorText(error) });
    }).finally(() => {
      closeQuietly(conn);
      among.delete(ended);
    });
    among.add(ended);
  }

  async #handle(conn: Deno.UnixConn): Promise<void> {
    const { signal, readTimeoutMs } = this.#options;
    const timeoutMs = loweredBound(SOCKET_READ_TIMEOUT_MS, readTimeoutMs);
    const bounds = { timeoutMs, maxBytes: SOCKET_MESSAGE_MAX_BYTES, clock: this.#clock, signal };
    const read = await readRequest(conn, bounds);
    const response = read.kind === "request" ? await this.#answer(read.bytes) : this.#refusal(read, timeoutMs);
    if (response !== null) await this.#send(conn, response);
  }

  #refusal(read: Exclude<ReadOutcome, { kind: "request" }>, timeoutMs: number): ResponseDocument | null {
    const { refuse } = this.#options;
    switch (read.kind) {
      case "gone":
        return null;
      case "late":
        return refuse(
          "E_REQUEST_TIMEOUT",
          `the request did not end within ${timeoutMs} ms: shut down the sending side`,
        );
      case "too-large":
        return refuse("E_REQUEST_TOO_LARGE", `the request has more than ${SOCKET_MESSAGE_MAX_BYTES} bytes`);
      case "stopping":
        return refuse("E_STOPPING", "the updater is stopping");
    }
  }

  async #answer(bytes: Uint8Array): Promise<ResponseDocument> {
    const { answer, refuse, log, signal } = this.#options;
    try {
      return await answer(bytes, signal);
    } catch (error) {
      log.error("request failed", { error: errorText(error) });
      return refuse("E_INTERNAL", "the updater failed to answer; its log says why");
    }
  }

  async #send(conn: Deno.UnixConn, response: ResponseDocument): Promise<void> {
    const { refuse, log } = this.#options;
    let bytes = encode(response);
    if (bytes.byteLength > SOCKET_MESSAGE_MAX_BYTES) {
      log.error("response too large", { sizeBytes: bytes.byteLength, maxBytes: SOCKET_MESSAGE_MAX_BYTES });
      bytes = encode(refuse("E_INTERNAL", `the response has more than ${SOCKET_MESSAGE_MAX_BYTES} bytes`));
    }
    if (!await sendResponse(conn, bytes, this.#clock)) log.debug("client went away before its response");
  }
}

/** With a line end, for people who use `socat`. */
function encode(response: ResponseDocument): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(response)}\n`);
}

function closeQuietly(conn: Deno.Conn): void {
  try {
    conn.close();
  } catch {
    // The runtime closes what both sides have shut down.
  }
}

/**
 * Creates the socket and serves it until the signal aborts; the socket's file is removed then.
 *
 * @param options Place, answer, bounds
 * @throws {FleetError} `E_SOCKET` when the socket cannot be created
 */
export function serveRequests(options: RequestServerOptions): RequestServer {
  const { signal, log, path } = options;
  signal.throwIfAborted();
  const listener = listenUnix(options);
  signal.addEventListener("abort", () => listener.close(), { once: true });
  log.debug("socket open", { path });
  return { finished: new Server(options).run(listener) };
}
