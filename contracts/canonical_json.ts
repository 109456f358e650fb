/**
 * Canonical JSON (RFC 8785): one text for one value, whatever order or spacing it came in, so that a digest over it
 * binds the content.
 *
 * @module
 */
import { FleetError } from "./errors.ts";
import { JSON_DEPTH_MAX } from "./limits.ts";

/** Where the writer stands: names and indexes from the document's root. */
type Trail = (string | number)[];

function canonicalError(trail: Trail, problem: string): FleetError {
  const path = trail.reduce<string>(
    (text, step) => typeof step === "number" ? `${text}[${step}]` : text === "" ? step : `${text}.${step}`,
    "",
  );
  const field = path === "" ? "document" : path.slice(0, 256);
  return new FleetError(`${field}: ${problem}`, { code: "E_CANONICAL", failureClass: "policy", field });
}

/**
 * The canonical text of a JSON value (RFC 8785): members sorted by the UTF-16 code units of their names, numbers and
 * strings as ECMAScript writes them, no white space. `-0` is written as `0`.
 *
 * @param value What `JSON.parse` can return, nested at most {@link JSON_DEPTH_MAX} levels
 * @throws {FleetError} `E_CANONICAL` with the field, for a number that is not finite, a lone surrogate, `undefined` (as
 * a member too), any other value that JSON does not have, or nesting (cycles included) past the bound
 *
 * @example
 * ```ts
 * import { canonicalJson } from "./canonical_json.ts";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(canonicalJson({ b: [1.0, 1e21], a: "x" }), '{"a":"x","b":[1,1e+21]}');
 * ```
 */
export function canonicalJson(value: unknown): string {
  return write(value, []);
}

function write(value: unknown, trail: Trail): string {
  switch (typeof value) {
    case "string":
      return writeString(value, trail);
    case "number":
      if (!Number.isFinite(value)) throw canonicalError(trail, `is ${value}, which JSON cannot express`);
      return JSON.stringify(value);
    case "boolean":
      return value ? "true" : "false";
    case "object":
      if (value === null) return "null";
      if (trail.length >= JSON_DEPTH_MAX) {
        throw canonicalError(trail, `is nested deeper than ${JSON_DEPTH_MAX} levels`);
      }
      return Array.isArray(value) ? writeList(value, trail) : writeObject(value, trail);
    default:
      throw canonicalError(trail, `is of type ${typeof value}, which JSON does not have`);
  }
}

function writeString(text: string, trail: Trail): string {
  // JSON.stringify would write a lone surrogate as an escape, which RFC 8785 (I-JSON) forbids.
  if (!text.isWellFormed()) throw canonicalError(trail, "contains a lone surrogate");
  return JSON.stringify(text);
}

function writeList(items: readonly unknown[], trail: Trail): string {
  let text = "[";
  // By index, not map: a hole is undefined and must be refused, not skipped.
  for (let index = 0; index < items.length; index++) {
    trail.push(index);
    text += (index === 0 ? "" : ",") + write(items[index], trail);
    trail.pop();
  }
  return `${text}]`;
}

function writeObject(source: object, trail: Trail): string {
  const prototype: unknown = Object.getPrototypeOf(source);
  if (prototype !== Object.prototype && prototype !== null) {
    throw canonicalError(trail, "is an instance of a class, which JSON does not have");
  }
  let text = "{";
  // The default sort compares UTF-16 code units, which is the order of RFC 8785, 3.2.3.
  for (const name of Object.keys(source).sort()) {
    const key = writeString(name, trail);
    trail.push(name);
    text += `${text === "{" ? "" : ","}${key}:${write(Reflect.get(source, name), trail)}`;
    trail.pop();
  }
  return `${text}}`;
}
