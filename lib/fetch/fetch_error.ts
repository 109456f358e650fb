/**
 * What can go wrong with a fetch, as typed errors. The only place that reads the runtime's texts.
 *
 * | Code | Class | Meaning |
 * |---|---|---|
 * | `E_FETCH_URL` | policy | the URL is none that may be fetched |
 * | `E_FETCH_REDIRECT` | policy | the server redirects (seed: redirects are disabled) |
 * | `E_FETCH_STATUS` | policy, environment | a status other than 200; see {@link statusError} |
 * | `E_FETCH_ENCODING` | policy | the body is encoded: its bytes would not be the artifact's |
 * | `E_FETCH_TOO_LARGE` | policy | more bytes than the attempt's limit |
 * | `E_FETCH_RANGE` | environment | the server does not have the rest of what is there, or the artifact changed |
 * | `E_FETCH_LOGIN` | policy | the registry gives nothing to those without a login |
 * | `E_FETCH_MANIFEST` | policy | what the registry has under the reference is not the attempt's artifact |
 * | `E_FETCH_CA_FILE` | environment | the CA file of the configuration cannot be used |
 * | `E_FETCH_DNS`, `E_FETCH_CONNECT`, `E_FETCH_TLS` | environment | no connection |
 * | `E_FETCH_TRUNCATED` | environment | the body broke off |
 * | `E_FETCH_TIMEOUT` | environment | a time limit has passed |
 * | `E_FETCH_CANCELED` | environment | the updater is stopping |
 *
 * @module
 */
import { type FailureClass, FleetError, isFleetError, type RetryClass } from "../../contracts/errors.ts";

/** Where a fetch stands, for messages. */
export interface FetchPlace {
  /** The URL without query and fragment: those may hold a secret. */
  readonly shownUrl: string;
  /** What is done with it. Default `fetch` */
  readonly action?: string;
}

/**
 * The URL as it may be shown: without query and fragment, which may hold a signature.
 *
 * @param url A URL
 */
export function shownUrl(url: string): string {
  return url.replace(/[?#].*$/s, "");
}

/**
 * An error of a fetch.
 *
 * @param place What was fetched
 * @param code Its code, with `E_FETCH_`
 * @param problem What is wrong, in words
 * @param failureClass How it is classified
 * @param cause The foreign error
 * @param retry Default: what the failure class says
 */
export function fetchError(
  place: FetchPlace,
  code: string,
  problem: string,
  failureClass: FailureClass,
  cause?: unknown,
  // What the surroundings did may be over the next time; what a rule refuses will not.
  retry: RetryClass = failureClass === "environment" ? "transient" : "permanent",
): FleetError {
  return new FleetError(`Cannot ${place.action ?? "fetch"} ${place.shownUrl}: ${problem}`, {
    code,
    retry,
    failureClass,
    cause,
  });
}

/** Codes of the environment after which the same request again is no use. */
const FINAL_CODES: ReadonlySet<string> = new Set(["E_FETCH_RANGE", "E_FETCH_CANCELED", "E_FETCH_CA_FILE"]);

/**
 * Whether a request that ended so may be repeated within the time of the whole (issue 5): only for faults of the
 * environment, and not where somebody must change something first.
 *
 * @param error What ended it
 */
export function isWorthRepeating(error: unknown): boolean {
  return isFleetError(error) && error.failureClass === "environment" && error.retry === "transient" &&
    !FINAL_CODES.has(error.code);
}

/** Statuses below 500 that say "not now" or that a proxy on the device's way answers with. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([407, 408, 425, 429]);

/**
 * The error of a status that carries no artifact. Whoever is on call fixes the release when there is nothing at the URL
 * or access is denied (`policy`), and looks at servers and the way to them for the rest (`environment`).
 *
 * @param place What was fetched
 * @param status The response's status
 */
export function statusError(place: FetchPlace, status: number): FleetError {
  const passing = status >= 500 || PASSING_STATUSES.has(status);
  return fetchError(
    place,
    "E_FETCH_STATUS",
    `the server answered with status ${status}`,
    passing ? "environment" : "policy",
  );
}

/** The runtime's texts, in the order in which they are looked for: the more telling first. */
const CONNECTION_PROBLEMS: readonly (readonly [
  pattern: RegExp,
  code: string,
  problem: string,
  /** A certificate does not get better within minutes. */
  retry?: "permanent",
])[] = [
  [
    /certificate expired/,
    "E_FETCH_TLS",
    "the server's certificate has expired, or this device's clock is wrong",
    "permanent",
  ],
  [
    /certificate not valid yet/,
    "E_FETCH_TLS",
    "the server's certificate is not valid yet, or this device's clock is wrong",
    "permanent",
  ],
  [/UnknownIssuer/, "E_FETCH_TLS", "no authority that this device trusts issued the server's certificate", "permanent"],
  [
    /CaUsedAsEndEntity/,
    "E_FETCH_TLS",
    "the server's certificate is an authority's own: a server needs one that an authority issued",
    "permanent",
  ],
  [/not valid for name|NotValidForName/, "E_FETCH_TLS", "the server's certificate is for another name", "permanent"],
  [/peer certificate/, "E_FETCH_TLS", "the server's certificate is not valid", "permanent"],
  [/tls|corrupt message|fatal alert|handshake/i, "E_FETCH_TLS", "the server does not speak TLS as it must"],
  [/dns error/, "E_FETCH_DNS", "the name of the host cannot be resolved"],
  [/os error 111/, "E_FETCH_CONNECT", "the connection was refused"],
  [/os error 1(?:01|13)/, "E_FETCH_CONNECT", "there is no route to the host"],
  [/tunnel|proxy/i, "E_FETCH_CONNECT", "the proxy gave no connection"],
];

/**
 * The error of a request that got no response.
 *
 * @param place What was fetched
 * @param error What the runtime threw
 */
export function requestError(place: FetchPlace, error: unknown): FleetError {
  if (error instanceof FleetError) return error;
  const text = foreignText(error);
  if (/Requests to port \d+ are blocked/.test(text)) {
    return fetchError(place, "E_FETCH_URL", "its port is reserved for another protocol", "policy", error);
  }
  // What stands before is the URL, whose words must not decide.
  const said = text.slice(Math.max(0, text.lastIndexOf("client error (")));
  const known = CONNECTION_PROBLEMS.find(([pattern]) => pattern.test(said));
  const [, code, problem, retry] = known ?? [null, "E_FETCH_CONNECT", "the connection broke before a response"];
  return fetchError(place, code, problem, "environment", error, retry);
}

function foreignText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}

/**
 * The error of a body that broke off.
 *
 * @param place What was fetched
 * @param receivedBytes Bytes that came
 * @param totalBytes Bytes that were announced
 * @param error What the runtime threw
 */
export function bodyError(
  place: FetchPlace,
  receivedBytes: number,
  totalBytes: number | undefined,
  error: unknown,
): FleetError {
  if (error instanceof FleetError) return error;
  const of = totalBytes === undefined ? "" : ` of ${totalBytes}`;
  const problem = `the body broke off after ${receivedBytes}${of} bytes`;
  return fetchError(place, "E_FETCH_TRUNCATED", problem, "environment", error);
}
