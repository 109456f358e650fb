/**
 * The updater, as the agent sees it: a port, and what its answers mean.
 *
 * @module
 */
import { FleetError } from "../../contracts/errors.ts";
import {
  UPDATER_PROTOCOL,
  type UpdaterRefusal,
  type UpdaterResponse,
  updaterResponse,
  type UpdaterState,
} from "../../contracts/updater_protocol.ts";

/** Sends one document to the updater's socket and returns the document that it answers with. */
export type Exchange = (document: unknown, timeoutMs: number, signal: AbortSignal) => Promise<unknown>;

/** The updater. */
export interface UpdaterClient {
  /**
   * Asks for the state; changes nothing.
   *
   * @throws {FleetError} transient, `environment`, when the updater cannot be reached or refuses; `E_DECODE` for an
   * answer that cannot be read
   */
  status(timeoutMs: number, signal: AbortSignal): Promise<UpdaterState>;
  /**
   * Sends an attempt. The answer comes when the attempt is terminal, or at once when it is refused or has run before.
   * The end of the connection, whoever causes it, cancels nothing.
   *
   * @param document The attempt as it came
   * @throws {FleetError} as {@link status}; the attempt may run all the same
   */
  upgrade(document: unknown, timeoutMs: number, signal: AbortSignal): Promise<UpdaterResponse>;
  /**
   * Sends an attempt of a system upgrade. The answer comes as soon as the attempt is durable, or at once when it is
   * refused or was accepted before.
   *
   * @param document The attempt as it came
   * @throws {FleetError} as {@link status}; the attempt may run all the same
   */
  systemUpgrade(document: unknown, timeoutMs: number, signal: AbortSignal): Promise<UpdaterResponse>;
}

function refusalError({ code, message }: UpdaterRefusal): FleetError {
  return new FleetError(`Cannot read the updater's state: ${message}`, {
    code,
    retry: "transient",
    failureClass: "environment",
  });
}

/**
 * The updater behind an exchange.
 *
 * @param exchange Sends and receives
 */
export function updaterClient(exchange: Exchange): UpdaterClient {
  return {
    async status(timeoutMs, signal) {
      const answer = await exchange({ protocol: UPDATER_PROTOCOL, request: "status" }, timeoutMs, signal);
      const response = updaterResponse(answer, "");
      if (!response.ok) throw refusalError(response.error);
      return response.state;
    },
    async upgrade(document, timeoutMs, signal) {
      const request = { protocol: UPDATER_PROTOCOL, request: "upgrade", attempt: document };
      return updaterResponse(await exchange(request, timeoutMs, signal), "");
    },
    async systemUpgrade(document, timeoutMs, signal) {
      const request = { protocol: UPDATER_PROTOCOL, request: "system-upgrade", attempt: document };
      return updaterResponse(await exchange(request, timeoutMs, signal), "");
    },
  };
}
