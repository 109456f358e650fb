/**
 * A fetcher that yields what a test put behind each URL.
 *
 * @module
 */
import { FleetError } from "../../contracts/errors.ts";
import type { Fetcher, FetchRequest } from "../../updater/ports.ts";

/** What is behind a URL: bytes, or the error that ends the fetch after them. */
export interface FakeArtifact {
  readonly bytes: Uint8Array;
  readonly error?: FleetError;
  /** Bytes of one chunk. @default all of them */
  readonly chunkBytes?: number;
}

/** A fetcher that yields what a test put behind each URL. */
export class FakeFetcher implements Fetcher {
  readonly schemes: readonly string[] = ["https"];
  /** What is behind each URL. */
  readonly artifacts = new Map<string, FakeArtifact>();
  /** Every request so far. */
  readonly requests: FetchRequest[] = [];

  async *fetch(request: FetchRequest, signal: AbortSignal): AsyncIterable<Uint8Array> {
    this.requests.push(request);
    const artifact = this.artifacts.get(request.url);
    if (artifact === undefined) throw fault("E_FETCH_STATUS", `nothing is at ${request.url}`, "policy");
    const { bytes, error, chunkBytes = Math.max(1, bytes.byteLength) } = artifact;
    for (let at = request.offsetBytes ?? 0; at < bytes.byteLength; at += chunkBytes) {
      if (signal.aborted) throw fault("E_FETCH_CANCELED", "the fetch was canceled", "environment");
      const chunk = bytes.subarray(at, at + chunkBytes);
      if (at + chunk.byteLength > request.maxBytes) {
        throw fault("E_FETCH_TOO_LARGE", `the body has more than ${request.maxBytes} bytes`, "policy");
      }
      yield chunk;
    }
    if (error !== undefined) throw error;
  }
}

function fault(code: string, message: string, failureClass: "policy" | "environment"): FleetError {
  return new FleetError(message, { code, failureClass, retry: failureClass === "policy" ? "permanent" : "transient" });
}
