/**
 * An agent as an artifact in a registry (DESIGN 5, Fetch; OCI Image Specification 1.1): its documents, how they are made,
 * and which of them a device takes. Pure: whoever reads the bytes has checked their size and digest.
 *
 * @module
 */
import { type Decoded, decodeError, type Decoder, integer, list, object, optional, text } from "./codec.ts";
import type { Architecture, BinaryForm } from "./formats.ts";
import { OCI_INDEX_MANIFESTS_MAX, OCI_LAYERS_MAX, OCI_MEDIA_TYPE_MAX_CHARS } from "./limits.ts";
import { isOciDigest } from "./oci_reference.ts";

/** Artifact type of an image manifest that carries an agent. */
export const AGENT_ARTIFACT_TYPE = "application/vnd.nationtech.harmony.fleet-agent.v1";
/** Media type of its one layer. */
export const AGENT_LAYER_TYPE = "application/vnd.nationtech.harmony.fleet-agent.binary.v1";
/** Media type of an image manifest. */
export const OCI_MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json";
/** Media type of an index. */
export const OCI_INDEX_TYPE = "application/vnd.oci.image.index.v1+json";
/** Media type of the empty document that stands for a configuration. */
export const OCI_EMPTY_TYPE = "application/vnd.oci.empty.v1+json";
/** The empty document. */
export const OCI_EMPTY_TEXT = "{}";
/** Annotation with the version of the agent. */
export const OCI_VERSION_ANNOTATION = "org.opencontainers.image.version";
/** Annotation with the architecture, as the fleet names it. */
export const OCI_ARCH_ANNOTATION = "fleet.nationtech.io/arch";
/** Annotation with the form. */
export const OCI_FORM_ANNOTATION = "fleet.nationtech.io/form";

/** Architectures as OCI names them. */
const OCI_ARCHITECTURES: Readonly<Record<Architecture, string>> = { x86_64: "amd64", aarch64: "arm64" };
/** The variants that every device of an architecture runs. */
const OCI_VARIANTS: Readonly<Record<Architecture, readonly string[]>> = { x86_64: ["v1"], aarch64: ["v8"] };

const mediaType = text({ what: "a media type", maxChars: OCI_MEDIA_TYPE_MAX_CHARS });
const digest: Decoder<string> = text({
  what: "a digest",
  maxChars: 256,
  check: (value) => isOciDigest(value) ? undefined : "is not sha256: and 64 hexadecimal digits",
});
const word = text({ what: "a word", maxChars: 256, minChars: 0 });

const descriptorShape = {
  mediaType,
  digest,
  size: integer(0),
  artifactType: optional(mediaType),
};
/** Decodes what points at a document or blob. */
export const ociDescriptor = object(descriptorShape);
/** What points at a document or blob: its digest and its size decide what it is. */
export type OciDescriptor = Decoded<typeof ociDescriptor>;

const platform = object({ architecture: word, os: word, variant: optional(word) });
/** Decodes an entry of an index. */
export const ociIndexEntry = object({ ...descriptorShape, platform: optional(platform) });
/** An entry of an index. */
export type OciIndexEntry = Decoded<typeof ociIndexEntry>;

/** What a person reads; a device decides nothing by it, and other tools' annotations are theirs. */
const annotations = optional(object({
  [OCI_VERSION_ANNOTATION]: optional(word),
  [OCI_ARCH_ANNOTATION]: optional(word),
  [OCI_FORM_ANNOTATION]: optional(word),
}));

/** Decodes the members of an image manifest. */
export const ociManifestShape = object({
  schemaVersion: integer(2, 2),
  artifactType: optional(mediaType),
  config: object({ mediaType }),
  layers: list(ociDescriptor, OCI_LAYERS_MAX),
  annotations,
});
/** An image manifest. */
export type OciManifest = Decoded<typeof ociManifestShape>;
const indexShape = object({
  schemaVersion: integer(2, 2),
  artifactType: optional(mediaType),
  manifests: list(ociIndexEntry, OCI_INDEX_MANIFESTS_MAX),
});

/** What stands under a reference. */
export type OciDocument =
  | { readonly kind: "manifest"; readonly manifest: OciManifest }
  | { readonly kind: "index"; readonly entries: readonly OciIndexEntry[] };

/**
 * Decodes what a registry gave. Its type is what the document says; one that says nothing is what the header says.
 *
 * @param value The parsed JSON
 * @param contentType Media type of the answer, or undefined
 * @throws {FleetError} `E_DECODE` that names the member
 */
export function ociDocument(value: unknown, contentType: string | undefined): OciDocument {
  const has = (name: string) => typeof value === "object" && value !== null && Object.hasOwn(value, name);
  // Two readers could take such a document for different things (CVE-2021-41190).
  if (has("layers") && has("manifests")) throw decodeError("", "is a manifest and an index at once");
  const said = has("mediaType") ? mediaType((value as Record<string, unknown>).mediaType, "mediaType") : undefined;
  const type = said ?? contentType?.split(";", 1)[0]?.trim().toLowerCase();
  switch (type) {
    case OCI_MANIFEST_TYPE:
      return { kind: "manifest", manifest: ociManifestShape(value, "") };
    case OCI_INDEX_TYPE:
      return { kind: "index", entries: indexShape(value, "").manifests };
    default: {
      const shown = type === undefined ? "nothing" : JSON.stringify(type.slice(0, OCI_MEDIA_TYPE_MAX_CHARS));
      throw decodeError("mediaType", `is ${shown}, must be an OCI image manifest or index`);
    }
  }
}

/** Whether a platform of an index is that of an architecture. */
function isFor(entry: OciIndexEntry, arch: Architecture): boolean {
  const { platform } = entry;
  if (platform?.os !== "linux" || platform.architecture !== OCI_ARCHITECTURES[arch]) return false;
  const { variant = "" } = platform;
  return variant === "" || OCI_VARIANTS[arch].includes(variant);
}

/**
 * Architectures that an index has agents for.
 *
 * @param entries Its entries
 */
export function archesOfIndex(entries: readonly OciIndexEntry[]): Architecture[] {
  return (Object.keys(OCI_ARCHITECTURES) as Architecture[]).filter((arch) =>
    entries.some((entry) => isAgentEntry(entry) && isFor(entry, arch))
  );
}

/** An index may list other things beside agents; an entry that does not say what it is may be one. */
function isAgentEntry({ artifactType }: OciIndexEntry): boolean {
  return artifactType === undefined || artifactType === AGENT_ARTIFACT_TYPE;
}

/**
 * The manifest of an architecture in an index.
 *
 * @param entries Its entries
 * @param arch The device's architecture
 * @throws {FleetError} `E_DECODE` when there is not exactly one
 */
export function manifestFor(entries: readonly OciIndexEntry[], arch: Architecture): OciIndexEntry {
  const found = entries.filter((entry) => isAgentEntry(entry) && isFor(entry, arch));
  const [entry] = found;
  if (entry === undefined || found.length > 1) {
    const count = found.length === 0 ? "no" : `${found.length}`;
    throw decodeError("manifests", `has ${count} agents for linux/${OCI_ARCHITECTURES[arch]}, must have one`);
  }
  if (entry.mediaType !== OCI_MANIFEST_TYPE) {
    throw decodeError("manifests", `has for linux/${OCI_ARCHITECTURES[arch]} no image manifest`);
  }
  return entry;
}

/**
 * The one layer of an agent's manifest.
 *
 * @param manifest The manifest
 * @throws {FleetError} `E_DECODE` when it carries something else
 */
export function agentLayer({ artifactType, config, layers }: OciManifest): OciDescriptor {
  // Without an artifact type of its own, a manifest has that of its configuration (Image Specification 1.1).
  const type = artifactType ?? config.mediaType;
  if (type !== AGENT_ARTIFACT_TYPE) {
    throw decodeError("artifactType", `is ${JSON.stringify(type)}, must be ${AGENT_ARTIFACT_TYPE}`);
  }
  const [layer] = layers;
  if (layer === undefined || layers.length !== 1) {
    throw decodeError("layers", `has ${layers.length} items, must have exactly one`);
  }
  if (layer.mediaType !== AGENT_LAYER_TYPE) {
    throw decodeError("layers[0].mediaType", `is ${JSON.stringify(layer.mediaType)}, must be ${AGENT_LAYER_TYPE}`);
  }
  return layer;
}

/** An agent whose manifest is made. */
export interface AgentLayerSource {
  /** Version that it has compiled in. */
  readonly version: string;
  /** Architecture that it is for. */
  readonly arch: Architecture;
  /** Program or script. */
  readonly form: BinaryForm;
  /** Its bytes. */
  readonly sizeBytes: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
}

/**
 * The manifest of an agent, the same for the same agent.
 *
 * @param agent The agent
 * @param empty Descriptor of {@link OCI_EMPTY_TEXT}
 */
export function agentManifest(agent: AgentLayerSource, empty: OciDescriptor): Record<string, unknown> {
  return {
    schemaVersion: 2,
    mediaType: OCI_MANIFEST_TYPE,
    artifactType: AGENT_ARTIFACT_TYPE,
    config: { ...empty, data: btoa(OCI_EMPTY_TEXT) },
    layers: [{ mediaType: AGENT_LAYER_TYPE, digest: `sha256:${agent.sha256}`, size: agent.sizeBytes }],
    annotations: {
      [OCI_VERSION_ANNOTATION]: agent.version,
      [OCI_ARCH_ANNOTATION]: agent.arch,
      [OCI_FORM_ANNOTATION]: agent.form,
    },
  };
}

/**
 * The index over manifests of agents.
 *
 * @param manifests Descriptor of each, with its architecture
 */
export function agentIndex(
  manifests: readonly (readonly [arch: Architecture, descriptor: OciDescriptor])[],
): Record<string, unknown> {
  return {
    schemaVersion: 2,
    mediaType: OCI_INDEX_TYPE,
    artifactType: AGENT_ARTIFACT_TYPE,
    manifests: manifests.map(([arch, descriptor]) => ({
      ...descriptor,
      artifactType: AGENT_ARTIFACT_TYPE,
      platform: { architecture: OCI_ARCHITECTURES[arch], os: "linux" },
    })),
  };
}

/**
 * The tag of a version. A plus sign is not allowed in tags.
 *
 * @param version The version
 * @param form The form
 */
export function ociTag(version: string, form: BinaryForm): string {
  return version.replaceAll("+", "_") + (form === "script" ? "-script" : "");
}
