/**
 * An OCI image layout with the agent's artifacts, for `oci://` releases (DESIGN 5, Fetch; OCI Image Specification 1.1).
 *
 * @module
 */

import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Architecture } from "../contracts/formats.ts";
import {
  agentIndex,
  agentManifest,
  OCI_EMPTY_TYPE,
  OCI_INDEX_TYPE,
  OCI_MANIFEST_TYPE,
  type OciDescriptor,
  ociTag,
} from "../contracts/oci_artifact.ts";

/** An agent that goes into the layout. */
export interface AgentArtifact {
  readonly arch: Architecture;
  readonly form: "compiled" | "script";
  readonly path: string;
  readonly sizeBytes: number;
  readonly sha256: string;
}

/**
 * Writes a layout. Blobs that are files already become links to them.
 *
 * @param folder Where; must not exist
 * @param version The version
 * @param agents The agents
 * @returns the digest of each tag's index
 */
export async function writeOciLayout(
  folder: string,
  version: string,
  agents: readonly AgentArtifact[],
): Promise<Record<string, string>> {
  const blobs = join(folder, "blobs", "sha256");
  await Deno.mkdir(blobs, { recursive: true });
  const putDocument = async (mediaType: string, document: unknown): Promise<OciDescriptor> => {
    const bytes = new TextEncoder().encode(JSON.stringify(document));
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    await Deno.writeFile(join(blobs, sha256), bytes);
    return { mediaType, digest: `sha256:${sha256}`, size: bytes.length };
  };
  const empty = await putDocument(OCI_EMPTY_TYPE, {});
  const tags: (OciDescriptor & { readonly annotations: Record<string, string> })[] = [];
  for (const form of ["compiled", "script"] as const) {
    const manifests: (readonly [Architecture, OciDescriptor])[] = [];
    for (const agent of agents.filter((candidate) => candidate.form === form)) {
      await linkBlob(agent.path, join(blobs, agent.sha256));
      const manifest = await putDocument(OCI_MANIFEST_TYPE, agentManifest({ ...agent, version }, empty));
      manifests.push([agent.arch, manifest]);
    }
    if (manifests.length === 0) continue;
    const index = await putDocument(OCI_INDEX_TYPE, agentIndex(manifests));
    tags.push({ ...index, annotations: { "org.opencontainers.image.ref.name": ociTag(version, form) } });
  }
  await Deno.writeTextFile(join(folder, "oci-layout"), `${JSON.stringify({ imageLayoutVersion: "1.0.0" })}\n`);
  await Deno.writeTextFile(
    join(folder, "index.json"),
    `${JSON.stringify({ schemaVersion: 2, mediaType: OCI_INDEX_TYPE, manifests: tags })}\n`,
  );
  return Object.fromEntries(
    tags.map(({ annotations, digest }) => [annotations["org.opencontainers.image.ref.name"] ?? "", digest]),
  );
}

/* The script form is one file for every architecture, so its blob may be there already. */
async function linkBlob(path: string, blob: string): Promise<void> {
  try {
    await Deno.link(path, blob);
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  }
}
