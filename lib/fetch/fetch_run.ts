/**
 * What one fetch has from its beginning to its end: a client, a time for the whole, and pauses between tries.
 *
 * @module
 */
import {
  CA_BUNDLE_MAX_BYTES,
  FETCH_RESUME_MAX_MS,
  FETCH_RESUME_MIN_MS,
  FETCH_RESUMES_MAX,
  FETCH_STALL_TIMEOUT_MS,
  HTTPS_CONNECT_TIMEOUT_MS,
  HTTPS_REQUEST_TIMEOUT_MS,
} from "../../contracts/limits.ts";
import { backoffMs, type Clock, systemClock } from "../deadline.ts";
import { osFileSystem } from "../durable/os_file_system.ts";
import { loweredBound } from "../lowered_bound.ts";
import { fetchError, type FetchPlace, isWorthRepeating } from "./fetch_error.ts";

/** Bounds of a fetch; each can be lowered below its limit only. */
export interface FetchBounds {
  /** Until a response's header, in ms. */
  readonly connectTimeoutMs?: number;
  /** The whole request, in ms. */
  readonly requestTimeoutMs?: number;
  /** Silence after which a transfer is taken up again, in ms. */
  readonly stallTimeoutMs?: number;
  /** Ceiling of the first pause before that, in ms. */
  readonly resumeMinMs?: number;
  /** Ceiling of the longest such pause, in ms. */
  readonly resumeMaxMs?: number;
}

/** Options of every fetcher. */
export interface FetchOptions {
  /** PEM file with authorities that are trusted beside the built-in ones; read for each fetch. */
  readonly caFile?: string;
  readonly bounds?: FetchBounds;
  /** Default {@link systemClock} */
  readonly clock?: Clock;
  /** Limit of the whole, in ms. Default the specification's for a device */
  readonly limitMs?: number;
  /** How servers see who asks. Default `harmony-fleet-updater` */
  readonly userAgent?: string;
}

/** A fetch under way. */
export interface FetchRun extends FetchPlace {
  readonly client: Deno.HttpClient;
  readonly clock: Clock;
  readonly userAgent: string;
  readonly connectTimeoutMs: number;
  readonly stallTimeoutMs: number;
  readonly resumeMinMs: number;
  readonly resumeMaxMs: number;
  /** Ends the fetch; its reason is the error that the fetch then throws. */
  readonly signal: AbortSignal;
}

const CERTIFICATE_BEGIN = "-----BEGIN CERTIFICATE-----";

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
  // One by one: of files that were put together without a line feed between them the runtime sees the first alone.
  const [, ...certificates] = new TextDecoder().decode(bytes).split(CERTIFICATE_BEGIN);
  // Of a file without any it says nothing, and then trusts the built-in authorities alone.
  if (certificates.length === 0) throw unusable("holds no certificate");
  return certificates.map((rest) => CERTIFICATE_BEGIN + rest);
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

/**
 * Begins a fetch. Proxies are those of the environment at this moment.
 *
 * @param place What is fetched
 * @param options Authorities, bounds, clock
 * @param timeoutMs Lowered bound of the whole, in ms
 * @param signal Ends the fetch early
 * @returns the fetch; disposing of it ends it
 * @throws {FleetError} `E_FETCH_CA_FILE`, `E_FETCH_CANCELED`
 */
export async function openFetchRun(
  place: FetchPlace,
  options: FetchOptions,
  timeoutMs: number | undefined,
  signal: AbortSignal,
): Promise<FetchRun & Disposable> {
  const { bounds = {}, clock = systemClock, userAgent = "harmony-fleet-updater" } = options;
  const { limitMs = HTTPS_REQUEST_TIMEOUT_MS } = options;
  const requestTimeoutMs = loweredBound(loweredBound(limitMs, bounds.requestTimeoutMs), timeoutMs);
  const budget = new AbortController();
  const done = new AbortController();
  const cancel = () =>
    budget.abort(fetchError(place, "E_FETCH_CANCELED", "the updater is stopping", "environment", signal.reason));
  if (signal.aborted) cancel();
  signal.addEventListener("abort", cancel, { once: true });
  clock.sleep(requestTimeoutMs, done.signal).then(() => {
    budget.abort(fetchError(place, "E_FETCH_TIMEOUT", `not done within ${requestTimeoutMs} ms`, "environment"));
  }, () => {});
  const release = () => {
    signal.removeEventListener("abort", cancel);
    done.abort();
  };
  try {
    const client = await openClient(place, options.caFile);
    return {
      ...place,
      client,
      clock,
      userAgent,
      connectTimeoutMs: loweredBound(HTTPS_CONNECT_TIMEOUT_MS, bounds.connectTimeoutMs),
      stallTimeoutMs: loweredBound(FETCH_STALL_TIMEOUT_MS, bounds.stallTimeoutMs),
      resumeMinMs: loweredBound(FETCH_RESUME_MIN_MS, bounds.resumeMinMs),
      resumeMaxMs: loweredBound(FETCH_RESUME_MAX_MS, bounds.resumeMaxMs),
      signal: budget.signal,
      [Symbol.dispose]: () => {
        release();
        client.close();
      },
    };
  } catch (error) {
    release();
    throw error;
  }
}

/**
 * Waits before a try is repeated; throws its error where it may not be.
 *
 * @param run The fetch
 * @param error What ended the try
 * @param fruitless How many tries in a row have ended without progress, this one included; 0 for one with progress
 * @throws what ended the try, or the reason of the fetch's end
 */
export async function pauseBeforeRepeat(run: FetchRun, error: unknown, fruitless: number): Promise<void> {
  run.signal.throwIfAborted();
  if (fruitless > FETCH_RESUMES_MAX || !isWorthRepeating(error)) throw error;
  const ceilings = { minMs: run.resumeMinMs, maxMs: Math.max(run.resumeMinMs, run.resumeMaxMs) };
  await run.clock.sleep(backoffMs(Math.max(0, fruitless - 1), ceilings), run.signal);
}

/**
 * Repeats a request until it succeeds, as often as the environment may fail.
 *
 * @param run The fetch
 * @param work One try
 */
export async function repeated<T>(run: FetchRun, work: () => Promise<T>): Promise<T> {
  for (let fruitless = 1;; fruitless++) {
    try {
      return await work();
    } catch (error) {
      await pauseBeforeRepeat(run, error, fruitless);
    }
  }
}
