/**
 * Fetches agents from OCI registries (`Fleet agent upgrades`, Trust boundary; DESIGN 5, Fetch): anonymously, by tag or
 * digest, over https only.
 *
 * The manifest tells where the bytes are. Whether they are the attempt's is decided by the attempt's SHA-256 alone, which
 * is why a layer with another digest is refused before its first byte.
 *
 * @module
 */
import { isFleetError } from "../../contracts/errors.ts";
import type { Architecture } from "../../contracts/formats.ts";
import { ARTIFACT_MAX_BYTES } from "../../contracts/limits.ts";
import { agentLayer, manifestFor, type OciDescriptor } from "../../contracts/oci_artifact.ts";
import { ociTargetName, parseOciReference } from "../../contracts/oci_reference.ts";
import { RegistrySession } from "../oci/registry_session.ts";
import { fetchError, type FetchPlace, shownUrl } from "./fetch_error.ts";
import type { Fetcher, FetchRequest } from "./fetcher.ts";
import { type FetchOptions, openFetchRun, repeated } from "./fetch_run.ts";
import { transfer } from "./transfer.ts";

/** Options of {@link ociFetcher}. */
export interface OciFetcherOptions extends FetchOptions {
  /** The device's architecture, by which an index is resolved. */
  readonly arch: Architecture;
  /** Whether redirects of blobs are followed, from https to https and without credentials. Default true */
  readonly followBlobRedirects?: boolean;
}

class OciFetcher implements Fetcher {
  readonly schemes = ["oci"] as const;
  readonly #options: OciFetcherOptions;

  constructor(options: OciFetcherOptions) {
    this.#options = options;
  }

  async *fetch(request: FetchRequest, signal: AbortSignal): AsyncIterable<Uint8Array> {
    const place = { shownUrl: shownUrl(request.url) };
    const reference = parseOciReference(request.url);
    if ("problem" in reference) throw fetchError(place, "E_FETCH_URL", `it ${reference.problem}`, "policy");
    const { arch, followBlobRedirects = true } = this.#options;
    using run = await openFetchRun(place, this.#options, request.timeoutMs, signal);
    const session = new RegistrySession(run, reference, { followRedirects: followBlobRedirects });
    const layer = await repeated(run, () => findLayer(session, place, ociTargetName(reference), arch));
    const maxBytes = Math.min(request.maxBytes, ARTIFACT_MAX_BYTES);
    checkLayer(place, layer, request.sha256, maxBytes);
    yield* transfer({
      run,
      // One byte more than its descriptor says makes it another blob.
      maxBytes: layer.size,
      offsetBytes: request.offsetBytes ?? 0,
      send: (headers, connection) => session.openBlob(layer.digest, headers, connection),
      onUnproven: request.onUnproven,
    });
  }
}

async function findLayer(
  session: RegistrySession,
  place: FetchPlace,
  name: string,
  arch: Architecture,
): Promise<OciDescriptor> {
  let { document } = await session.document(name);
  try {
    if (document.kind === "index") {
      const entry = manifestFor(document.entries, arch);
      document = (await session.document(entry.digest, entry)).document;
    }
    if (document.kind === "manifest") return agentLayer(document.manifest);
  } catch (error) {
    if (!isFleetError(error, "E_DECODE")) throw error;
    throw fetchError(place, "E_FETCH_MANIFEST", `its manifest: ${error.message}`, "policy", error);
  }
  throw fetchError(place, "E_FETCH_MANIFEST", "its index leads to another index", "policy");
}

function checkLayer(place: FetchPlace, layer: OciDescriptor, sha256: string, maxBytes: number): void {
  if (layer.size > maxBytes) {
    const problem = `its layer has ${layer.size} bytes, the limit is ${maxBytes}`;
    throw fetchError(place, "E_FETCH_TOO_LARGE", problem, "policy");
  }
  if (layer.digest !== `sha256:${sha256}`) {
    const problem = `its layer is ${layer.digest}, the attempt wants sha256:${sha256}`;
    throw fetchError(place, "E_FETCH_MANIFEST", problem, "policy");
  }
}

/**
 * A fetcher for `oci` references.
 *
 * @param options Architecture, redirects, authorities, bounds, clock
 */
export function ociFetcher(options: OciFetcherOptions): Fetcher {
  return new OciFetcher(options);
}
