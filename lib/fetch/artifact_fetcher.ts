/**
 * The fetcher of a device: every scheme by the fetcher that takes it.
 *
 * @module
 */
import { fetchError, shownUrl } from "./fetch_error.ts";
import type { Fetcher, FetchRequest } from "./fetcher.ts";
import { httpsFetcher } from "./https_fetcher.ts";
import { ociFetcher, type OciFetcherOptions } from "./oci_fetcher.ts";

/**
 * A fetcher for everything that a device fetches.
 *
 * @param options Architecture, redirects, authorities, bounds, clock
 */
export function artifactFetcher(options: OciFetcherOptions): Fetcher {
  const fetchers = [httpsFetcher(options), ociFetcher(options)];
  return {
    schemes: fetchers.flatMap(({ schemes }) => schemes),
    fetch: (request: FetchRequest, signal: AbortSignal) => {
      const scheme = /^([a-z]+):/.exec(request.url)?.[1] ?? "";
      const fetcher = fetchers.find(({ schemes }) => schemes.includes(scheme));
      if (fetcher !== undefined) return fetcher.fetch(request, signal);
      throw fetchError({ shownUrl: shownUrl(request.url) }, "E_FETCH_URL", "only https and oci are fetched", "policy");
    },
  };
}
