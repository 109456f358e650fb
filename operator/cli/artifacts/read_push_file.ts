/**
 * Reads what a person pushes: what it is, how large, and its digest.
 *
 * @module
 */
import { errorText, FleetError } from "../../../contracts/errors.ts";
import { ARTIFACT_HEAD_BYTES, ARTIFACT_MAX_BYTES } from "../../../contracts/limits.ts";
import { digestFile } from "../../../lib/digest/sha256_stream.ts";
import { osFileSystem } from "../../../lib/durable/os_file_system.ts";
import { artifactKind } from "./artifact_kind.ts";
import type { PushFile } from "./push_plan.ts";

/**
 * Reads a file once.
 *
 * @param path Its name
 * @throws {FleetError} `E_USAGE` when it cannot be read or is larger than any artifact may be
 */
export async function readPushFile(path: string): Promise<PushFile> {
  try {
    const head = new Uint8Array(ARTIFACT_HEAD_BYTES);
    using file = await Deno.open(path, { read: true });
    const length = await file.read(head) ?? 0;
    const digest = await digestFile(osFileSystem, path, { maxBytes: ARTIFACT_MAX_BYTES });
    if (digest === null) throw new Deno.errors.NotFound("it is not there");
    return { path, ...digest, kind: artifactKind(head.subarray(0, length)) };
  } catch (error) {
    throw new FleetError(`Cannot push ${path}: ${errorText(error)}`, { code: "E_USAGE", cause: error });
  }
}
