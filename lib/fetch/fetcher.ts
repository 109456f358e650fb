/**
 * The port through which artifacts come.
 *
 * @module
 */

/** What a fetch delivers. */
export interface FetchRequest {
  readonly url: string;
  readonly maxBytes: number;
  readonly sha256: string;
  /** Bytes from the start that are there already, and are left out. Default 0 */
  readonly offsetBytes?: number;
  /** Lowered bound of the whole request, in ms. Default that of the fetcher */
  readonly timeoutMs?: number;
  /**
   * Told when bytes were put together that nothing but the digest of the whole proves to belong together: the server
   * gave nothing that tells one version of the artifact from another.
   */
  readonly onUnproven?: () => void;
}

/** Fetches an artifact. */
export interface Fetcher {
  /** URL schemes that it takes, without colon; they are the updater's capabilities. */
  readonly schemes: readonly string[];
  /**
   * Yields the artifact's bytes in order, in chunks; a chunk is valid until the next is asked for. It enforces time
   * limits, redirects and sizes; the digest is checked by who writes the bytes. Stopping the iteration ends the request.
   *
   * @throws {FleetError} with the failure class `environment` for the network, `policy` for what a rule refuses
   */
  fetch(request: FetchRequest, signal: AbortSignal): AsyncIterable<Uint8Array>;
}
