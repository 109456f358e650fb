/**
 * The largest artifact that there is: a file of random bytes, which no file system and no link compresses.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { ARTIFACT_MAX_BYTES } from "../contracts/limits.ts";

/** Most bytes that the runtime fills at once. */
const RANDOM_BYTES_MAX = 65_536;

/** A file, and what it must hash to. */
export interface ArtifactFile {
  readonly path: string;
  readonly sizeBytes: number;
  readonly sha256: string;
}

/**
 * The artifact of a run's directory; made on the first call, so that every round has the same one.
 *
 * @param directory Where it is
 */
export async function artifactFile(directory: string): Promise<ArtifactFile> {
  const path = join(directory, "artifact");
  let bytes: Uint8Array;
  try {
    // Also brings it into the page cache.
    bytes = await Deno.readFile(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    bytes = new Uint8Array(ARTIFACT_MAX_BYTES);
    for (let from = 0; from < bytes.length; from += RANDOM_BYTES_MAX) {
      crypto.getRandomValues(bytes.subarray(from, from + RANDOM_BYTES_MAX));
    }
    await Deno.writeFile(path, bytes);
  }
  return { path, sizeBytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
}
