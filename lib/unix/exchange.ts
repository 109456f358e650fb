/**
 * One request and one response over a Unix socket: the client sends a JSON document and half-closes, the server answers
 * with one and closes (docs/wire.md).
 *
 * @module
 */
import { parseJson } from "../../contracts/codec.ts";
import { errorText, FleetError, type RetryClass } from "../../contracts/errors.ts";
import { type Clock, withDeadline } from "../deadline.ts";
import { type ByteReader, readToEnd, writeAll } from "./read_to_end.ts";

/** Bounds of an {@link exchange}. */
export interface ExchangeOptions {
  /** For everything together, in ms. */
  readonly timeoutMs: number;
  /** Most bytes of the request, and of the response. */
  readonly maxBytes: number;
  /** Abandons the exchange; the call then rejects with its reason. */
  readonly signal?: AbortSignal;
  /** Default the machine's. */
  readonly clock?: Clock;
}

function socketError(code: string, message: string, retry: RetryClass, cause?: unknown): FleetError {
  return new FleetError(message, { code, retry, failureClass: "environment", cause });
}

async function connect(path: string): Promise<Deno.UnixConn> {
  try {
    return await Deno.connect({ transport: "unix", path });
  } catch (error) {
    throw socketError("E_SOCKET_UNREACHABLE", `Cannot reach ${path}: ${errorText(error)}`, "transient", error);
  }
}

/** Reads a reset as the end: it follows the answer of a server that closed without reading the whole request. */
function untilReset(connection: Deno.UnixConn): ByteReader {
  return {
    async read(buffer) {
      try {
        return await connection.read(buffer);
      } catch (error) {
        if (error instanceof Deno.errors.ConnectionReset) return null;
        throw error;
      }
    },
  };
}

/**
 * Sends, then reads to the end. A server that refuses early may answer and close before it has read everything: then
 * writing fails, and the answer is there all the same. So a failure counts only when no answer came.
 */
async function converse(
  connection: Deno.UnixConn,
  path: string,
  request: Uint8Array,
  maxBytes: number,
): Promise<Uint8Array> {
  let failure: unknown;
  try {
    await writeAll(connection, request);
    await connection.closeWrite();
  } catch (error) {
    failure = error;
  }
  let response: Uint8Array | null;
  try {
    response = await readToEnd(untilReset(connection), maxBytes);
  } catch (error) {
    throw socketError("E_SOCKET_CLOSED", `Cannot read the answer of ${path}: ${errorText(error)}`, "transient", error);
  }
  if (response === null) {
    throw socketError("E_SOCKET_TOO_LARGE", `The answer of ${path} has more than ${maxBytes} bytes`, "permanent");
  }
  if (response.byteLength === 0) {
    throw socketError("E_SOCKET_CLOSED", `${path} closed the connection without an answer`, "transient", failure);
  }
  return response;
}

/**
 * Sends one document and returns the one that comes back, parsed but not decoded.
 *
 * @param path The socket
 * @param document A JSON value
 * @param options Time and size
 * @throws {FleetError} `E_SOCKET_UNREACHABLE` when nobody listens or access is refused; `E_SOCKET_TIMEOUT`;
 * `E_SOCKET_TOO_LARGE` for a request or response over the limit; `E_SOCKET_CLOSED` when the server ends without a whole
 * answer; all of class `environment`, and transient but for `E_SOCKET_TOO_LARGE`
 */
export async function exchange(path: string, document: unknown, options: ExchangeOptions): Promise<unknown> {
  const { timeoutMs, maxBytes, signal, clock } = options;
  const request = new TextEncoder().encode(JSON.stringify(document));
  if (request.byteLength > maxBytes) {
    const message = `The request to ${path} has ${request.byteLength} bytes, at most ${maxBytes}`;
    throw socketError("E_SOCKET_TOO_LARGE", message, "permanent");
  }
  const response = await withDeadline(
    timeoutMs,
    `get an answer of ${path}`,
    async (ending) => {
      using connection = await connect(path);
      // Closing is what ends a read or write that is under way.
      const onEnd = () => closeQuietly(connection);
      ending.addEventListener("abort", onEnd, { once: true });
      try {
        ending.throwIfAborted();
        return await converse(connection, path, request, maxBytes);
      } finally {
        ending.removeEventListener("abort", onEnd);
      }
    },
    {
      code: "E_SOCKET_TIMEOUT",
      ...(signal === undefined ? {} : { signal }),
      ...(clock === undefined ? {} : { clock }),
    },
  );
  try {
    return parseJson(response, { maxBytes });
  } catch (error) {
    const message = `The answer of ${path} is not a whole JSON document: ${errorText(error)}`;
    throw socketError("E_SOCKET_CLOSED", message, "transient", error);
  }
}

function closeQuietly(connection: Deno.UnixConn): void {
  try {
    connection.close();
  } catch {
    // Closed already.
  }
}
