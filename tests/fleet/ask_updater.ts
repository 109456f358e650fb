/**
 * Asks an updater for its state over its socket, as any client does.
 *
 * @module
 */
import { FleetError } from "../../contracts/errors.ts";
import { SOCKET_MESSAGE_MAX_BYTES } from "../../contracts/limits.ts";
import { updaterResponse, type UpdaterState } from "../../contracts/updater_protocol.ts";
import { exchange } from "../../lib/unix/exchange.ts";

const STATUS_TIMEOUT_MS = 5_000;

/**
 * The state of an updater, or null while it does not answer.
 *
 * @param socket Path of its socket
 */
export async function askUpdater(socket: string): Promise<UpdaterState | null> {
  try {
    const answer = await exchange(socket, { protocol: 1, request: "status" }, {
      timeoutMs: STATUS_TIMEOUT_MS,
      maxBytes: SOCKET_MESSAGE_MAX_BYTES,
    });
    const response = updaterResponse(answer, "");
    return response.ok ? response.state : null;
  } catch (error) {
    if (error instanceof FleetError) return null;
    throw error;
  }
}
