/**
 * Puts agents into a registry, and reads back what then stands there.
 *
 * @module
 */
import { sha256Hex } from "../../../contracts/digest.ts";
import { FleetError } from "../../../contracts/errors.ts";
import { FLEETCTL_REPEAT_MAX_MS, PUSH_TIMEOUT_MS } from "../../../contracts/limits.ts";
import { type OciReference, ociReferenceText, ociTargetName } from "../../../contracts/oci_reference.ts";
import { fetchError } from "../../../lib/fetch/fetch_error.ts";
import { type FetchOptions, openFetchRun, repeated } from "../../../lib/fetch/fetch_run.ts";
import { RegistrySession } from "../../../lib/oci/registry_session.ts";
import type { Report } from "../progress.ts";
import { byteSize } from "../render/byte_size.ts";
import { Uploader } from "./push_blob.ts";
import type { PushPlan } from "./push_plan.ts";
import type { RegistryAccess } from "./registry_access.ts";

/**
 * How this program fetches: as a device does, with pauses for a person.
 *
 * @param access How the registry is reached
 */
export function fetchOptions({ caFile }: Pick<RegistryAccess, "caFile">): FetchOptions {
  const bounds = { resumeMaxMs: FLEETCTL_REPEAT_MAX_MS };
  return { userAgent: "harmony-fleetctl", bounds, ...(caFile === undefined ? {} : { caFile }) };
}

/** What a push has done. */
export interface PushResult {
  /** Digest of what the tag names. */
  readonly digest: string;
  /** Digests of the files that were sent; the others were there. */
  readonly sent: ReadonlySet<string>;
  /** Whether the tag named the same before. */
  readonly unchanged: boolean;
}

/** How a push is done. */
export interface PushOptions {
  readonly access: RegistryAccess;
  /** Whether a tag that names another artifact is moved. */
  readonly force: boolean;
  readonly report: Report;
  readonly signal: AbortSignal;
}

/**
 * Pushes what a plan says. Blobs go before what names them, and the tag last, so that nobody ever sees half of it.
 *
 * @param reference Where; has a tag
 * @param plan What
 * @param options Access, progress
 * @throws {FleetError} `E_FETCH_*`, and `E_CONFLICT` for a tag that names another artifact
 */
export async function pushArtifact(
  reference: OciReference,
  plan: PushPlan,
  { access, force, report, signal }: PushOptions,
): Promise<PushResult> {
  const { login } = access;
  const place = { shownUrl: ociReferenceText(reference), action: "push to" };
  const fetching = { ...fetchOptions(access), limitMs: PUSH_TIMEOUT_MS };
  using run = await openFetchRun(place, fetching, undefined, signal);
  const session = new RegistrySession(run, reference, {
    actions: "pull,push",
    ...(login === undefined ? {} : { login }),
  });
  const uploader = new Uploader(run, session);
  const tag = ociTargetName(reference);
  const before = await repeated(run, () => uploader.tagged(tag));
  const unchanged = before !== null && `sha256:${sha256Hex(before)}` === plan.top.digest;
  if (before !== null && !unchanged && !force) {
    throw new FleetError(
      `Cannot push to ${place.shownUrl}: it names another artifact, sha256:${sha256Hex(before)}`,
      { code: "E_TAG_TAKEN", failureClass: "policy" },
    );
  }
  const sent = new Set<string>();
  for (const { path, sha256, sizeBytes } of new Map(plan.agents.map(({ file }) => [file.sha256, file])).values()) {
    const onUploaded = (uploadedBytes: number) =>
      report(`${path}: ${byteSize(uploadedBytes)} of ${byteSize(sizeBytes)}`);
    if (await uploader.file(path, sha256, sizeBytes, onUploaded)) sent.add(sha256);
  }
  await repeated(run, () => uploader.blob(plan.empty));
  for (const manifest of plan.manifests) await repeated(run, () => uploader.manifest(manifest, manifest.digest));
  await repeated(run, () => uploader.manifest(plan.top, tag));
  const stored = await repeated(run, () => session.document(tag));
  if (stored.digest !== plan.top.digest) {
    const problem =
      `it now names ${stored.digest}, ${plan.top.digest} was written: somebody else pushes to the same tag`;
    throw fetchError(run, "E_FETCH_MANIFEST", problem, "policy");
  }
  return { digest: stored.digest, sent, unchanged };
}
