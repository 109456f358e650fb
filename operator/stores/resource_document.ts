/**
 * A resource as it stands in the embedded store's bucket: the resource itself, without its `resourceVersion`, which is
 * the revision of its key, and with the schema version of the document.
 *
 * Everything is decoded on the way in and on the way out. Members that this version does not know survive a write of
 * the other part: a status written by this operator keeps the spec that a newer one stored.
 *
 * @module
 */
import { type Decoded, decodeError, integer, object, oneOf, parseJson } from "../../contracts/codec.ts";
import { FleetError, isFleetError } from "../../contracts/errors.ts";
import { instant, labels, resourceName, uuid } from "../../contracts/formats.ts";
import { RESOURCE_MAX_BYTES } from "../../contracts/limits.ts";
import { API_VERSION, type ResourceKind } from "../../contracts/resource.ts";
import type { ResourceOf } from "./port.ts";
import { RESOURCE_RULES } from "./resource_rules.ts";

/** Schema version of a stored document. A newer one is not read: it was raised because it must not be. */
export const RESOURCE_DOCUMENT_SCHEMA = 1;

const documentHead = object({
  schema: integer(1, RESOURCE_DOCUMENT_SCHEMA),
  apiVersion: oneOf([API_VERSION]),
  metadata: object({
    name: resourceName,
    labels,
    uid: uuid,
    generation: integer(1),
    creationTimestamp: instant,
  }),
});
/** Metadata as the document has it. */
export type DocumentMetadata = Decoded<typeof documentHead>["metadata"];

/** The parts of a document before they are encoded; spec and status as they came, unknown members included. */
export interface DocumentParts<K extends ResourceKind> {
  readonly kind: K;
  readonly metadata: DocumentMetadata;
  readonly spec: unknown;
  readonly status?: unknown;
}

/** A decoded document, with the parts that a later write keeps. */
export interface StoredDocument<K extends ResourceKind> {
  readonly resource: ResourceOf[K];
  readonly parts: DocumentParts<K>;
}

/** First token of a kind's keys. */
function keyPrefix(kind: ResourceKind): string {
  return `${kind.toLowerCase()}.`;
}

/** Key filter of all resources of a kind; a name may have dots, which are tokens of their own. */
export function kindFilter(kind: ResourceKind): string {
  return `${keyPrefix(kind)}>`;
}

/**
 * Key of a resource.
 *
 * @throws {FleetError} `E_DECODE` when the name breaks the kind's format: it would name another key, or none
 */
export function resourceKey(kind: ResourceKind, name: string): string {
  return keyPrefix(kind) + RESOURCE_RULES[kind].name(name, "metadata.name");
}

/** The name that a key of the kind's filter stands for. */
export function nameOfKey(kind: ResourceKind, key: string): string {
  return key.slice(keyPrefix(kind).length);
}

/**
 * Encodes a document.
 *
 * @throws {FleetError} `E_DECODE` when it has more than {@link RESOURCE_MAX_BYTES}
 */
export function encodeDocument<K extends ResourceKind>(parts: DocumentParts<K>): Uint8Array {
  const bytes = new TextEncoder().encode(JSON.stringify({
    schema: RESOURCE_DOCUMENT_SCHEMA,
    apiVersion: API_VERSION,
    ...parts,
  }));
  if (bytes.byteLength > RESOURCE_MAX_BYTES) {
    throw decodeError("", `has ${bytes.byteLength} bytes as JSON, at most ${RESOURCE_MAX_BYTES}`);
  }
  return bytes;
}

/**
 * The resource that parts and a revision make.
 *
 * @throws {FleetError} `E_DECODE` when spec, status or labels break the kind's rules
 */
export function resourceOfParts<K extends ResourceKind>(parts: DocumentParts<K>, revision: number): ResourceOf[K] {
  const rules = RESOURCE_RULES[parts.kind];
  const { name, uid, generation, creationTimestamp } = parts.metadata;
  const resource = {
    apiVersion: API_VERSION,
    kind: parts.kind,
    metadata: {
      name,
      labels: labels(parts.metadata.labels, "metadata.labels"),
      uid,
      resourceVersion: String(revision),
      generation,
      creationTimestamp,
    },
    spec: rules.spec(parts.spec, "spec"),
    ...(parts.status === undefined ? {} : { status: rules.status(parts.status, "status") }),
  };
  // The literal has every member that the kind's type names; TypeScript cannot see that through the type parameter.
  return resource as unknown as ResourceOf[K];
}

/**
 * Decodes a document under its key.
 *
 * @param revision Revision of the key, which becomes `resourceVersion`
 * @throws {FleetError} `E_STORE_MALFORMED` for everything that this version cannot read, with the key and the field
 */
export function decodeDocument<K extends ResourceKind>(
  kind: K,
  key: string,
  value: Uint8Array,
  revision: number,
): StoredDocument<K> {
  try {
    const raw = parseJson(value, { maxBytes: RESOURCE_MAX_BYTES });
    const { metadata } = documentHead(raw, "");
    const { kind: storedKind, spec, status } = raw as Record<string, unknown>;
    if (storedKind !== kind) throw decodeError("kind", `is not ${kind}`);
    if (resourceKey(kind, metadata.name) !== key) throw decodeError("metadata.name", "is not the name of its key");
    for (const [label, wanted] of Object.entries(RESOURCE_RULES[kind].forcedLabels(metadata.name))) {
      if (metadata.labels[label] !== wanted) throw decodeError(`metadata.labels.${label}`, `is not ${wanted}`);
    }
    const known = { ...(raw as { metadata: object }).metadata, ...metadata };
    const parts: DocumentParts<K> = { kind, metadata: known, spec, ...(status === undefined ? {} : { status }) };
    return { resource: resourceOfParts(parts, revision), parts };
  } catch (error) {
    if (!isFleetError(error, "E_DECODE")) throw error;
    throw new FleetError(`Cannot read ${key} in the resource store: ${error.message}`, {
      code: "E_STORE_MALFORMED",
      ...(error.field === undefined ? {} : { field: error.field }),
      cause: error,
    });
  }
}
