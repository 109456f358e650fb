/**
 * Reads one request from a connection: everything until the client shuts down its sending side.
 *
 * @module
 */
import { isFleetError } from "../../contracts/errors.ts";
import { type Clock, withDeadline } from "../../lib/deadline.ts";

/** How reading ended. */
export type ReadOutcome =
  | { readonly kind: "request"; readonly bytes: Uint8Array }
  | { readonly kind: "too-large" }
  | { readonly kind: "late" }
  /** The connection broke: nobody is there to be answered. */
  | { readonly kind: "gone" }
  /** The server is stopping. */
  | { readonly kind: "stopping" };

/** Bounds of one request. */
export interface ReadBounds {
  /** From the beginning of the connection to its half-close. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly clock: Clock;
  /** Ends the reading. */
  readonly signal: AbortSignal;
}

const READ_BYTES = 16 * 1_024;
const LATE = "E_REQUEST_TIMEOUT";

async function collect(conn: Deno.Conn, maxBytes: number): Promise<ReadOutcome> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for (;;) {
    const buffer = new Uint8Array(READ_BYTES);
    let count: number | null;
    try {
      count = await conn.read(buffer);
    } catch {
      return { kind: "gone" };
    }
    if (count === null) break;
    sizeBytes += count;
    if (sizeBytes > maxBytes) return { kind: "too-large" };
    chunks.push(buffer.subarray(0, count));
  }
  const bytes = new Uint8Array(sizeBytes);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return { kind: "request", bytes };
}

/**
 * Reads one request.
 *
 * @param conn The connection; a read of it may still be under way when the outcome is `late` or `stopping`, and ends
 * with the connection
 * @param bounds Time and size
 */
export async function readRequest(conn: Deno.Conn, bounds: ReadBounds): Promise<ReadOutcome> {
  const { timeoutMs, maxBytes, clock, signal } = bounds;
  try {
    return await withDeadline(timeoutMs, "read a request", () => collect(conn, maxBytes), {
      clock,
      signal,
      code: LATE,
    });
  } catch (error) {
    return { kind: isFleetError(error, LATE) ? "late" : "stopping" };
  }
}
