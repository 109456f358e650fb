/**
 * The bytes of an artifact, over as many connections as it takes: request, rules, and the body counted and watched.
 *
 * @module
 */
import { DIGEST_CHUNK_BYTES, FETCH_PROGRESS_MIN_BYTES, FETCH_READ_BYTES } from "../../contracts/limits.ts";
import type { Clock } from "../deadline.ts";
import { bodyError, fetchError } from "./fetch_error.ts";
import { type FetchRun, pauseBeforeRepeat } from "./fetch_run.ts";
import { type AskedFor, type BodyPlan, planBody } from "./response_rules.ts";

/** What is transferred. */
export interface TransferSource {
  readonly run: FetchRun;
  /** Most bytes of the whole artifact. */
  readonly maxBytes: number;
  /** Bytes from its start that are there already. */
  readonly offsetBytes: number;
  /** Sends the request for the bytes with these headers; whoever aborts the connection ends it. */
  send(headers: Readonly<Record<string, string>>, connection: AbortController): Promise<Response>;
  readonly onUnproven: (() => void) | undefined;
}

/** The progress of a transfer, which tells the next connection where to take up. */
interface Transfer extends AskedFor {
  readonly source: TransferSource;
  /** Bytes from the artifact's start that have been yielded or were there before. */
  offsetBytes: number;
  /** Set once a response came that tells which version of the artifact it is. */
  validator: string | undefined;
}

/**
 * Yields the bytes of an artifact, one connection after the other, each taking up where the last one broke.
 *
 * @param source What is transferred
 * @throws {FleetError} `E_FETCH_*`
 */
export async function* transfer(source: TransferSource): AsyncGenerator<Uint8Array, void, void> {
  const { run, maxBytes, offsetBytes } = source;
  const state: Transfer = { source, shownUrl: run.shownUrl, maxBytes, offsetBytes, validator: undefined };
  for (let fruitless = 0;;) {
    const before = state.offsetBytes;
    try {
      yield* transferOnce(state);
      return;
    } catch (error) {
      fruitless = state.offsetBytes - before >= FETCH_PROGRESS_MIN_BYTES ? 0 : fruitless + 1;
      await pauseBeforeRepeat(run, error, fruitless);
    }
  }
}

function rangeHeaders({ offsetBytes, validator }: Transfer): Record<string, string> {
  return {
    ...(offsetBytes === 0 ? {} : { range: `bytes=${offsetBytes}-` }),
    ...(offsetBytes === 0 || validator === undefined ? {} : { "if-range": validator }),
  };
}

/** Reads a body; silence breaks the connection. */
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
 */
async function* transferOnce(state: Transfer): AsyncGenerator<Uint8Array, void, void> {
  const { run: { signal, clock, stallTimeoutMs }, send, onUnproven } = state.source;
  signal.throwIfAborted();
  const connection = new AbortController();
  const onAbort = () => connection.abort(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  const reading = new AbortController();
  try {
    const response = await send(rangeHeaders(state), connection);
    const plan = planBody(state, response.status, response.headers);
    if (state.offsetBytes > 0 && state.validator === undefined) onUnproven?.();
    state.validator = plan.validator;
    if (response.body === null) return;
    const body = new WatchedBody(response.body, clock);
    const stalled = fetchError(state, "E_FETCH_TIMEOUT", `no byte within ${stallTimeoutMs} ms`, "environment");
    void body.watch(stallTimeoutMs, reading.signal, () => connection.abort(stalled));
    yield* counted(state, plan, body);
  } finally {
    reading.abort();
    signal.removeEventListener("abort", onAbort);
    // Closes the connection, so that nothing more is sent than what the sockets hold already.
    connection.abort(fetchError(state, "E_FETCH_CANCELED", "the fetch has ended", "environment"));
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
