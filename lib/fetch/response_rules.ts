/**
 * What a response must be like to carry an artifact. Pure: looks at status and headers only.
 *
 * @module
 */
import type { FleetError } from "../../contracts/errors.ts";
import { LAST_MODIFIED_SETTLED_MS } from "../../contracts/limits.ts";
import { fetchError, type FetchPlace, statusError } from "./fetch_error.ts";

/** What was asked for. */
export interface AskedFor extends FetchPlace {
  /** Most bytes of the whole artifact. */
  readonly maxBytes: number;
  /** Bytes from its start that are there already. */
  readonly offsetBytes: number;
  /** The validator under which those bytes came, if they came in this fetch. */
  readonly validator: string | undefined;
}

/** What a response's body is. */
export interface BodyPlan {
  /** Bytes at its start that are there already. */
  readonly skipBytes: number;
  /** Bytes of the whole artifact, if announced. */
  readonly totalBytes: number | undefined;
  /** Strong validator with which a broken transfer is taken up again. */
  readonly validator: string | undefined;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** A length as a header gives it; undefined for what is none, which leaves the counting to the reader. */
function lengthOf(text: string | null | undefined): number | undefined {
  return text !== null && text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/**
 * What promises the same bytes (RFC 9110, 8.8): an entity tag that is not weak, or the time of a modification that was
 * over well before the answer.
 */
function validatorOf(headers: Headers): string | undefined {
  if (headers.get("accept-ranges")?.toLowerCase() === "none") return undefined;
  const tag = headers.get("etag");
  if (tag !== null && /^"[\u0021\u0023-\u007e]*"$/.test(tag)) return tag;
  const modified = headers.get("last-modified");
  if (modified === null) return undefined;
  // A comparison with what is no date is false.
  const isSettled = Date.parse(headers.get("date") ?? "") - Date.parse(modified) >= LAST_MODIFIED_SETTLED_MS;
  return isSettled && /^[\w ,:+-]{1,64}$/.test(modified) ? modified : undefined;
}

function limited(asked: AskedFor, totalBytes: number | undefined): number | undefined {
  if (totalBytes === undefined || totalBytes <= asked.maxBytes) return totalBytes;
  const problem = `the server announces ${totalBytes} bytes, the limit is ${asked.maxBytes}`;
  throw fetchError(asked, "E_FETCH_TOO_LARGE", problem, "policy");
}

function changed(asked: AskedFor): FleetError {
  return fetchError(asked, "E_FETCH_RANGE", "the artifact changed while it was fetched", "environment");
}

function restOf(asked: AskedFor, headers: Headers): BodyPlan {
  const range = /^bytes (\d{1,15})-\d{1,15}\/(\d{1,15}|\*)$/.exec(headers.get("content-range") ?? "");
  if (range === null || Number(range[1]) !== asked.offsetBytes) {
    throw fetchError(
      asked,
      "E_FETCH_RANGE",
      `the server sent another part than from byte ${asked.offsetBytes} on`,
      "environment",
    );
  }
  const validator = validatorOf(headers);
  if (asked.validator !== undefined && validator !== undefined && asked.validator !== validator) throw changed(asked);
  return { skipBytes: 0, totalBytes: limited(asked, lengthOf(range[2])), validator: validator ?? asked.validator };
}

/**
 * Checks a response before its body is read.
 *
 * @param asked What was asked for
 * @param status Its status
 * @param headers Its headers
 * @throws {FleetError} `E_FETCH_*`; the body must then not be read
 */
export function planBody(asked: AskedFor, status: number, headers: Headers): BodyPlan {
  if (REDIRECTS.has(status)) {
    throw fetchError(asked, "E_FETCH_REDIRECT", `the server redirects (status ${status})`, "policy");
  }
  if (status === 416 && asked.offsetBytes > 0) {
    const problem = `the server has no bytes after the ${asked.offsetBytes} that are there`;
    throw fetchError(asked, "E_FETCH_RANGE", problem, "environment");
  }
  const encoding = headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
  if ((status === 200 || status === 206) && encoding !== "identity") {
    const problem = "the server sends it encoded, which was not asked for";
    throw fetchError(asked, "E_FETCH_ENCODING", problem, "policy");
  }
  if (status === 206 && asked.offsetBytes > 0) return restOf(asked, headers);
  if (status !== 200) throw statusError(asked, status);
  const validator = validatorOf(headers);
  if (asked.validator !== undefined && asked.validator !== validator) throw changed(asked);
  const totalBytes = limited(asked, lengthOf(headers.get("content-length")));
  if (totalBytes !== undefined && totalBytes < asked.offsetBytes) {
    const problem = `the server has ${totalBytes} bytes, ${asked.offsetBytes} are there`;
    throw fetchError(asked, "E_FETCH_RANGE", problem, "environment");
  }
  return { skipBytes: asked.offsetBytes, totalBytes, validator };
}
