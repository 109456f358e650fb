/**
 * The updater's socket: upgrade and read-only status requests (`Fleet agent upgrades`, Ownership and Limits).
 *
 * What keeps status available: of the {@link SOCKET_HANDLERS_MAX} handlers at most {@link SOCKET_UPGRADE_WAITERS_MAX}
 * wait for an upgrade's outcome, and a client that does not finish its request, or does not take its response, gives its
 * handler back after 10 s. Which upgrade may run is decided by the handler behind, not here.
 *
 * @module
 */
import type { AgentUpgradeAttempt } from "../../contracts/agent_upgrade.ts";
import type { SystemUpgradeAttempt } from "../../contracts/system_upgrade.ts";
import { decodeBytes } from "../../contracts/codec.ts";
import { errorText, type FailureClass, isFleetError } from "../../contracts/errors.ts";
import { bounded } from "../../contracts/formats.ts";
import {
  SHORT_TEXT_MAX_CHARS,
  SOCKET_MESSAGE_MAX_BYTES,
  SOCKET_STATUS_TIMEOUT_MS,
  SOCKET_UPGRADE_TIMEOUT_MS,
  SOCKET_UPGRADE_WAITERS_MAX,
} from "../../contracts/limits.ts";
import {
  encodeUpdaterResponse,
  type UpdaterErrorCode,
  type UpdaterRequest,
  updaterRequest,
  type UpdaterResponse,
  type UpdaterState,
} from "../../contracts/updater_protocol.ts";
import { type Clock, systemClock, withDeadline } from "../../lib/deadline.ts";
import type { Logger } from "../../lib/log.ts";
import { refuse } from "../core/admission.ts";
import { loweredBound } from "../../lib/lowered_bound.ts";
import type { UnixSocketPlace } from "./listen_unix.ts";
import { type RequestServer, type ResponseDocument, serveRequests } from "./request_server.ts";

/** What the socket asks of the updater. */
export interface UpdaterHandlers {
  /** The state now. Reads only. */
  status(): Promise<UpdaterState>;
  /**
   * Runs an attempt and answers when it has ended, or refuses it at once. The signal ends the wait, never the
   * transaction.
   *
   * @param document The attempt as it came; its digest is taken over all of it
   */
  upgrade(attempt: AgentUpgradeAttempt, document: unknown, signal: AbortSignal): Promise<UpdaterResponse>;
  /**
   * Takes an attempt of a system upgrade and answers when it is durable, or refuses it at once.
   *
   * @param document The attempt as it came; its digest is taken over all of it
   */
  systemUpgrade(attempt: SystemUpgradeAttempt, document: unknown): Promise<UpdaterResponse>;
}

/** Bounds of the socket, in ms; each can be lowered below its limit only. */
export interface SocketBounds {
  readonly readTimeoutMs?: number;
  readonly statusTimeoutMs?: number;
  readonly upgradeTimeoutMs?: number;
}

/** What the socket is made of. */
export interface UpdaterSocketOptions extends UnixSocketPlace {
  readonly handlers: UpdaterHandlers;
  readonly log: Logger;
  /** Stops the server: waiting clients are told that the updater is stopping. */
  readonly signal: AbortSignal;
  readonly bounds?: SocketBounds;
  readonly clock?: Clock;
}

/** Refusals of the socket itself that the same request may not meet the next time. */
const PASSING: Readonly<Partial<Record<UpdaterErrorCode, FailureClass>>> = {
  E_REQUEST_TIMEOUT: "environment",
  E_RESPONSE_TIMEOUT: "environment",
  E_TOO_MANY_CLIENTS: "environment",
  E_STOPPING: "environment",
  E_INTERNAL: "internal",
};

function refusal(code: UpdaterErrorCode, message: string, field?: string): UpdaterResponse {
  return { ok: false, error: refuse(code, bounded(message.toWellFormed()), PASSING[code] ?? "policy", field) };
}

/** A member's name comes from the client, and may hold anything. */
function shownField(field: string | undefined): string | undefined {
  return field === undefined ? undefined : bounded(field.replaceAll(/\p{Cc}/gu, "?"), SHORT_TEXT_MAX_CHARS);
}

class UpdaterSocket {
  readonly #options: UpdaterSocketOptions;
  readonly #clock: Clock;
  #waitingUpgrades = 0;

  constructor(options: UpdaterSocketOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  async answer(bytes: Uint8Array, signal: AbortSignal): Promise<UpdaterResponse> {
    let request: UpdaterRequest;
    try {
      if (bytes.byteLength === 0) return refusal("E_REQUEST_INVALID", "the request is empty");
      request = decodeBytes(updaterRequest, bytes, SOCKET_MESSAGE_MAX_BYTES);
    } catch (error) {
      if (!isFleetError(error)) throw error;
      return refusal("E_REQUEST_INVALID", errorText(error), shownField(error.field));
    }
    switch (request.request) {
      case "status":
        return await this.#status(signal);
      case "upgrade":
        return await this.#upgrade(request, signal);
      case "system-upgrade":
        return await this.#systemUpgrade(request, signal);
    }
  }

  #systemUpgrade(
    { attempt, document }: Extract<UpdaterRequest, { request: "system-upgrade" }>,
    signal: AbortSignal,
  ): Promise<UpdaterResponse> {
    const timeoutMs = loweredBound(SOCKET_STATUS_TIMEOUT_MS, this.#options.bounds?.statusTimeoutMs);
    const late = "the attempt was not accepted in time; it may be yet, ask for the status";
    const { handlers } = this.#options;
    return this.#within(timeoutMs, late, signal, () => handlers.systemUpgrade(attempt, document));
  }

  #status(signal: AbortSignal): Promise<UpdaterResponse> {
    const timeoutMs = loweredBound(SOCKET_STATUS_TIMEOUT_MS, this.#options.bounds?.statusTimeoutMs);
    return this.#within(timeoutMs, "the status was not there", signal, async () => {
      return { ok: true, state: await this.#options.handlers.status() };
    });
  }

  async #upgrade(
    { attempt, document }: Extract<UpdaterRequest, { request: "upgrade" }>,
    signal: AbortSignal,
  ): Promise<UpdaterResponse> {
    if (this.#waitingUpgrades >= SOCKET_UPGRADE_WAITERS_MAX) {
      const message = `${SOCKET_UPGRADE_WAITERS_MAX} clients wait for an upgrade already; ask for the status`;
      return refusal("E_TOO_MANY_CLIENTS", message);
    }
    const { handlers, bounds } = this.#options;
    const timeoutMs = loweredBound(SOCKET_UPGRADE_TIMEOUT_MS, bounds?.upgradeTimeoutMs);
    this.#waitingUpgrades++;
    try {
      const what = "the upgrade has not ended; it goes on, ask for the status";
      return await this.#within(timeoutMs, what, signal, (ending) => handlers.upgrade(attempt, document, ending));
    } finally {
      this.#waitingUpgrades--;
    }
  }

  async #within(
    timeoutMs: number,
    late: string,
    signal: AbortSignal,
    work: (ending: AbortSignal) => Promise<UpdaterResponse>,
  ): Promise<UpdaterResponse> {
    const code = "E_RESPONSE_TIMEOUT";
    try {
      return await withDeadline(timeoutMs, "answer", work, { clock: this.#clock, signal, code });
    } catch (error) {
      if (isFleetError(error, code)) return refusal(code, `${late} within ${timeoutMs} ms`);
      if (signal.aborted) return refusal("E_STOPPING", "the updater is stopping; it goes on after its next start");
      throw error;
    }
  }
}

/**
 * Creates the updater's socket and serves it until the signal aborts.
 *
 * @param options Place, handlers, bounds
 * @throws {FleetError} `E_SOCKET` when the socket cannot be created
 */
export function serveUpdaterSocket(options: UpdaterSocketOptions): RequestServer {
  const { path, mode, gid, log, signal, bounds, clock } = options;
  const socket = new UpdaterSocket(options);
  const document = (response: UpdaterResponse): ResponseDocument => encodeUpdaterResponse(response);
  return serveRequests({
    path,
    mode,
    log,
    signal,
    answer: async (bytes, stopping) => document(await socket.answer(bytes, stopping)),
    refuse: (code, message) => document(refusal(code, message)),
    ...(gid === undefined ? {} : { gid }),
    ...(bounds?.readTimeoutMs === undefined ? {} : { readTimeoutMs: bounds.readTimeoutMs }),
    ...(clock === undefined ? {} : { clock }),
  });
}
