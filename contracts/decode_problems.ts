/**
 * Finds everything that is wrong with a document, not only the first thing: a person who edits a file wants one list
 * (issue 3: every error named).
 *
 * @module
 */
import { decodeError, type Decoder, isOptional, structureOf } from "./codec.ts";
import { type FleetError, isFleetError } from "./errors.ts";
import { unknownMembers } from "./unknown_members.ts";

/**
 * Lists what is wrong with a value, unknown members included, in document order; empty when it is right.
 *
 * @param decoder The decoder of the value
 * @param value A parsed value
 * @param path Dotted path where it stands. Default the document itself
 *
 * @example
 * ```ts
 * import { integer, object } from "./codec.ts";
 * import { decodeProblems } from "./decode_problems.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const decoder = object({ port: integer(1, 65_535), retries: integer(0) });
 * const problems = decodeProblems(decoder, { port: 0, retris: 3 }).map(({ message }) => message);
 * assertEquals(problems, [
 *   "port: is 0, must be from 1 to 65535",
 *   "retries: is missing",
 *   "retris: is not known here, known are port, retries",
 * ]);
 * ```
 */
export function decodeProblems(decoder: Decoder<unknown>, value: unknown, path = ""): FleetError[] {
  return [...knownProblems(decoder, value, path), ...unknownProblems(decoder, value, path)];
}

/**
 * Lists the members that a decoder does not know, as problems.
 *
 * @param decoder The decoder of the value
 * @param value A parsed value
 * @param path Dotted path where it stands. Default the document itself
 */
export function unknownProblems(decoder: Decoder<unknown>, value: unknown, path = ""): FleetError[] {
  return unknownMembers(decoder, value, path).map((member) =>
    decodeError(member.path.slice(0, 256), `is not known here, known are ${member.known.join(", ")}`)
  );
}

function problemOf(decoder: Decoder<unknown>, value: unknown, path: string): FleetError[] {
  try {
    decoder(value, path);
    return [];
  } catch (error) {
    if (isFleetError(error, "E_DECODE")) return [error];
    throw error;
  }
}

/**
 * Lists what is wrong with a value, unknown members left out.
 *
 * @param decoder The decoder of the value
 * @param value A parsed value
 * @param path Dotted path where it stands
 */
export function knownProblems(decoder: Decoder<unknown>, value: unknown, path: string): FleetError[] {
  const whole = problemOf(decoder, value, path);
  // The decoder has named the first problem; the parts are looked at to name the others too.
  if (whole.length === 0) return [];
  const parts = partProblems(decoder, value, path);
  return parts.length > 0 ? parts : whole;
}

function partProblems(decoder: Decoder<unknown>, value: unknown, path: string): FleetError[] {
  const structure = structureOf(decoder);
  if (structure === undefined || typeof value !== "object" || value === null) return [];
  if (structure.kind === "list") {
    if (!Array.isArray(value)) return [];
    return value.flatMap((entry, index) => knownProblems(structure.item, entry, `${path}[${index}]`));
  }
  if (Array.isArray(value)) return [];
  const at = (name: string) => path === "" ? name : `${path}.${name}`;
  if (structure.kind === "map") {
    return Object.entries(value).flatMap(([name, entry]) => knownProblems(structure.item, entry, at(name)));
  }
  return Object.entries(structure.members).flatMap(([name, member]) => {
    const entry: unknown = Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;
    if (entry !== undefined) return knownProblems(member, entry, at(name));
    return isOptional(member) ? [] : [decodeError(at(name), "is missing")];
  });
}
