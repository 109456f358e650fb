/**
 * An OCI image layout with the agent's artifacts, for `oci://` releases (DESIGN 5, Fetch; OCI Image Specification 1.1).
 *
 * @module
 */

import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Architecture } from "../contracts/formats.ts";

/** Artifact type of an image manifest that carries an agent. */
export const AGENT_ARTIFACT_TYPE = "application/vnd.nationtech.harmony.fleet-agent.v1";
/** Media type of its one layer. */
export const AGENT_LAYER_TYPE = "application/vnd.nationtech.harmony.fleet-agent.binary.v1";

const MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json";
const INDEX_TYPE = "application/vnd.oci.image.index.v1+json";
const EMPTY_TYPE = "application/vnd.oci.empty.v1+json";
/** Architectures as OCI names them. */
const OCI_ARCHITECTURES: Readonly<Record<Architecture, string>> = { x86_64: "amd64", aarch64: "arm64" };

/** An agent that goes into the layout. */
export interface AgentArtifact {
  readonly arch: Architecture;
  readonly form: "compiled" | "script";
  readonly path: string;
  readonly sizeBytes: number;
  readonly sha256: string;
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly artifactType?: string;
  readonly platform?: { readonly architecture: string; readonly os: string };
  readonly annotations?: Readonly<Record<string, string>>;
  readonly data?: string;
}

/**
 * The tag of a form's index. A plus sign is not allowed in tags.
 *
 * @param version The version
 * @param form The form
 */
export function ociTag(version: string, form: AgentArtifact["form"]): string {
  return version.replaceAll("+", "_") + (form === "script" ? "-script" : "");
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
  const putDocument = async (mediaType: string, document: unknown): Promise<Descriptor> => {
    const bytes = new TextEncoder().encode(JSON.stringify(document));
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    await Deno.writeFile(join(blobs, sha256), bytes);
    return { mediaType, digest: `sha256:${sha256}`, size: bytes.length };
  };
  const empty = await putDocument(EMPTY_TYPE, {});
  const tags: Descriptor[] = [];
  for (const form of ["compiled", "script"] as const) {
    const manifests: Descriptor[] = [];
    for (const agent of agents.filter((candidate) => candidate.form === form)) {
      await linkBlob(agent.path, join(blobs, agent.sha256));
      const manifest = await putDocument(MANIFEST_TYPE, manifestOf(version, agent, empty));
      const platform = { architecture: OCI_ARCHITECTURES[agent.arch], os: "linux" };
      manifests.push({ ...manifest, artifactType: AGENT_ARTIFACT_TYPE, platform });
    }
    if (manifests.length === 0) continue;
    const index = await putDocument(INDEX_TYPE, {
      schemaVersion: 2,
      mediaType: INDEX_TYPE,
      artifactType: AGENT_ARTIFACT_TYPE,
      manifests,
    });
    tags.push({ ...index, annotations: { "org.opencontainers.image.ref.name": ociTag(version, form) } });
  }
  await Deno.writeTextFile(join(folder, "oci-layout"), `${JSON.stringify({ imageLayoutVersion: "1.0.0" })}\n`);
  await Deno.writeTextFile(
    join(folder, "index.json"),
    `${JSON.stringify({ schemaVersion: 2, mediaType: INDEX_TYPE, manifests: tags })}\n`,
  );
  return Object.fromEntries(
    tags.map(({ annotations, digest }) => [annotations?.["org.opencontainers.image.ref.name"] ?? "", digest]),
  );
}

function manifestOf(version: string, agent: AgentArtifact, empty: Descriptor): unknown {
  return {
    schemaVersion: 2,
    mediaType: MANIFEST_TYPE,
    artifactType: AGENT_ARTIFACT_TYPE,
    config: { ...empty, data: btoa("{}") },
    layers: [{ mediaType: AGENT_LAYER_TYPE, digest: `sha256:${agent.sha256}`, size: agent.sizeBytes }],
    annotations: {
      "org.opencontainers.image.version": version,
      "fleet.nationtech.io/arch": agent.arch,
      "fleet.nationtech.io/form": agent.form,
    },
  };
}

/* The script form is one file for every architecture, so its blob may be there already. */
async function linkBlob(path: string, blob: string): Promise<void> {
  try {
    await Deno.link(path, blob);
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  }
}
