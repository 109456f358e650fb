/**
 * Fetches artifacts over HTTPS (`Fleet agent upgrades`, Preparation and probe; DESIGN 5, Fetch).
 *
 * One connection at a time over HTTP/1.1, no redirects, no encodings. A transfer that breaks is taken up again within
 * the same request's time where the server gave a strong entity tag. HTTP proxies of the environment are honoured.
 *
 * @module
 */
import { isFleetError } from "../../contracts/errors.ts";
import {
  ARTIFACT_MAX_BYTES,
  CA_BUNDLE_MAX_BYTES,
  FETCH_RESUME_MAX_MS,
  FETCH_RESUME_MIN_MS,
  FETCH_RESUMES_MAX,
  FETCH_STALL_TIMEOUT_MS,
  HTTPS_CONNECT_TIMEOUT_MS,
  HTTPS_REQUEST_TIMEOUT_MS,
} from "../../contracts/limits.ts";
import { backoffMs, type Clock, systemClock } from "../../lib/deadline.ts";
import { osFileSystem } from "../../lib/durable/os_file_system.ts";
import { loweredBound } from "../lowered_bound.ts";
import type { Fetcher, FetchRequest } from "../ports.ts";
import { fetchError, type FetchPlace, shownUrl } from "./fetch_error.ts";
import { type Transfer, transferOnce } from "./transfer.ts";

/** Bounds of a fetch; each can be lowered below its limit only. */
export interface FetchBounds {
  /** Until the response's header, in ms. */
  readonly connectTimeoutMs?: number;
  /** The whole request, in ms. */
  readonly requestTimeoutMs?: number;
  /** Silence after which a transfer is taken up again, in ms. */
  readonly stallTimeoutMs?: number;
  /** Ceiling of the first pause before that, in ms. */
  readonly resumeMinMs?: number;
}

/** Options of {@link httpsFetcher}. */
export interface HttpsFetcherOptions {
  /** PEM file with authorities that are trusted beside the built-in ones; read for each fetch. */
  readonly caFile?: string;
  readonly bounds?: FetchBounds;
  /** Default {@link systemClock} */
  readonly clock?: Clock;
}

async function readAuthorities(place: FetchPlace, caFile: string | undefined): Promise<string[]> {
  if (caFile === undefined) return [];
  const unusable = (problem: string, cause?: unknown) =>
    fetchError(place, "E_FETCH_CA_FILE", `the CA file ${caFile} ${problem}`, "environment", cause);
  let bytes: Uint8Array | null;
  try {
    bytes = await osFileSystem.readFile(caFile, CA_BUNDLE_MAX_BYTES);
  } catch (error) {
    throw unusable("cannot be read", error);
  }
  if (bytes === null) throw unusable("is not there");
  const pem = new TextDecoder().decode(bytes);
  // The runtime takes a file without any and then trusts the built-in authorities alone.
  if (!pem.includes("-----BEGIN CERTIFICATE-----")) throw unusable("holds no certificate");
  return [pem];
}

async function openClient(place: FetchPlace, caFile: string | undefined): Promise<Deno.HttpClient> {
  const caCerts = await readAuthorities(place, caFile);
  try {
    // A flow-control window of HTTP/2 would let megabytes arrive that an aborted fetch throws away.
    return Deno.createHttpClient({ caCerts, http2: false });
  } catch (error) {
    throw fetchError(
      place,
      "E_FETCH_CA_FILE",
      `the CA file ${caFile} holds no valid certificate`,
      "environment",
      error,
    );
  }
}

/** Whether a transfer that ended so may be taken up again. */
function isBroken(error: unknown): boolean {
  return isFleetError(error) && error.failureClass === "environment" && error.code !== "E_FETCH_RANGE" &&
    error.code !== "E_FETCH_CANCELED";
}

class HttpsFetcher implements Fetcher {
  readonly schemes = ["https"] as const;
  readonly #options: HttpsFetcherOptions;
  readonly #clock: Clock;

  constructor(options: HttpsFetcherOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  async *fetch(request: FetchRequest, signal: AbortSignal): AsyncIterable<Uint8Array> {
    const place = { shownUrl: shownUrl(request.url) };
    if (!URL.canParse(request.url) || new URL(request.url).protocol !== "https:") {
      throw fetchError(place, "E_FETCH_URL", "only https is fetched here", "policy");
    }
    const { bounds = {} } = this.#options;
    const requestTimeoutMs = loweredBound(
      loweredBound(HTTPS_REQUEST_TIMEOUT_MS, bounds.requestTimeoutMs),
      request.timeoutMs,
    );
    const budget = new AbortController();
    const done = new AbortController();
    const cancel = () =>
      budget.abort(fetchError(place, "E_FETCH_CANCELED", "the updater is stopping", "environment", signal.reason));
    if (signal.aborted) cancel();
    signal.addEventListener("abort", cancel, { once: true });
    this.#clock.sleep(requestTimeoutMs, done.signal).then(() => {
      budget.abort(fetchError(place, "E_FETCH_TIMEOUT", `not done within ${requestTimeoutMs} ms`, "environment"));
    }, () => {});
    let client: Deno.HttpClient | undefined;
    try {
      client = await openClient(place, this.#options.caFile);
      yield* this.#transfer(
        {
          ...place,
          url: request.url,
          client,
          clock: this.#clock,
          maxBytes: Math.min(request.maxBytes, ARTIFACT_MAX_BYTES),
          connectTimeoutMs: loweredBound(HTTPS_CONNECT_TIMEOUT_MS, bounds.connectTimeoutMs),
          stallTimeoutMs: loweredBound(FETCH_STALL_TIMEOUT_MS, bounds.stallTimeoutMs),
          signal: budget.signal,
          offsetBytes: request.offsetBytes ?? 0,
          validator: undefined,
        },
        loweredBound(FETCH_RESUME_MIN_MS, bounds.resumeMinMs),
      );
    } finally {
      signal.removeEventListener("abort", cancel);
      done.abort();
      client?.close();
    }
  }

  /** Yields the bytes of one connection after the other, each taking up where the last one broke. */
  async *#transfer(transfer: Transfer, resumeMinMs: number): AsyncIterable<Uint8Array> {
    for (let resumes = 0;; resumes++) {
      try {
        yield* transferOnce(transfer);
        return;
      } catch (error) {
        transfer.signal.throwIfAborted();
        if (transfer.validator === undefined || resumes >= FETCH_RESUMES_MAX || !isBroken(error)) throw error;
        const pauseMs = backoffMs(resumes, { minMs: resumeMinMs, maxMs: FETCH_RESUME_MAX_MS });
        await this.#clock.sleep(pauseMs, transfer.signal);
      }
    }
  }
}

/**
 * A fetcher for `https` URLs.
 *
 * @param options Authorities, bounds, clock
 */
export function httpsFetcher(options: HttpsFetcherOptions = {}): Fetcher {
  return new HttpsFetcher(options);
}
