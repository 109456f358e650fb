/**
 * Strict and bounded decoding of JSON documents from outside.
 *
 * A decoder takes a parsed value and the path where it stands, and returns a typed value or throws one
 * {@link FleetError} with code `E_DECODE` that names the field, the problem and the limit. Unknown members of an object
 * are ignored, so that an older reader takes a newer writer's document (issue 3).
 *
 * @module
 */
import { FleetError } from "./errors.ts";
import { JSON_DEPTH_MAX } from "./limits.ts";

/** Turns a parsed JSON value into a `T`, or throws `E_DECODE` with the path of the field. */
export type Decoder<T> = (value: unknown, path: string) => T;

const STRUCTURE = Symbol("structure");

/** Which documents a decoder takes, for readers that must know what is unknown to it. */
export type Structure =
  | { readonly kind: "object"; readonly members: Readonly<Record<string, Decoder<unknown>>> }
  | { readonly kind: "list"; readonly item: Decoder<unknown> }
  | { readonly kind: "map"; readonly item: Decoder<unknown> };

/**
 * The structure of the documents that a decoder takes; undefined for scalars and for decoders made by hand.
 *
 * @param decoder Any decoder
 */
export function structureOf(decoder: Decoder<unknown>): Structure | undefined {
  return STRUCTURE in decoder ? decoder[STRUCTURE] as Structure : undefined;
}

function structured<T>(decoder: Decoder<T>, structure: Structure | undefined): Decoder<T> {
  return structure === undefined ? decoder : Object.assign(decoder, { [STRUCTURE]: structure });
}

/**
 * Adds rules or defaults to a decoder and keeps its structure.
 *
 * @param decoder Decodes the members
 * @param refine Checks them against one another, or completes them
 */
export function refined<T, U>(decoder: Decoder<T>, refine: (value: T, path: string) => U): Decoder<U> {
  return structured((value, path) => refine(decoder(value, path), path), structureOf(decoder));
}

/**
 * Bounds a document by its size as JSON, where the bounds of its members allow more in sum than there is room for.
 *
 * @param decoder Decodes the document
 * @param maxBytes Most bytes of UTF-8
 */
export function boundedJson<T>(decoder: Decoder<T>, maxBytes: number): Decoder<T> {
  return refined(decoder, (value, path) => {
    const sizeBytes = new TextEncoder().encode(JSON.stringify(value)).byteLength;
    if (sizeBytes > maxBytes) throw decodeError(path, `has ${sizeBytes} bytes as JSON, at most ${maxBytes}`);
    return value;
  });
}

/** The type that a decoder returns. */
export type Decoded<D> = D extends Decoder<infer T> ? T : never;

/** A named string format with the most characters it may have. */
export interface StringFormat {
  /** What the text is, for error messages: "a device id". */
  readonly what: string;
  /** Most characters (UTF-16 code units). */
  readonly maxChars: number;
  /** Fewest characters. Default 1. */
  readonly minChars?: number;
  /** What the whole text must match. */
  readonly pattern?: RegExp;
  /** A check that a pattern cannot express; returns the problem, or undefined. */
  readonly check?: (text: string) => string | undefined;
}

/**
 * The error of a document that breaks its contract.
 *
 * @param path Dotted path of the field
 * @param problem What is wrong with its value, and the limit
 */
export function decodeError(path: string, problem: string): FleetError {
  const field = path === "" ? "document" : path;
  return new FleetError(`${field}: ${problem}`, { code: "E_DECODE", failureClass: "policy", field });
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : `a ${typeof value}`;
}

/**
 * Decodes a string of a format. The length is checked before the pattern.
 *
 * @param format The format
 */
export function text(format: StringFormat): Decoder<string> {
  const { what, maxChars, minChars = 1, pattern, check } = format;
  return (value, path) => {
    if (typeof value !== "string") throw decodeError(path, `must be ${what}, not ${typeName(value)}`);
    if (value.length > maxChars) throw decodeError(path, `has ${value.length} characters, at most ${maxChars}`);
    if (value.length < minChars) throw decodeError(path, `must be ${what} of at least ${minChars} characters`);
    // Canonical JSON cannot express one, so that no digest could bind the document (RFC 8785).
    if (!value.isWellFormed()) throw decodeError(path, "contains a lone surrogate");
    if (pattern !== undefined && !pattern.test(value)) throw decodeError(path, `is not ${what}`);
    const problem = check?.(value);
    if (problem !== undefined) throw decodeError(path, problem);
    return value;
  };
}

/**
 * Decodes a safe integer within a range, both ends included.
 *
 * @param min Smallest value
 * @param max Largest value. Default the largest safe integer
 */
export function integer(min: number, max: number = Number.MAX_SAFE_INTEGER): Decoder<number> {
  return (value, path) => {
    if (typeof value !== "number" || !Number.isSafeInteger(value)) {
      throw decodeError(path, `must be an integer, not ${typeof value === "number" ? value : typeName(value)}`);
    }
    if (value < min || value > max) throw decodeError(path, `is ${value}, must be from ${min} to ${max}`);
    return value;
  };
}

/** Decodes a boolean. */
export const flag: Decoder<boolean> = (value: unknown, path: string): boolean => {
  if (typeof value !== "boolean") throw decodeError(path, `must be true or false, not ${typeName(value)}`);
  return value;
};

/**
 * Decodes one of a closed list of strings or numbers.
 *
 * @param values The list
 */
export function oneOf<const T extends string | number>(values: readonly T[]): Decoder<T> {
  return (value, path) => {
    const found = values.find((candidate) => candidate === value);
    if (found === undefined) {
      const shown = typeof value === "string" || typeof value === "number"
        ? JSON.stringify(value).slice(0, 64)
        : typeName(value);
      throw decodeError(path, `is ${shown}, must be one of ${values.join(", ")}`);
    }
    return found;
  };
}

/**
 * Decodes one of a list of strings that newer writers may add to: any other one is read as `otherwise`. For words that
 * tell people something and decide nothing, so that none of them makes a whole document unreadable.
 *
 * @param values The list
 * @param otherwise What a string that is not in it is read as
 */
export function oneOfOr<const T extends string>(values: readonly T[], otherwise: NoInfer<T>): Decoder<T> {
  const known = oneOf(values);
  return (value, path) => typeof value === "string" && !values.includes(value as T) ? otherwise : known(value, path);
}

/**
 * Decodes a list of at most `maxItems` items.
 *
 * @param item Decoder of one item
 * @param maxItems Most items
 * @param minItems Fewest items. Default 0
 */
export function list<T>(item: Decoder<T>, maxItems: number, minItems = 0): Decoder<T[]> {
  const decoder: Decoder<T[]> = (value, path) => {
    if (!Array.isArray(value)) throw decodeError(path, `must be a list, not ${typeName(value)}`);
    if (value.length > maxItems) throw decodeError(path, `has ${value.length} items, at most ${maxItems}`);
    if (value.length < minItems) throw decodeError(path, `has ${value.length} items, at least ${minItems}`);
    return value.map((entry, index) => item(entry, `${path}[${index}]`));
  };
  return structured(decoder, { kind: "list", item });
}

/** Path of a member whose name is known. */
function memberPath(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

/** Path of a member whose name is data: what could break a log line is escaped, what is too long is cut. */
function dataPath(path: string, name: string): string {
  const shown = name.slice(0, 64);
  return memberPath(path, /^[\w./:-]+$/.test(shown) ? shown : JSON.stringify(shown));
}

function members(value: unknown, path: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw decodeError(path, `must be an object, not ${typeName(value)}`);
  }
  return value as Record<string, unknown>;
}

/**
 * Decodes an object whose keys are data, such as labels.
 *
 * @param key Decoder of a key
 * @param item Decoder of a value
 * @param maxItems Most members
 */
export function map<T>(key: Decoder<string>, item: Decoder<T>, maxItems: number): Decoder<Record<string, T>> {
  const decoder: Decoder<Record<string, T>> = (value, path) => {
    const entries = Object.entries(members(value, path));
    if (entries.length > maxItems) throw decodeError(path, `has ${entries.length} members, at most ${maxItems}`);
    // fromEntries defines own properties, so that a key such as __proto__ stays data.
    return Object.fromEntries(entries.map(([name, entry]) => {
      const at = dataPath(path, name);
      return [key(name, at), item(entry, at)];
    }));
  };
  return structured(decoder, { kind: "map", item });
}

/** Marks the decoder of a member that may be absent. */
export const OPTIONAL: unique symbol = Symbol("optional");

/** A decoder that {@link object} lets be absent. */
export interface OptionalDecoder<T> extends Decoder<T> {
  /** The mark. */
  readonly [OPTIONAL]: true;
}

/**
 * Marks a member of {@link object} as one that may be absent. `null` is not absent.
 *
 * @param decoder Decoder of the value when there is one
 */
export function optional<T>(decoder: Decoder<T>): OptionalDecoder<T> {
  const copy = structured((value: unknown, path: string) => decoder(value, path), structureOf(decoder));
  return Object.assign(copy, { [OPTIONAL]: true as const });
}

/**
 * Whether a decoder marks a member that may be absent.
 *
 * @param decoder Any decoder
 */
export function isOptional(decoder: Decoder<unknown>): boolean {
  return OPTIONAL in decoder;
}

/**
 * Lets a value be `null`.
 *
 * @param decoder Decoder of the value when it is not null
 */
export function nullable<T>(decoder: Decoder<T>): Decoder<T | null> {
  return structured((value, path) => value === null ? null : decoder(value, path), structureOf(decoder));
}

/** Decoders of an object's members, by name. */
export type Shape = Record<string, Decoder<unknown>>;
/** Names of the members that may be absent. */
export type OptionalKeys<S extends Shape> = {
  [K in keyof S]: S[K] extends OptionalDecoder<unknown> ? K : never;
}[keyof S];
/** The same type, shown as one list of members. */
export type Simplify<T> = { [K in keyof T]: T[K] };

/** What {@link object} returns for a shape: required members, then those that may be absent. */
export type ObjectOf<S extends Shape> = Simplify<
  & { readonly [K in Exclude<keyof S, OptionalKeys<S>>]: Decoded<S[K]> }
  & { readonly [K in OptionalKeys<S>]?: Decoded<S[K]> }
>;

/**
 * Decodes an object with known members; unknown ones are left out of the result.
 *
 * @param shape Decoder of each member
 */
export function object<S extends Shape>(shape: S): Decoder<ObjectOf<S>> {
  const entries = Object.entries(shape);
  const decoder: Decoder<ObjectOf<S>> = (value, path) => {
    const source = members(value, path);
    const result: Record<string, unknown> = {};
    for (const [name, decoder] of entries) {
      const at = memberPath(path, name);
      if (Object.hasOwn(source, name) && source[name] !== undefined) result[name] = decoder(source[name], at);
      else if (!(OPTIONAL in decoder)) throw decodeError(at, "is missing");
    }
    return result as ObjectOf<S>;
  };
  return structured(decoder, { kind: "object", members: shape });
}

/** Bounds of {@link parseJson}. */
export interface ParseBounds {
  /** Most bytes of UTF-8. */
  readonly maxBytes: number;
  /** Most nesting of lists and objects. Default {@link JSON_DEPTH_MAX}. */
  readonly maxDepth?: number;
}

/**
 * Parses JSON bytes after checking their size and nesting, so that no input costs more than its bound.
 *
 * @param bytes UTF-8
 * @param bounds Size and nesting
 * @throws {FleetError} `E_DECODE` when a bound is passed, the bytes are not UTF-8, the text is not JSON, or a name or text
 * in it has a lone surrogate
 */
export function parseJson(bytes: Uint8Array, bounds: ParseBounds): unknown {
  const { maxBytes, maxDepth = JSON_DEPTH_MAX } = bounds;
  if (bytes.byteLength > maxBytes) throw decodeError("", `has ${bytes.byteLength} bytes, at most ${maxBytes}`);
  let source: string;
  try {
    source = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw decodeError("", "is not UTF-8");
  }
  if (nestingExceeds(source, maxDepth)) throw decodeError("", `is nested deeper than ${maxDepth} levels`);
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch {
    throw decodeError("", "is not JSON");
  }
  // The bytes are UTF-8, so that only an escape can bring one in.
  if (source.includes("\\u") && !isWellFormed(value)) throw decodeError("", "contains a lone surrogate");
  return value;
}

/** Whether every name and text can be written in Unicode, and thus have a digest (RFC 8785). */
function isWellFormed(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([name, entry]) => name.isWellFormed() && isWellFormed(entry));
}

/** Looks at brackets outside of strings only; a text that is not JSON fails in the parser after it. */
function nestingExceeds(source: string, maxDepth: number): boolean {
  let depth = 0;
  let quoted = false;
  for (let index = 0; index < source.length; index++) {
    const unit = source.charCodeAt(index);
    if (quoted) {
      if (unit === 0x5c) index++;
      else if (unit === 0x22) quoted = false;
    } else if (unit === 0x22) quoted = true;
    else if (unit === 0x7b || unit === 0x5b) {
      if (++depth > maxDepth) return true;
    } else if (unit === 0x7d || unit === 0x5d) depth--;
  }
  return false;
}

/**
 * Parses and decodes a document in one step.
 *
 * @param decoder The document's decoder
 * @param bytes UTF-8
 * @param maxBytes Most bytes
 * @throws {FleetError} `E_DECODE` as {@link parseJson} and the decoder do
 */
export function decodeBytes<T>(decoder: Decoder<T>, bytes: Uint8Array, maxBytes: number): T {
  return decoder(parseJson(bytes, { maxBytes }), "");
}
