/**
 * Reads the documents of a YAML or JSON file within bounds, and remembers on which line each member stands.
 *
 * JSON is read as the YAML that it is, so that both get the same errors. YAML is read as 1.2: `yes` and `on` are texts.
 * Tags and duplicate keys are refused; anchors are taken, recursive ones are not.
 *
 * @module
 */
import { type Document, isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseAllDocuments, visit } from "yaml";
import { decodeError } from "../../../contracts/codec.ts";
import { errorText } from "../../../contracts/errors.ts";
import { JSON_DEPTH_MAX } from "../../../contracts/limits.ts";

/** One document of a file, empty ones left out. */
export interface YamlDocument {
  /** Counts from 1, empty documents included, as a person counts the separators. */
  readonly number: number;
  /** First line of the content, from 1. */
  readonly line: number;
  /** The parsed value; meaningless when there is a problem. */
  readonly value: unknown;
  /** Why the document could not be read, if it could not. */
  readonly problem?: { readonly line: number; readonly message: string };
  /** The line where the member of a dotted path stands, or the nearest member above it. */
  readonly lineOf: (path: string) => number;
  /** How a scalar is written in the file, when it stands there without quotes. */
  readonly plainSourceOf: (path: string) => string | undefined;
}

/** Bounds of {@link readYamlDocuments}. */
export interface YamlBounds {
  readonly maxBytes: number;
  readonly maxDocuments: number;
}

/**
 * Reads all documents of a file.
 *
 * @param bytes UTF-8
 * @param bounds Most bytes and documents
 * @throws {FleetError} `E_DECODE` when the file as a whole cannot be read
 */
export function readYamlDocuments(bytes: Uint8Array, bounds: YamlBounds): YamlDocument[] {
  if (bytes.byteLength > bounds.maxBytes) throw decodeError("file", `has more than ${bounds.maxBytes} bytes`);
  let source: string;
  try {
    source = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw decodeError("file", "is not UTF-8");
  }
  const lines = new LineCounter();
  let documents: Document[];
  try {
    // Keys are checked for duplicates below: the library compares each key with all others.
    documents = [...parseAllDocuments(source, {
      lineCounter: lines,
      uniqueKeys: false,
      stringKeys: true,
      resolveKnownTags: false,
      prettyErrors: false,
      logLevel: "error",
    })];
  } catch (error) {
    // The library recurses once per level; only a text made for it gets here.
    if (error instanceof RangeError) throw decodeError("file", `is nested deeper than ${JSON_DEPTH_MAX} levels`);
    throw error;
  }
  if (documents.length > bounds.maxDocuments) {
    throw decodeError("file", `has ${documents.length} documents, at most ${bounds.maxDocuments}`);
  }
  return documents.flatMap((document, index) => {
    if (document.errors.length === 0 && isEmpty(document)) return [];
    return [readDocument(document, index + 1, (offset) => lines.linePos(offset).line)];
  });
}

function isEmpty(document: Document): boolean {
  return document.contents === null || (isScalar(document.contents) && document.contents.value === null);
}

type LineOf = (offset: number) => number;

function readDocument(document: Document, number: number, lineOfOffset: LineOf): YamlDocument {
  const contents = document.contents;
  const line = lineOfOffset(offsetOf(contents) ?? document.range?.[0] ?? 0);
  const problem = problemOf(document, lineOfOffset);
  const partial = {
    number,
    line,
    lineOf: (path: string) => {
      const offset = locate(document, path).offset;
      return offset === undefined ? line : lineOfOffset(offset);
    },
    plainSourceOf: (path: string) => locate(document, path).plainSource,
  };
  if (problem !== undefined) return { ...partial, value: undefined, problem };
  try {
    const value: unknown = document.toJS();
    const depthProblem = nestingProblem(value);
    return depthProblem === undefined
      ? { ...partial, value }
      : { ...partial, value: undefined, problem: { line, message: depthProblem } };
  } catch (error) {
    // An alias without anchor, or one that expands without bound.
    return { ...partial, value: undefined, problem: { line, message: errorText(error) } };
  }
}

function problemOf(document: Document, lineOfOffset: LineOf): YamlDocument["problem"] {
  const found = document.errors[0] ?? document.warnings[0];
  if (found !== undefined) {
    return { line: lineOfOffset(found.pos[0]), message: `cannot be read as YAML: ${found.message.split("\n")[0]}` };
  }
  const duplicate = duplicateKey(document);
  if (duplicate === undefined) return undefined;
  return { line: lineOfOffset(duplicate.offset), message: `${duplicate.key.slice(0, 64)}: is written twice` };
}

function duplicateKey(document: Document): { key: string; offset: number } | undefined {
  let found: { key: string; offset: number } | undefined;
  visit(document, {
    Map: (_, map) => {
      const seen = new Set<string>();
      for (const { key } of map.items) {
        const name = isScalar(key) ? String(key.value) : String(key);
        if (seen.has(name)) {
          found = { key: name, offset: offsetOf(key) ?? 0 };
          return visit.BREAK;
        }
        seen.add(name);
      }
      return undefined;
    },
  });
  return found;
}

function nestingProblem(value: unknown, depth = 0): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (depth >= JSON_DEPTH_MAX) return `is nested deeper than ${JSON_DEPTH_MAX} levels`;
  for (const inner of Object.values(value)) {
    const problem = nestingProblem(inner, depth + 1);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function offsetOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}

/** Walks a dotted path as far as it goes. Keys may hold dots themselves, so the longest one that fits is taken. */
function locate(document: Document, path: string): { offset: number | undefined; plainSource: string | undefined } {
  let node: unknown = document.contents;
  let offset = offsetOf(node);
  let rest = path;
  while (rest !== "") {
    if (isAlias(node)) node = node.resolve(document);
    const step = isMap(node) ? mapStep(node.items, rest) : isSeq(node) ? listStep(node.items, rest) : undefined;
    if (step === undefined) return { offset, plainSource: undefined };
    offset = step.offset ?? offset;
    node = step.value;
    rest = step.rest;
  }
  const plain = isScalar(node) && node.type === "PLAIN" ? node.source : undefined;
  return { offset, plainSource: plain };
}

interface Step {
  readonly offset: number | undefined;
  readonly value: unknown;
  readonly rest: string;
}

function mapStep(items: readonly { key: unknown; value: unknown }[], path: string): Step | undefined {
  let best: Step | undefined;
  for (const { key, value } of items) {
    const name = isScalar(key) ? String(key.value) : undefined;
    if (name === undefined || !path.startsWith(name)) continue;
    const rest = path.slice(name.length);
    if (rest !== "" && !/^[.[]/.test(rest)) continue;
    if (best === undefined || rest.length < best.rest.length) {
      best = { offset: offsetOf(key), value, rest: rest.replace(/^\./, "") };
    }
  }
  return best;
}

function listStep(items: readonly unknown[], path: string): Step | undefined {
  const found = /^\[(\d+)\]\.?/.exec(path);
  if (found === null) return undefined;
  const value = items[Number(found[1])];
  return value === undefined ? undefined : { offset: offsetOf(value), value, rest: path.slice(found[0].length) };
}
