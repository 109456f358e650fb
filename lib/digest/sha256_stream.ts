/**
 * SHA-256 of what passes by, counted and bounded.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { FleetError } from "../../contracts/errors.ts";
import type { FileSystem } from "../durable/file_system.ts";

/**
 * SHA-256 of a stream of chunks, with a limit on their bytes.
 *
 * @example
 * ```ts
 * import { Sha256Stream } from "./sha256_stream.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const digest = new Sha256Stream(3);
 * digest.update(new TextEncoder().encode("abc"));
 * assertEquals(digest.hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
 * ```
 */
export class Sha256Stream {
  // The runtime's node:crypto is the fastest it has, and as fast as openssl where the machine has SHA instructions.
  readonly #hash = createHash("sha256");
  readonly #maxBytes: number;
  #sizeBytes = 0;

  /**
   * Begins a digest.
   *
   * @param maxBytes Most bytes of all chunks together
   */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes so far. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /**
   * Takes the next chunk. A chunk of 1 MiB holds up the event loop for about a millisecond; larger ones should be cut.
   *
   * @param chunk The chunk; not kept
   * @throws {FleetError} `E_BYTE_LIMIT` (`policy`) when it passes the limit; it is then not part of the digest
   */
  update(chunk: Uint8Array): void {
    const sizeBytes = this.#sizeBytes + chunk.byteLength;
    if (sizeBytes > this.#maxBytes) {
      throw new FleetError(`Cannot accept more than ${this.#maxBytes} bytes: at least ${sizeBytes} came`, {
        code: "E_BYTE_LIMIT",
        failureClass: "policy",
      });
    }
    this.#sizeBytes = sizeBytes;
    this.#hash.update(chunk);
  }

  /** The digest in lower-case hexadecimal of what has come so far; more may follow. */
  hex(): string {
    return this.#hash.copy().digest("hex");
  }
}

/** Bounds of {@link digestFile}. */
export interface DigestBounds {
  /** Most bytes of the file. */
  readonly maxBytes: number;
  /** Ends the reading; the call then rejects with its reason. */
  readonly signal?: AbortSignal;
}

/** A file's digest and size. */
export interface FileDigest {
  /** Lower-case hexadecimal. */
  readonly sha256: string;
  /** Bytes that were read. */
  readonly sizeBytes: number;
}

/**
 * SHA-256 of a file, read in chunks of 1 MiB between which other work runs.
 *
 * @param fs The file system
 * @param path The file; links are followed
 * @param bounds Most bytes, and a signal
 * @returns null when there is no file
 * @throws {FleetError} `E_BYTE_LIMIT`, or `E_FS_*`
 */
export async function digestFile(fs: FileSystem, path: string, bounds: DigestBounds): Promise<FileDigest | null> {
  bounds.signal?.throwIfAborted();
  const chunks = await fs.readChunks(path);
  if (chunks === null) return null;
  const digest = new Sha256Stream(bounds.maxBytes);
  for await (const chunk of chunks) {
    bounds.signal?.throwIfAborted();
    digest.update(chunk);
  }
  return { sha256: digest.hex(), sizeBytes: digest.sizeBytes };
}
