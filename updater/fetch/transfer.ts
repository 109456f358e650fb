/**
 * One connection of a fetch: request, rules, and the body counted and watched.
 *
 * @module
 */
import { type Clock, withDeadline } from "../../lib/deadline.ts";
import { bodyError, fetchError, requestError } from "./fetch_error.ts";
import { type AskedFor, type BodyPlan, planBody } from "./response_rules.ts";

/** A fetch under way. The progress in it tells the next connection where to take up. */
export interface Transfer extends AskedFor {
  readonly url: string;
  readonly client: Deno.HttpClient;
  readonly clock: Clock;
  readonly connectTimeoutMs: number;
  readonly stallTimeoutMs: number;
  /** Ends the fetch; its reason is the error that the fetch then throws. */
  readonly signal: AbortSignal;
  /** Bytes from the artifact's start that have been yielded or were there before. */
  offsetBytes: number;
  /** Set once a response came that can be taken up again. */
  validator: string | undefined;
}

function requestHeaders({ offsetBytes, validator }: Transfer): Record<string, string> {
  return {
    // Without this header the runtime asks for gzip and brotli, and decodes what it gets.
    "accept-encoding": "identity",
    "user-agent": "harmony-fleet-updater",
    ...(offsetBytes === 0 ? {} : { range: `bytes=${offsetBytes}-` }),
    ...(offsetBytes === 0 || validator === undefined ? {} : { "if-range": validator }),
  };
}

/** Sends the request and waits for the response's header. */
async function open(transfer: Transfer, connection: AbortController): Promise<Response> {
  const { url, client, clock, connectTimeoutMs } = transfer;
  const late = fetchError(transfer, "E_FETCH_TIMEOUT", `no response within ${connectTimeoutMs} ms`, "environment");
  try {
    return await withDeadline(connectTimeoutMs, "get a response", (signal) => {
      signal.addEventListener("abort", () => connection.abort(late), { once: true });
      return fetch(url, {
        client,
        redirect: "manual",
        headers: requestHeaders(transfer),
        signal: connection.signal,
      });
    }, { clock });
  } catch (error) {
    if (connection.signal.aborted) throw connection.signal.reason;
    throw requestError(transfer, error);
  }
}

/** Reads a body chunk by chunk; silence breaks the connection where it can be taken up again. */
class WatchedBody {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #waitingSinceMs: number | null = null;

  constructor(body: ReadableStream<Uint8Array>, readonly clock: Clock) {
    this.#reader = body.getReader();
  }

  async read(): Promise<Uint8Array | undefined> {
    this.#waitingSinceMs = this.clock.monotonicMs();
    try {
      return (await this.#reader.read()).value;
    } finally {
      // The reader's own pauses, such as a slow disk, are no silence of the server.
      this.#waitingSinceMs = null;
    }
  }

  /** Aborts the connection once a read has waited for too long; ends with `signal`. */
  async watch(timeoutMs: number, signal: AbortSignal, onStall: () => void): Promise<void> {
    try {
      for (;;) {
        const waitedMs = this.#waitingSinceMs === null ? 0 : this.clock.monotonicMs() - this.#waitingSinceMs;
        if (waitedMs >= timeoutMs) return onStall();
        await this.clock.sleep(timeoutMs - waitedMs, signal);
      }
    } catch {
      // The body has ended.
    }
  }
}

/**
 * Yields the rest of the artifact over one connection. `offsetBytes` and `validator` of the transfer follow what has
 * been yielded, also when it throws.
 *
 * @param transfer The fetch
 * @throws {FleetError} `E_FETCH_*`, or the reason of the transfer's signal
 */
export async function* transferOnce(transfer: Transfer): AsyncGenerator<Uint8Array, void, void> {
  const { signal, clock, stallTimeoutMs } = transfer;
  signal.throwIfAborted();
  const connection = new AbortController();
  const onAbort = () => connection.abort(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  const reading = new AbortController();
  let plan: BodyPlan | undefined;
  try {
    const response = await open(transfer, connection);
    plan = planBody(transfer, response.status, response.headers);
    transfer.validator = plan.validator;
    if (response.body === null) return;
    const body = new WatchedBody(response.body, clock);
    if (plan.validator !== undefined) {
      const stalled = fetchError(transfer, "E_FETCH_TIMEOUT", `no byte within ${stallTimeoutMs} ms`, "environment");
      void body.watch(stallTimeoutMs, reading.signal, () => connection.abort(stalled));
    }
    yield* counted(transfer, plan, body);
  } finally {
    reading.abort();
    signal.removeEventListener("abort", onAbort);
    // Closes the connection, so that nothing more is sent than what the sockets hold already.
    connection.abort(fetchError(transfer, "E_FETCH_CANCELED", "the fetch has ended", "environment"));
  }
}

async function* counted(
  transfer: Transfer,
  plan: BodyPlan,
  body: WatchedBody,
): AsyncGenerator<Uint8Array, void, void> {
  const { maxBytes } = transfer;
  let positionBytes = transfer.offsetBytes - plan.skipBytes;
  for (;;) {
    let chunk: Uint8Array | undefined;
    try {
      chunk = await body.read();
    } catch (error) {
      throw bodyError(transfer, positionBytes, plan.totalBytes, error);
    }
    if (chunk === undefined) break;
    const isNew = Math.max(0, transfer.offsetBytes - positionBytes);
    positionBytes += chunk.byteLength;
    if (positionBytes > maxBytes) {
      throw fetchError(transfer, "E_FETCH_TOO_LARGE", `the body has more than ${maxBytes} bytes`, "policy");
    }
    if (isNew >= chunk.byteLength) continue;
    transfer.offsetBytes = positionBytes;
    yield chunk.subarray(isNew);
  }
  if (plan.totalBytes !== undefined && positionBytes < plan.totalBytes) {
    throw bodyError(transfer, positionBytes, plan.totalBytes, undefined);
  }
}
