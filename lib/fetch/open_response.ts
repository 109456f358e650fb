/**
 * One request up to its response's header, and small documents whole.
 *
 * @module
 */
import { withDeadline } from "../deadline.ts";
import { bodyError, fetchError, type FetchPlace, requestError } from "./fetch_error.ts";
import type { FetchRun } from "./fetch_run.ts";

/** What is asked of a server. */
export interface ServerRequest {
  readonly url: string;
  /** Default `GET` */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer>;
  /** Time until the response's header, in ms. Default that of the fetch */
  readonly timeoutMs?: number;
}

/**
 * Sends a request and waits for the response's header. Redirects are not followed and encodings not asked for.
 *
 * @param run The fetch
 * @param request What is asked
 * @param connection Aborted when the header is late; whoever aborts it ends the connection
 * @throws {FleetError} `E_FETCH_*`
 */
export async function openResponse(
  run: FetchRun,
  request: ServerRequest,
  connection: AbortController,
): Promise<Response> {
  const { url, method = "GET", headers = {}, body, timeoutMs = run.connectTimeoutMs } = request;
  const late = fetchError(run, "E_FETCH_TIMEOUT", `no response within ${timeoutMs} ms`, "environment");
  try {
    return await withDeadline(timeoutMs, "get a response", (signal) => {
      signal.addEventListener("abort", () => connection.abort(late), { once: true });
      return fetch(url, {
        client: run.client,
        method,
        redirect: "manual",
        // Without this header the runtime asks for gzip and brotli, and decodes what it gets.
        headers: { "accept-encoding": "identity", "user-agent": run.userAgent, ...headers },
        signal: connection.signal,
        ...(body === undefined ? {} : { body }),
      });
    }, { clock: run.clock });
  } catch (error) {
    if (connection.signal.aborted) throw connection.signal.reason;
    throw requestError(run, error);
  }
}

/** An answer that is held in memory. */
export interface WholeResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/**
 * Sends a request and reads a small answer whole, within the time that a transfer may be silent.
 *
 * @param run The fetch
 * @param request What is asked
 * @param maxBytes Most bytes of the answer
 * @throws {FleetError} `E_FETCH_*`; `E_FETCH_MANIFEST` for an answer that is larger or encoded
 */
export async function requestWhole(run: FetchRun, request: ServerRequest, maxBytes: number): Promise<WholeResponse> {
  run.signal.throwIfAborted();
  const connection = new AbortController();
  const onAbort = () => connection.abort(run.signal.reason);
  run.signal.addEventListener("abort", onAbort, { once: true });
  try {
    const response = await openResponse(run, request, connection);
    const late = fetchError(run, "E_FETCH_TIMEOUT", `no answer within ${run.stallTimeoutMs} ms`, "environment");
    const bytes = await withDeadline(run.stallTimeoutMs, "read an answer", (signal) => {
      signal.addEventListener("abort", () => connection.abort(late), { once: true });
      return readWhole(run, response, maxBytes);
    }, { clock: run.clock }).catch((error) => {
      throw connection.signal.aborted ? connection.signal.reason : error;
    });
    return { status: response.status, headers: response.headers, bytes };
  } finally {
    run.signal.removeEventListener("abort", onAbort);
    connection.abort(fetchError(run, "E_FETCH_CANCELED", "the fetch has ended", "environment"));
  }
}

async function readWhole(place: FetchPlace, response: Response, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const encoding = response.headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
  if (encoding !== "identity") {
    throw fetchError(place, "E_FETCH_ENCODING", "the server sends it encoded, which was not asked for", "policy");
  }
  const announced = Number(response.headers.get("content-length") ?? 0);
  const tooLarge = () => fetchError(place, "E_FETCH_MANIFEST", `the answer has more than ${maxBytes} bytes`, "policy");
  // The answer to HEAD announces what GET would bring, and brings nothing.
  if (response.body !== null && announced > maxBytes) throw tooLarge();
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let sizeBytes = 0;
  try {
    for await (const chunk of response.body ?? []) {
      sizeBytes += chunk.byteLength;
      if (sizeBytes > maxBytes) throw tooLarge();
      chunks.push(chunk);
    }
  } catch (error) {
    throw bodyError(place, sizeBytes, undefined, error);
  }
  const whole = new Uint8Array(sizeBytes);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}
