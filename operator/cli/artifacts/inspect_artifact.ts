/**
 * Looks at an artifact as a device would: with the device's own fetcher, and every byte of it.
 *
 * @module
 */
import { type FailureClass, FleetError, isFleetError } from "../../../contracts/errors.ts";
import { type Architecture, ARCHITECTURES, type BinaryForm } from "../../../contracts/formats.ts";
import { ARTIFACT_HEAD_BYTES, ARTIFACT_MAX_BYTES } from "../../../contracts/limits.ts";
import {
  agentLayer,
  archesOfIndex,
  manifestFor,
  OCI_ARCH_ANNOTATION,
  OCI_VERSION_ANNOTATION,
  type OciDescriptor,
  type OciManifest,
} from "../../../contracts/oci_artifact.ts";
import {
  type OciReference,
  ociReferenceText,
  ociTargetName,
  parseOciReference,
} from "../../../contracts/oci_reference.ts";
import { Sha256Stream } from "../../../lib/digest/sha256_stream.ts";
import type { Fetcher } from "../../../lib/fetch/fetcher.ts";
import { type FetchOptions, openFetchRun, repeated } from "../../../lib/fetch/fetch_run.ts";
import { httpsFetcher } from "../../../lib/fetch/https_fetcher.ts";
import { ociFetcher } from "../../../lib/fetch/oci_fetcher.ts";
import { type RegistryDocument, RegistrySession } from "../../../lib/oci/registry_session.ts";
import type { Report } from "../progress.ts";
import { byteSize } from "../render/byte_size.ts";
import { artifactKind } from "./artifact_kind.ts";

/** One agent as a device of its architecture would find it. */
export interface InspectedAgent {
  readonly arch: Architecture;
  readonly form?: BinaryForm;
  readonly version?: string;
  /** What a release should name: pinned by digest where it can be. */
  readonly url: string;
  readonly sha256?: string;
  readonly sizeBytes?: number;
  readonly mediaType?: string;
  /** Why a device would not take it; absent when it would. */
  readonly problem?: string;
}

/** What stands at a URL or reference. */
export interface Inspection {
  readonly kind: "index" | "manifest" | "file";
  /** Of the index or manifest. */
  readonly digest?: string;
  readonly mediaType?: string;
  readonly agents: readonly InspectedAgent[];
}

/** How it is looked at. */
export interface InspectOptions {
  readonly fetching: FetchOptions;
  readonly report: Report;
  readonly signal: AbortSignal;
}

/** What came of a fetch. */
interface Fetched {
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly head: Uint8Array;
}

async function fetchWhole(
  fetcher: Fetcher,
  url: string,
  sha256: string,
  { report, signal }: InspectOptions,
): Promise<Fetched> {
  const digest = new Sha256Stream(ARTIFACT_MAX_BYTES);
  const head = new Uint8Array(ARTIFACT_HEAD_BYTES);
  for await (const chunk of fetcher.fetch({ url, sha256, maxBytes: ARTIFACT_MAX_BYTES }, signal)) {
    if (digest.sizeBytes < head.length) head.set(chunk.subarray(0, head.length - digest.sizeBytes), digest.sizeBytes);
    digest.update(chunk);
    report(`${byteSize(digest.sizeBytes)} so far`);
  }
  return { sha256: digest.hex(), sizeBytes: digest.sizeBytes, head: head.subarray(0, digest.sizeBytes) };
}

/** Only what a rule refuses is an answer; what the way to it does is an error of the command. */
function problemOf(error: unknown): string {
  if (!isFleetError(error)) throw error;
  const isRefusal: FailureClass[] = ["policy"];
  if (!isRefusal.includes(error.failureClass) || error.code === "E_FETCH_LOGIN" || error.code === "E_FETCH_URL") {
    throw error;
  }
  return error.message;
}

function kindProblem(head: Uint8Array, arch: Architecture): { form?: BinaryForm; problem?: string } {
  const kind = artifactKind(head);
  if (kind === null) {
    return { problem: "it is neither a program for x86_64 or aarch64 nor a script that begins with #!" };
  }
  if (kind.form === "compiled" && kind.arch !== arch) {
    return { form: kind.form, problem: `it is a program for ${kind.arch}` };
  }
  return { form: kind.form };
}

/**
 * Looks at an artifact.
 *
 * @param text `https://…` or `oci://…`
 * @param options Authorities, progress
 * @throws {FleetError} `E_USAGE` for another text; `E_FETCH_*` when it could not be looked at
 */
export async function inspectArtifact(text: string, options: InspectOptions): Promise<Inspection> {
  if (!text.startsWith("oci:")) return await inspectFile(text, options);
  const reference = parseOciReference(text);
  if ("problem" in reference) {
    throw new FleetError(`Cannot inspect ${text}: it ${reference.problem}`, { code: "E_USAGE" });
  }
  return await inspectReference(reference, options);
}

async function inspectFile(url: string, options: InspectOptions): Promise<Inspection> {
  let found: Fetched;
  try {
    found = await fetchWhole(httpsFetcher(options.fetching), url, "", options);
  } catch (error) {
    const problem = problemOf(error);
    return { kind: "file", agents: ARCHITECTURES.map((arch) => ({ arch, url, problem })) };
  }
  const { sha256, sizeBytes, head } = found;
  const kind = artifactKind(head);
  const arches = kind?.form === "compiled" ? [kind.arch] : ARCHITECTURES;
  return {
    kind: "file",
    agents: arches.map((arch) => ({ arch, url, sha256, sizeBytes, ...kindProblem(head, arch) })),
  };
}

async function inspectReference(reference: OciReference, options: InspectOptions): Promise<Inspection> {
  const place = { shownUrl: ociReferenceText(reference), action: "inspect" };
  using run = await openFetchRun(place, options.fetching, undefined, options.signal);
  const session = new RegistrySession(run, reference);
  const top = await repeated(run, () => session.document(ociTargetName(reference)));
  const { document, digest, mediaType } = top;
  const pinned = ociReferenceText({ ...reference, target: { kind: "digest", digest } });
  const arches = document.kind === "index" ? archesOfIndex(document.entries) : archesOfManifest(document.manifest);
  const agents: InspectedAgent[] = [];
  for (const arch of arches) {
    try {
      const manifest = await manifestOf(session, top, arch);
      agents.push(await inspectAgent(manifest, arch, pinned, options));
    } catch (error) {
      agents.push({ arch, url: pinned, problem: problemOf(error) });
    }
  }
  return { kind: document.kind, digest, mediaType, agents };
}

/** A manifest alone is for the architecture that it names; one that names none is tried for each. */
function archesOfManifest({ annotations }: OciManifest): readonly Architecture[] {
  const named = ARCHITECTURES.filter((arch) => annotations?.[OCI_ARCH_ANNOTATION] === arch);
  return named.length > 0 ? named : ARCHITECTURES;
}

async function manifestOf(session: RegistrySession, top: RegistryDocument, arch: Architecture): Promise<OciManifest> {
  const { document } = top;
  if (document.kind === "manifest") return document.manifest;
  const entry = manifestFor(document.entries, arch);
  const found = (await session.document(entry.digest, entry)).document;
  if (found.kind === "manifest") return found.manifest;
  throw new FleetError("its index leads to another index", { code: "E_FETCH_MANIFEST", failureClass: "policy" });
}

async function inspectAgent(
  manifest: OciManifest,
  arch: Architecture,
  url: string,
  options: InspectOptions,
): Promise<InspectedAgent> {
  const layer: OciDescriptor = agentLayer(manifest);
  const version = manifest.annotations?.[OCI_VERSION_ANNOTATION];
  const known = {
    arch,
    url,
    sha256: layer.digest.slice("sha256:".length),
    sizeBytes: layer.size,
    mediaType: layer.mediaType,
    ...(version === undefined ? {} : { version }),
  };
  try {
    const { sha256, head } = await fetchWhole(ociFetcher({ arch, ...options.fetching }), url, known.sha256, options);
    if (sha256 !== known.sha256) return { ...known, problem: `its bytes have the SHA-256 ${sha256}` };
    return { ...known, ...kindProblem(head, arch) };
  } catch (error) {
    return { ...known, problem: problemOf(error) };
  }
}
