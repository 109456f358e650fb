/**
 * What a push writes: blobs, manifests, and what the tag names. Pure, and the same for the same files.
 *
 * @module
 */
import { sha256Hex } from "../../../contracts/digest.ts";
import { FleetError } from "../../../contracts/errors.ts";
import { type Architecture, ARCHITECTURES, type BinaryForm } from "../../../contracts/formats.ts";
import { ARTIFACT_MAX_BYTES } from "../../../contracts/limits.ts";
import {
  agentIndex,
  agentManifest,
  OCI_EMPTY_TEXT,
  OCI_EMPTY_TYPE,
  OCI_INDEX_TYPE,
  OCI_MANIFEST_TYPE,
  type OciDescriptor,
} from "../../../contracts/oci_artifact.ts";
import type { ArtifactKind } from "./artifact_kind.ts";

/** A file that is pushed. */
export interface PushFile {
  readonly path: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  /** Null for what no device could start. */
  readonly kind: ArtifactKind | null;
}

/** A document, ready to be written. */
export interface PushDocument {
  readonly mediaType: string;
  /** `sha256:…` */
  readonly digest: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** One agent of a push. */
export interface PushAgent {
  readonly arch: Architecture;
  readonly form: BinaryForm;
  readonly file: PushFile;
}

/** What a push writes, in its order. */
export interface PushPlan {
  readonly agents: readonly PushAgent[];
  /** The empty configuration. */
  readonly empty: PushDocument;
  /** Written by digest, before what names them. */
  readonly manifests: readonly PushDocument[];
  /** What the tag names. */
  readonly top: PushDocument;
}

function usage(message: string): FleetError {
  return new FleetError(message, { code: "E_USAGE" });
}

function documentOf(mediaType: string, value: unknown): PushDocument {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  return { mediaType, digest: `sha256:${sha256Hex(bytes)}`, bytes };
}

function descriptorOf({ mediaType, digest, bytes }: PushDocument): OciDescriptor {
  return { mediaType, digest, size: bytes.byteLength };
}

function agentsOf(file: PushFile, arches: readonly Architecture[]): PushAgent[] {
  const { path, kind, sizeBytes } = file;
  if (sizeBytes > ARTIFACT_MAX_BYTES) {
    throw usage(`Cannot push ${path}: it has ${sizeBytes} bytes, no device takes more than ${ARTIFACT_MAX_BYTES}`);
  }
  if (kind === null) {
    throw usage(`Cannot push ${path}: it is neither a program for x86_64 or aarch64 nor a script that begins with #!`);
  }
  if (kind.form === "script") {
    return (arches.length === 0 ? ARCHITECTURES : arches).map((arch) => ({ arch, form: kind.form, file }));
  }
  if (arches.length > 0 && !arches.includes(kind.arch)) {
    throw usage(`Cannot push ${path}: it is a program for ${kind.arch}, --arch says ${arches.join(", ")}`);
  }
  return [{ arch: kind.arch, form: kind.form, file }];
}

/**
 * Plans a push.
 *
 * @param files What is pushed
 * @param version Version of the agents
 * @param arches Architectures of a script; empty for all
 * @throws {FleetError} `E_USAGE`
 */
export function pushPlan(files: readonly PushFile[], version: string, arches: readonly Architecture[]): PushPlan {
  const agents = files.flatMap((file) => agentsOf(file, arches));
  for (const arch of ARCHITECTURES) {
    const same = agents.filter((agent) => agent.arch === arch);
    if (same.length > 1) {
      const paths = same.map(({ file }) => file.path).join(" and ");
      throw usage(`Cannot push two agents for ${arch}: ${paths}`);
    }
  }
  const empty: PushDocument = {
    ...documentOf(OCI_EMPTY_TYPE, {}),
    bytes: new TextEncoder().encode(OCI_EMPTY_TEXT),
  };
  const manifests = agents.map(({ arch, form, file }) =>
    documentOf(OCI_MANIFEST_TYPE, agentManifest({ version, arch, form, ...file }, descriptorOf(empty)))
  );
  const [only] = manifests;
  if (only !== undefined && manifests.length === 1) return { agents, empty, manifests: [], top: only };
  const entries = agents.flatMap(({ arch }, index) => {
    const manifest = manifests[index];
    return manifest === undefined ? [] : [[arch, descriptorOf(manifest)] as const];
  });
  return { agents, empty, manifests, top: documentOf(OCI_INDEX_TYPE, agentIndex(entries)) };
}
