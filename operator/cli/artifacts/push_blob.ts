/**
 * Uploads blobs and documents to a registry (OCI Distribution Specification 1.1, Pushing).
 *
 * A file goes in pieces, so that none of it is in memory twice, progress can be told, and proxies before registries take
 * it. What the registry has already is not sent again.
 *
 * @module
 */
import { FleetError } from "../../../contracts/errors.ts";
import {
  OCI_MANIFEST_MAX_BYTES,
  PUSH_PIECE_BYTES,
  PUSH_PIECE_MAX_BYTES,
  PUSH_REQUEST_TIMEOUT_MS,
  PUSH_STARTS_MAX,
} from "../../../contracts/limits.ts";
import { fetchError, isWorthRepeating, statusError } from "../../../lib/fetch/fetch_error.ts";
import { type FetchRun, repeated } from "../../../lib/fetch/fetch_run.ts";
import type { ServerRequest, WholeResponse } from "../../../lib/fetch/open_response.ts";
import type { RegistrySession } from "../../../lib/oci/registry_session.ts";
import type { PushDocument } from "./push_plan.ts";

/** Told how many bytes of a blob are there. */
export type OnUploaded = (sizeBytes: number) => void;

/** Uploads to one repository. */
export class Uploader {
  readonly #run: FetchRun;
  readonly #session: RegistrySession;

  /**
   * An uploader.
   *
   * @param run The connection that the session is part of
   * @param session The repository
   */
  constructor(run: FetchRun, session: RegistrySession) {
    this.#run = run;
    this.#session = session;
  }

  /**
   * Uploads a file unless the registry has its bytes.
   *
   * @param path The file
   * @param sha256 Its digest, which the registry checks
   * @param sizeBytes Its size
   * @param onUploaded Told of progress
   * @returns whether it was sent
   */
  async file(path: string, sha256: string, sizeBytes: number, onUploaded: OnUploaded): Promise<boolean> {
    if (await this.#has(`sha256:${sha256}`)) return false;
    for (let starts = 1;; starts++) {
      try {
        await this.#pieces(path, `sha256:${sha256}`, sizeBytes, onUploaded);
        return true;
      } catch (error) {
        this.#run.signal.throwIfAborted();
        if (starts >= PUSH_STARTS_MAX || !isWorthRepeating(error)) throw error;
      }
    }
  }

  /** Uploads a small blob unless the registry has it. */
  async blob({ digest, bytes }: PushDocument): Promise<void> {
    if (await this.#has(digest)) return;
    const { location } = await this.#begin();
    await this.#finish(location, digest, bytes);
  }

  /**
   * Writes a manifest or index.
   *
   * @param document The document
   * @param name Its digest, or a tag
   */
  async manifest({ mediaType, bytes }: PushDocument, name: string): Promise<void> {
    const url = this.#session.url(`manifests/${name}`);
    const headers = { "content-type": mediaType };
    await this.#expect([201], { method: "PUT", url, headers, body: bytes });
  }

  /** The bytes of what a tag names now; null when there is no such tag. */
  async tagged(tag: string): Promise<Uint8Array | null> {
    const url = this.#session.url(`manifests/${tag}`);
    const headers = {
      accept: "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json, */*",
    };
    const answer = await this.#expect([200, 404], { url, headers });
    return answer.status === 404 ? null : answer.bytes;
  }

  async #has(digest: string): Promise<boolean> {
    const url = this.#session.url(`blobs/${digest}`);
    // One that keeps its blobs elsewhere answers with a redirect, which is a yes.
    const { status } = await repeated(this.#run, () => this.#expect([200, 302, 307, 404], { method: "HEAD", url }));
    return status !== 404;
  }

  async #begin(): Promise<{ readonly location: string; readonly pieceBytes: number }> {
    const url = this.#session.url("blobs/uploads/");
    const answer = await this.#expect([202], { method: "POST", url, body: new Uint8Array(0) });
    const wanted = Number(answer.headers.get("oci-chunk-min-length") ?? 0);
    if (wanted > PUSH_PIECE_MAX_BYTES) {
      throw this.#refused(`it takes no pieces below ${wanted} bytes, the largest sent is ${PUSH_PIECE_MAX_BYTES}`);
    }
    return { location: this.#location(url, answer), pieceBytes: Math.max(PUSH_PIECE_BYTES, wanted) };
  }

  async #pieces(path: string, digest: string, sizeBytes: number, onUploaded: OnUploaded): Promise<void> {
    let { location, pieceBytes } = await this.#begin();
    using file = await Deno.open(path, { read: true });
    const buffer = new Uint8Array(Math.min(pieceBytes, sizeBytes));
    for (let from = 0; from < sizeBytes;) {
      const length = await fill(file, buffer);
      if (length === 0) throw new FleetError(`Cannot push ${path}: it became shorter`, { code: "E_USAGE" });
      const headers = {
        "content-type": "application/octet-stream",
        "content-range": `${from}-${from + length - 1}`,
      };
      const request = { method: "PATCH", url: location, headers, body: buffer.subarray(0, length) };
      location = this.#location(location, await this.#expect([202], request));
      from += length;
      onUploaded(from);
    }
    await this.#finish(location, digest, new Uint8Array(0));
  }

  async #finish(location: string, digest: string, body: Uint8Array<ArrayBuffer>): Promise<void> {
    const url = new URL(location);
    url.searchParams.set("digest", digest);
    const headers = { "content-type": "application/octet-stream" };
    await this.#expect([201, 204], { method: "PUT", url: url.href, headers, body });
  }

  /** Where an upload goes on: at the registry, whose login goes nowhere else. */
  #location(from: string, { headers }: WholeResponse): string {
    const location = headers.get("location");
    if (location === null || !URL.canParse(location, from)) throw this.#refused("its upload leads nowhere");
    const to = new URL(location, from);
    if (to.origin !== new URL(from).origin) {
      throw this.#refused(`its upload leads from ${new URL(from).origin} to ${to.origin}`);
    }
    return to.href;
  }

  async #expect(statuses: readonly number[], request: ServerRequest): Promise<WholeResponse> {
    const timed = { ...request, timeoutMs: PUSH_REQUEST_TIMEOUT_MS };
    const answer = await this.#session.request(timed, OCI_MANIFEST_MAX_BYTES);
    if (statuses.includes(answer.status)) return answer;
    if (answer.status === 401 || answer.status === 403) {
      throw fetchError(this.#run, "E_FETCH_LOGIN", `the registry refuses the login${codeOf(answer)}`, "policy");
    }
    if (answer.status >= 500) throw statusError(this.#run, answer.status);
    throw this.#refused(`it answered with status ${answer.status}${codeOf(answer)}`);
  }

  #refused(problem: string): FleetError {
    return fetchError(this.#run, "E_FETCH_STATUS", `the registry does not take it: ${problem}`, "policy");
  }
}

/** The code of a registry's error document; its other words are not repeated. */
function codeOf({ bytes }: WholeResponse): string {
  try {
    const code: unknown = JSON.parse(new TextDecoder().decode(bytes)).errors[0].code;
    return typeof code === "string" && /^[A-Z_]{1,40}$/.test(code) ? ` (${code})` : "";
  } catch {
    return "";
  }
}

/** Reads until a buffer is full or the file has ended. */
async function fill(file: Deno.FsFile, buffer: Uint8Array): Promise<number> {
  let length = 0;
  while (length < buffer.length) {
    const count = await file.read(buffer.subarray(length));
    if (count === null) break;
    length += count;
  }
  return length;
}
