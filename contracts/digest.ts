/**
 * Digests of documents. The one file of the contracts that reaches a `node:` module: SHA-256 is synchronous there, and
 * the web API's is not, which a pure transition could not wait for.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { canonicalJson } from "./canonical_json.ts";

/**
 * SHA-256 in lower-case hexadecimal.
 *
 * @param data Bytes, or a text that is hashed as UTF-8
 *
 * @example
 * ```ts
 * import { sha256Hex } from "./digest.ts";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
 * ```
 */
export function sha256Hex(data: Uint8Array | string): string {
  return createHash("sha256").update(data).digest("hex");
}

/**
 * Digest of a document: SHA-256 over its canonical JSON, members unknown to this version included (DESIGN 5, Journal).
 *
 * @param value A JSON value
 * @throws {FleetError} `E_CANONICAL` as {@link canonicalJson} does
 *
 * @example
 * ```ts
 * import { canonicalDigest } from "./digest.ts";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(canonicalDigest({ a: 1, b: 2 }), canonicalDigest({ b: 2.0, a: 1 }));
 * ```
 */
export function canonicalDigest(value: unknown): string {
  return sha256Hex(canonicalJson(value));
}
