/**
 * Reads a whole file for `fleetctl apply`: every document is right, or every problem is told and nothing is applied.
 *
 * @module
 */
import { isFleetError } from "../../../contracts/errors.ts";
import { MANIFEST_DOCUMENTS_MAX, MANIFEST_MAX_BYTES, RESOURCE_MAX_BYTES } from "../../../contracts/limits.ts";
import { RESOURCE_KINDS } from "../../../contracts/resource.ts";
import { decodeManifest } from "./decode_manifest.ts";
import type { ManifestInput, ManifestProblem } from "./manifest_input.ts";
import { readYamlDocuments, type YamlBounds, type YamlDocument } from "./yaml_documents.ts";

/** Where a document stands. */
export interface DocumentPlace {
  /** Name of the file as it was given; `-` is the standard input. */
  readonly file: string;
  /** Counts from 1 within the file. */
  readonly document: number;
  /** Line of the document or of the field, from 1. */
  readonly line: number;
}

/** A document that may be applied. */
export interface PlacedInput {
  readonly place: DocumentPlace;
  readonly input: ManifestInput;
}

/** A problem with the place where it stands; a problem of the file as a whole has none. */
export interface PlacedProblem extends ManifestProblem {
  readonly file: string;
  readonly document?: number;
  readonly line?: number;
  /** `Kind/name` of the document, as far as it can be read. */
  readonly subject?: string;
}

/** What a file holds. */
export interface ManifestFile {
  readonly inputs: readonly PlacedInput[];
  readonly problems: readonly PlacedProblem[];
}

/** The bounds of a file that is applied. */
export const MANIFEST_BOUNDS: YamlBounds = { maxBytes: MANIFEST_MAX_BYTES, maxDocuments: MANIFEST_DOCUMENTS_MAX };

/**
 * Reads a file.
 *
 * @param file Its name, for messages
 * @param bytes Its content, at least up to one byte over the bound
 * @param bounds Bounds. Default {@link MANIFEST_BOUNDS}
 */
export function readManifest(file: string, bytes: Uint8Array, bounds: YamlBounds = MANIFEST_BOUNDS): ManifestFile {
  const inputs: PlacedInput[] = [];
  const problems: PlacedProblem[] = [];
  let documents: YamlDocument[];
  try {
    documents = readYamlDocuments(bytes, bounds);
  } catch (error) {
    if (!isFleetError(error, "E_DECODE")) throw error;
    return { inputs, problems: [{ file, path: "", message: error.message }] };
  }
  if (documents.length === 0) problems.push({ file, path: "", message: "file: has no documents" });
  for (const document of documents) readInto(file, document, inputs, problems);
  return { inputs, problems };
}

/**
 * Names the documents that ask for a resource for which an earlier one asks already.
 *
 * @param inputs Documents of all files, in order
 */
export function repeatedInputs(inputs: readonly PlacedInput[]): PlacedProblem[] {
  const first = new Map<string, DocumentPlace>();
  return inputs.flatMap(({ place, input }) => {
    const subject = `${input.kind}/${input.name}`;
    const earlier = first.get(subject);
    if (earlier === undefined) {
      first.set(subject, place);
      return [];
    }
    const message = `${subject}: stands already in ${earlier.file}, line ${earlier.line}`;
    return [{ ...place, subject, path: "metadata.name", message }];
  });
}

function readInto(file: string, document: YamlDocument, inputs: PlacedInput[], problems: PlacedProblem[]): void {
  const { number, value, problem } = document;
  if (problem !== undefined) {
    problems.push({ file, document: number, line: problem.line, path: "", message: problem.message });
    return;
  }
  for (const { item, base } of itemsOf(value)) {
    const decoded = sizeProblem(item, base) ?? decodeManifest(item, base);
    const line = document.lineOf(base);
    if (decoded.ok) {
      inputs.push({ place: { file, document: number, line }, input: decoded.input });
      continue;
    }
    const subject = subjectOf(item);
    for (const found of decoded.problems) {
      problems.push({
        ...withQuotesHint(found, document),
        file,
        document: number,
        line: document.lineOf(found.path),
        ...(subject === undefined ? {} : { subject }),
      });
    }
  }
}

/** A list, as `get --output json` prints it, stands for its items. */
function itemsOf(value: unknown): { item: unknown; base: string }[] {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    const { kind, items } = value as Record<string, unknown>;
    if (RESOURCE_KINDS.some((known) => kind === `${known}List`) && Array.isArray(items)) {
      return items.map((item: unknown, index) => ({ item, base: `items[${index}]` }));
    }
  }
  return [{ item: value, base: "" }];
}

function sizeProblem(value: unknown, path: string): { ok: false; problems: ManifestProblem[] } | undefined {
  const sizeBytes = new TextEncoder().encode(JSON.stringify(value) ?? "").byteLength;
  if (sizeBytes <= RESOURCE_MAX_BYTES) return undefined;
  const message = `${path || "document"}: has ${sizeBytes} bytes as JSON, at most ${RESOURCE_MAX_BYTES}`;
  return { ok: false, problems: [{ path, message }] };
}

function subjectOf(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { kind, metadata } = value as Record<string, unknown>;
  if (typeof metadata !== "object" || metadata === null) return undefined;
  const { name } = metadata as Record<string, unknown>;
  return typeof kind === "string" && typeof name === "string" ? `${kind}/${name}`.slice(0, 128) : undefined;
}

/** `version: 1.10` is the number 1.1; nobody who wrote it can see why it is refused. */
function withQuotesHint(problem: ManifestProblem, document: YamlDocument): ManifestProblem {
  if (problem.hint !== undefined || !/, not (?:a number|a boolean|null)$/.test(problem.message)) return problem;
  const source = document.plainSourceOf(problem.path);
  if (source === undefined || source === "") return problem;
  return { ...problem, hint: `YAML reads ${source} as a value of that type; put it in quotes: "${source}"` };
}
