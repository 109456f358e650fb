/**
 * What the artifact host answers for a path: the whole file, or one of the faults that a network and its servers have.
 *
 * @module
 */

/** How one path is answered. Byte counts are of the body. */
export type ArtifactBehaviour =
  /** The file, with its length. With `etag`, ranges of it are served too. */
  | { readonly kind: "file"; readonly bytes: Uint8Array; readonly etag?: string }
  /** The file in chunks, without a length. */
  | { readonly kind: "chunked"; readonly bytes: Uint8Array }
  /** The length of the whole file, then a broken connection; only the first `times` times if given. */
  | {
    readonly kind: "truncated";
    readonly bytes: Uint8Array;
    readonly afterBytes: number;
    readonly etag?: string;
    readonly times?: number;
  }
  /** Chunks that break off without an end. */
  | { readonly kind: "chunked-truncated"; readonly bytes: Uint8Array }
  /** A length that is not that of the body. */
  | { readonly kind: "wrong-length"; readonly bytes: Uint8Array; readonly contentLength: number }
  /** A body that never ends, as fast as it is read. */
  | { readonly kind: "endless" }
  | { readonly kind: "stall-before-header" }
  | { readonly kind: "stall-in-body"; readonly bytes: Uint8Array; readonly afterBytes: number; readonly etag?: string }
  | { readonly kind: "redirect"; readonly status: 301 | 302 | 303 | 307 | 308; readonly location: string }
  | { readonly kind: "status"; readonly status: number }
  /** The given bytes, marked as encoded. */
  | { readonly kind: "encoded"; readonly encoding: string; readonly bytes: Uint8Array };

/** A response in HTTP/1.1, before it is written. */
export interface PlannedResponse {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  /** What is written after the header. */
  readonly body: readonly Uint8Array[];
  /** What happens then. */
  readonly end: "close" | "stall" | "repeat-body";
}

const CHUNK_BYTES = 64 * 1_024;
const encoder = new TextEncoder();

/** The bytes in the chunks of `Transfer-Encoding: chunked`, with or without the last one. */
function chunked(bytes: Uint8Array, ended: boolean): Uint8Array[] {
  const parts: Uint8Array[] = [];
  for (let from = 0; from < bytes.length; from += CHUNK_BYTES) {
    const part = bytes.subarray(from, from + CHUNK_BYTES);
    parts.push(encoder.encode(`${part.length.toString(16)}\r\n`), part, encoder.encode("\r\n"));
  }
  if (ended) parts.push(encoder.encode("0\r\n\r\n"));
  return parts;
}

function withLength(bytes: Uint8Array, extra: readonly (readonly [string, string])[] = []): PlannedResponse {
  return { status: 200, headers: [["content-length", `${bytes.length}`], ...extra], body: [bytes], end: "close" };
}

/** The file from `from` on, if the client asked for that range of this very file. */
function file(bytes: Uint8Array, etag: string | undefined, request: ReadonlyMap<string, string>): PlannedResponse {
  const validator: readonly (readonly [string, string])[] = etag === undefined ? [] : [["etag", etag]];
  const range = /^bytes=(\d+)-$/.exec(request.get("range") ?? "")?.[1];
  const condition = request.get("if-range");
  if (etag === undefined || range === undefined || (condition !== undefined && condition !== etag)) {
    return withLength(bytes, validator);
  }
  const from = Number(range);
  if (from >= bytes.length) {
    return { status: 416, headers: [["content-range", `bytes */${bytes.length}`]], body: [], end: "close" };
  }
  const part = withLength(bytes.subarray(from), validator);
  const contentRange = ["content-range", `bytes ${from}-${bytes.length - 1}/${bytes.length}`] as const;
  return { ...part, status: 206, headers: [...part.headers, contentRange] };
}

/**
 * The response of a behaviour.
 *
 * @param behaviour How the path is answered
 * @param request Headers of the request, names in lower case
 * @param earlier How often the path has been asked for before
 */
export function planResponse(
  behaviour: ArtifactBehaviour,
  request: ReadonlyMap<string, string>,
  earlier: number,
): PlannedResponse {
  const chunks = [["transfer-encoding", "chunked"]] as const;
  switch (behaviour.kind) {
    case "file":
      return file(behaviour.bytes, behaviour.etag, request);
    case "chunked":
      return { status: 200, headers: chunks, body: chunked(behaviour.bytes, true), end: "close" };
    case "truncated": {
      const whole = file(behaviour.bytes, behaviour.etag, request);
      if (earlier >= (behaviour.times ?? Infinity)) return whole;
      return { ...whole, body: whole.body.map((part) => part.subarray(0, behaviour.afterBytes)) };
    }
    case "chunked-truncated":
      return { status: 200, headers: chunks, body: chunked(behaviour.bytes, false), end: "close" };
    case "wrong-length":
      return {
        ...withLength(behaviour.bytes),
        headers: [["content-length", `${behaviour.contentLength}`]],
      };
    case "endless":
      return { status: 200, headers: chunks, body: chunked(new Uint8Array(CHUNK_BYTES), false), end: "repeat-body" };
    case "stall-before-header":
      return { status: 0, headers: [], body: [], end: "stall" };
    case "stall-in-body": {
      const whole = file(behaviour.bytes, behaviour.etag, request);
      return { ...whole, body: whole.body.map((part) => part.subarray(0, behaviour.afterBytes)), end: "stall" };
    }
    case "redirect":
      return { ...withLength(new Uint8Array()), status: behaviour.status, headers: [["location", behaviour.location]] };
    case "status":
      return { ...withLength(encoder.encode("no\n")), status: behaviour.status };
    case "encoded":
      return withLength(behaviour.bytes, [["content-encoding", behaviour.encoding]]);
  }
}
