/**
 * One connection of a fetch: request, rules, and the body counted and watched.
 *
 * @module
 */
import { DIGEST_CHUNK_BYTES, FETCH_READ_BYTES } from "../../contracts/limits.ts";
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

/** Reads a body; silence breaks the connection where it can be taken up again. */
class WatchedBody {
  readonly #reader: ReadableStreamBYOBReader;
  // Reading into a buffer of ours costs half of what the runtime's own one per piece does.
  #buffer = new ArrayBuffer(FETCH_READ_BYTES);
  #waitingSinceMs: number | null = null;

  constructor(body: ReadableStream<Uint8Array>, readonly clock: Clock) {
    this.#reader = body.getReader({ mode: "byob" });
  }

  /** The next bytes, at most `maxBytes`, valid until the next call; undefined at the end. */
  async read(maxBytes: number): Promise<Uint8Array | undefined> {
    const view = new Uint8Array(this.#buffer, 0, Math.min(maxBytes, this.#buffer.byteLength));
    this.#waitingSinceMs = this.clock.monotonicMs();
    try {
      const { value, done } = await this.#reader.read(view);
      if (done) return undefined;
      this.#buffer = value.buffer;
      return value;
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

/** Gathers pieces of a few KiB, as they come, into chunks that are worth a system call. */
async function* counted(
  transfer: Transfer,
  plan: BodyPlan,
  body: WatchedBody,
): AsyncGenerator<Uint8Array, void, void> {
  const { maxBytes } = transfer;
  const chunk = new Uint8Array(DIGEST_CHUNK_BYTES);
  let filledBytes = 0;
  let skipBytes = plan.skipBytes;
  let positionBytes = transfer.offsetBytes - skipBytes;
  let broken: { readonly error: unknown } | undefined;
  for (;;) {
    let piece: Uint8Array | undefined;
    try {
      piece = await body.read(chunk.byteLength - filledBytes);
    } catch (error) {
      broken = { error };
    }
    if (piece === undefined) break;
    positionBytes += piece.byteLength;
    if (positionBytes > maxBytes) {
      throw fetchError(transfer, "E_FETCH_TOO_LARGE", `the body has more than ${maxBytes} bytes`, "policy");
    }
    const fresh = piece.subarray(skipBytes);
    skipBytes -= Math.min(skipBytes, piece.byteLength);
    chunk.set(fresh, filledBytes);
    filledBytes += fresh.byteLength;
    if (filledBytes < chunk.byteLength) continue;
    transfer.offsetBytes += filledBytes;
    yield chunk;
    filledBytes = 0;
  }
  // Also what came before a break: the next connection takes up after it.
  if (filledBytes > 0) {
    transfer.offsetBytes += filledBytes;
    yield chunk.subarray(0, filledBytes);
  }
  if (broken !== undefined || (plan.totalBytes !== undefined && positionBytes < plan.totalBytes)) {
    throw bodyError(transfer, positionBytes, plan.totalBytes, broken?.error);
  }
}
