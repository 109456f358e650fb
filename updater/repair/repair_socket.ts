/**
 * The root-only repair socket.
 *
 * @module
 */
import { decodeBytes } from "../../contracts/codec.ts";
import { errorText, isFleetError } from "../../contracts/errors.ts";
import { bounded } from "../../contracts/formats.ts";
import { SOCKET_MESSAGE_MAX_BYTES } from "../../contracts/limits.ts";
import { UPDATER_PROTOCOL, type UpdaterErrorCode } from "../../contracts/updater_protocol.ts";
import type { Logger } from "../../lib/log.ts";
import { refuse } from "../core/admission.ts";
import { type RequestServer, type ResponseDocument, serveRequests } from "../socket/request_server.ts";
import { repairRequest, type RepairResponse } from "./repair_protocol.ts";
import type { RepairService } from "./repair_service.ts";

/** Only the owner may connect: whoever can write to the socket can choose the device's agent. */
const SOCKET_MODE = 0o600;

function document(response: RepairResponse): ResponseDocument {
  return { protocol: UPDATER_PROTOCOL, ...response };
}

function refusal(code: UpdaterErrorCode, message: string): ResponseDocument {
  return document({ ok: false, error: refuse(code, bounded(message)) });
}

/**
 * Creates the repair socket and serves it until the signal aborts.
 *
 * @param path Where
 * @param service What answers
 * @param log Log
 * @param signal Ends the server
 */
export function serveRepairSocket(
  path: string,
  service: RepairService,
  log: Logger,
  signal: AbortSignal,
): RequestServer {
  return serveRequests({
    path,
    mode: SOCKET_MODE,
    log,
    signal,
    refuse: refusal,
    answer: async (bytes) => {
      try {
        return document(await service.handle(decodeBytes(repairRequest, bytes, SOCKET_MESSAGE_MAX_BYTES)));
      } catch (error) {
        if (isFleetError(error, "E_DECODE")) return refusal("E_REQUEST_INVALID", errorText(error));
        throw error;
      }
    },
  });
}
