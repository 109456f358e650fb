/**
 * Fetches artifacts over HTTPS (`Fleet agent upgrades`, Preparation and probe; DESIGN 5, Fetch).
 *
 * One connection at a time over HTTP/1.1, no redirects, no encodings. A transfer that breaks is taken up again within
 * the same request's time. HTTP proxies of the environment are honoured.
 *
 * @module
 */
import { ARTIFACT_MAX_BYTES } from "../../contracts/limits.ts";
import { fetchError, shownUrl } from "./fetch_error.ts";
import type { Fetcher, FetchRequest } from "./fetcher.ts";
import { type FetchOptions, openFetchRun } from "./fetch_run.ts";
import { openResponse } from "./open_response.ts";
import { transfer } from "./transfer.ts";

class HttpsFetcher implements Fetcher {
  readonly schemes = ["https"] as const;
  readonly #options: FetchOptions;

  constructor(options: FetchOptions) {
    this.#options = options;
  }

  async *fetch(request: FetchRequest, signal: AbortSignal): AsyncIterable<Uint8Array> {
    const { url } = request;
    const place = { shownUrl: shownUrl(url) };
    if (!URL.canParse(url) || new URL(url).protocol !== "https:") {
      throw fetchError(place, "E_FETCH_URL", "only https is fetched here", "policy");
    }
    using run = await openFetchRun(place, this.#options, request.timeoutMs, signal);
    yield* transfer({
      run,
      maxBytes: Math.min(request.maxBytes, ARTIFACT_MAX_BYTES),
      offsetBytes: request.offsetBytes ?? 0,
      send: (headers, connection) => openResponse(run, { url, headers }, connection),
      onUnproven: request.onUnproven,
    });
  }
}

/**
 * A fetcher for `https` URLs.
 *
 * @param options Authorities, bounds, clock
 */
export function httpsFetcher(options: FetchOptions = {}): Fetcher {
  return new HttpsFetcher(options);
}
