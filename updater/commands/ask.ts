/**
 * How the command line asks the live updater: one exchange, decoded, with a refusal as an error.
 *
 * @module
 */
import type { Decoder } from "../../contracts/codec.ts";
import { FleetError } from "../../contracts/errors.ts";
import { SOCKET_MESSAGE_MAX_BYTES, SOCKET_STATUS_TIMEOUT_MS } from "../../contracts/limits.ts";
import {
  UPDATER_PROTOCOL,
  type UpdaterRefusal,
  updaterResponse,
  type UpdaterState,
} from "../../contracts/updater_protocol.ts";
import { exchange } from "../../lib/unix/exchange.ts";
import { type RepairReport, type RepairRequest, repairResponse } from "../repair/repair_protocol.ts";

async function ask<T>(
  path: string,
  document: Readonly<Record<string, unknown>>,
  decoder: Decoder<T>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<T> {
  const answer = await exchange(path, { protocol: UPDATER_PROTOCOL, ...document }, {
    timeoutMs,
    maxBytes: SOCKET_MESSAGE_MAX_BYTES,
    signal,
  });
  return decoder(answer, "");
}

function refusal({ code, message, failureClass }: UpdaterRefusal): FleetError {
  return new FleetError(message, { code, failureClass });
}

/**
 * The updater's state.
 *
 * @param socket Path of its socket
 * @param signal Abandons the question
 */
export async function askState(socket: string, signal: AbortSignal): Promise<UpdaterState> {
  const answer = await ask(socket, { request: "status" }, updaterResponse, SOCKET_STATUS_TIMEOUT_MS, signal);
  if (!answer.ok) throw refusal(answer.error);
  return answer.state;
}

/**
 * Looks at a device that needs repair, or repairs it.
 *
 * @param socket Path of the repair socket
 * @param request What to do
 * @param timeoutMs For everything together
 * @param signal Abandons the question, not the repair
 */
export async function askRepair(
  socket: string,
  request: RepairRequest,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<RepairReport> {
  const answer = await ask(socket, { ...request }, repairResponse, timeoutMs, signal);
  if (!answer.ok) throw refusal(answer.error);
  return answer.report;
}
