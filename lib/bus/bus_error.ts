/**
 * What the client library throws and the server answers, as {@link FleetError}s.
 *
 * @module
 */
import {
  AuthorizationError,
  ClosedConnectionError,
  DrainingConnectionError,
  InvalidArgumentError,
  NoRespondersError,
  PermissionViolationError,
  TimeoutError,
  UserAuthenticationExpiredError,
} from "@nats-io/nats-core/internal";
import { errorText, FleetError, type RetryClass } from "../../contracts/errors.ts";

/** Codes of the errors of a connection (see `port.ts`). */
export type BusErrorCode =
  | "E_BUS_UNREACHABLE"
  | "E_BUS_TIMEOUT"
  | "E_BUS_UNKNOWN_OUTCOME"
  | "E_BUS_AUTH"
  | "E_BUS_FULL"
  | "E_BUS_TOO_LARGE"
  | "E_BUS_KEY"
  | "E_BUS_NO_BUCKET"
  | "E_BUS_BUCKET_CONFLICT"
  | "E_BUS_SNAPSHOT_INCOMPLETE"
  | "E_BUS_REJECTED"
  | "E_BUS_CLOSED";

/** Input that no repetition makes better. */
const PERMANENT: ReadonlySet<BusErrorCode> = new Set([
  "E_BUS_TOO_LARGE",
  "E_BUS_KEY",
  "E_BUS_BUCKET_CONFLICT",
  "E_BUS_CLOSED",
]);

/**
 * An error of the bus.
 *
 * @param code Which
 * @param message One line
 * @param cause What was thrown
 */
export function busError(code: BusErrorCode, message: string, cause?: unknown): FleetError {
  const retry: RetryClass = PERMANENT.has(code) ? "permanent" : "transient";
  return new FleetError(message, { code, retry, failureClass: "environment", cause });
}

/** Whether the library says that the server refused the login. */
export function isLoginRefusal(error: unknown): error is Error {
  return error instanceof AuthorizationError || error instanceof UserAuthenticationExpiredError;
}

/** Whether an error, or one that caused it, is of a class. */
function isCausedBy(error: unknown, kind: new (...args: never[]) => Error): boolean {
  return error instanceof kind || (error instanceof Error && isCausedBy(error.cause, kind));
}

/**
 * What a failed request means.
 *
 * @param error What the library threw
 * @param what What was asked, for the message: "read device-info/device-1"
 * @param isWrite Whether the request changes something: then silence leaves its outcome unknown
 */
export function requestError(error: unknown, what: string, isWrite: boolean): FleetError {
  if (error instanceof FleetError) return error;
  if (isCausedBy(error, PermissionViolationError)) {
    return busError("E_BUS_AUTH", `Cannot ${what}: the server forbids it`, error);
  }
  if (isCausedBy(error, NoRespondersError)) {
    return busError("E_BUS_NO_BUCKET", `Cannot ${what}: there is no such bucket, or no JetStream`, error);
  }
  // The library refuses what is larger than the server takes, before it sends anything.
  if (isCausedBy(error, InvalidArgumentError)) {
    return busError("E_BUS_TOO_LARGE", `Cannot ${what}: it is larger than the server takes`, error);
  }
  if (isCausedBy(error, ClosedConnectionError) || isCausedBy(error, DrainingConnectionError)) {
    return busError("E_BUS_CLOSED", `Cannot ${what}: the connection is closed`, error);
  }
  if (isWrite) return busError("E_BUS_UNKNOWN_OUTCOME", `Cannot ${what}: no answer, it may have happened`, error);
  if (isCausedBy(error, TimeoutError)) return busError("E_BUS_TIMEOUT", `Cannot ${what}: no answer`, error);
  return busError("E_BUS_UNREACHABLE", `Cannot ${what}: ${errorText(error)}`, error);
}

/** The `error` of a JetStream answer. */
export interface ApiError {
  readonly code: number;
  readonly err_code?: number;
  readonly description?: string;
}

/** Error codes of the JetStream API that mean something here. */
export const API_ERROR = {
  streamNotFound: 10_059,
  wrongLastSequence: 10_071,
  messageTooLarge: 10_054,
} as const;

/** Stream or account limits: `insufficient resources`, `maximum bytes exceeded`, memory and storage resources. */
const FULL_CODES: ReadonlySet<number> = new Set([10_023, 10_028, 10_047, 10_077]);

/**
 * What a JetStream error answer means.
 *
 * @param error Its `error` member
 * @param what What was asked
 */
export function apiError(error: ApiError, what: string): FleetError {
  const text = `Cannot ${what}: ${error.description ?? `error ${error.code}`}`;
  const code = error.err_code ?? 0;
  if (code === API_ERROR.streamNotFound) return busError("E_BUS_NO_BUCKET", text);
  if (code === API_ERROR.messageTooLarge) return busError("E_BUS_TOO_LARGE", text);
  if (FULL_CODES.has(code)) return busError("E_BUS_FULL", text);
  return busError("E_BUS_REJECTED", text);
}
