/**
 * Checks a decoder against a good document by breaking the document in every place and every way that JSON allows.
 *
 * @module
 */
import { type Decoder, isOptional, structureOf } from "../../contracts/codec.ts";
import { FleetError } from "../../contracts/errors.ts";
import { assert, assertEquals, fail } from "./mod.ts";

/** One value of every JSON type. */
const EVERY_TYPE: readonly unknown[] = [null, true, 7.5, "text", [], {}];

/** Exceptions of a decoder from the general rules, by path of the field; `[]` stands for any index. */
export interface StrictDecoderOptions {
  /** Fields that may be null. */
  readonly nullable?: readonly string[];
  /** Fields that take any value. */
  readonly anything?: readonly string[];
  /** Optional members without which a rule over the whole document fails. */
  readonly neededByRule?: readonly string[];
}

/** A place in the document. */
interface Place {
  readonly path: string;
  readonly decoder: Decoder<unknown>;
  readonly value: unknown;
  /** The whole document with another value here; undefined removes the member. */
  readonly replaced: (value: unknown) => unknown;
}

/**
 * Fails unless the decoder takes the document, ignores unknown members in each of its objects, and rejects with
 * `E_DECODE` and the path of the field: each missing member that is not optional, and each value of another type.
 *
 * @param decoder The decoder
 * @param document A document with every member; one item of a list may have what another lacks
 * @param options Exceptions
 */
export function assertStrictDecoder(
  decoder: Decoder<unknown>,
  document: unknown,
  options: StrictDecoderOptions = {},
): void {
  const good = decoder(document, "");
  const anyIndex = (path: string) => path.replaceAll(/\[\d+\]/g, "[]");
  const is = (paths: readonly string[] | undefined, path: string) => paths?.includes(anyIndex(path)) ?? false;
  const known = new Set<string>();
  const present = new Set<string>();
  visit({ path: "", decoder, value: document, replaced: (value) => value }, (place) => {
    if (is(options.anything, place.path)) return;
    for (const wrong of EVERY_TYPE) {
      if (typeOf(wrong) === typeOf(place.value)) continue;
      if (wrong === null && is(options.nullable, place.path)) continue;
      assertRejected(decoder, place.replaced(wrong), place.path, `${place.path} = ${JSON.stringify(wrong)}`);
    }
    const structure = structureOf(place.decoder);
    if (structure?.kind !== "object") return;
    assertUnknownIgnored(decoder, place, good);
    for (const [name, member] of Object.entries(structure.members)) {
      const path = place.path === "" ? name : `${place.path}.${name}`;
      known.add(anyIndex(path));
      if (!Object.hasOwn(place.value as object, name)) continue;
      present.add(anyIndex(path));
      const { [name]: _, ...rest } = place.value as Record<string, unknown>;
      if (!isOptional(member)) assertRejected(decoder, place.replaced(rest), path, `${path} removed`, "is missing");
      else if (!is(options.neededByRule, path)) decoder(place.replaced(rest), "");
    }
  });
  assertEquals([...known.difference(present)], [], "the document lacks members, so that they are not checked");
}

function visit(place: Place, check: (place: Place) => void): void {
  check(place);
  const structure = structureOf(place.decoder);
  if (structure === undefined || typeof place.value !== "object" || place.value === null) return;
  if (Array.isArray(place.value)) {
    const items: unknown[] = place.value;
    if (structure.kind !== "list") fail(`${place.path} is a list and its decoder is not`);
    items.forEach((value, index) =>
      visit({
        path: `${place.path}[${index}]`,
        decoder: structure.item,
        value,
        replaced: (other) => place.replaced(items.with(index, other)),
      }, check)
    );
    return;
  }
  for (const [name, value] of Object.entries(place.value)) {
    const decoder = structure.kind === "object" ? structure.members[name] : structure.item;
    if (decoder === undefined || structure.kind === "list") fail(`${place.path}.${name} is not known to the decoder`);
    visit({
      path: place.path === "" ? name : `${place.path}.${name}`,
      decoder,
      value,
      replaced: (other) => place.replaced({ ...place.value as object, [name]: other }),
    }, check);
  }
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "list" : typeof value;
}

function assertUnknownIgnored(decoder: Decoder<unknown>, place: Place, good: unknown): void {
  // As JSON.parse makes them: __proto__ is an own member there.
  const unknown: object = JSON.parse('{"zz":[{"a":null}],"__proto__":{"schema":9},"constructor":1,"toString":2}');
  const entries = [...Object.entries(place.value as object), ...Object.entries(unknown)];
  assertEquals(decoder(place.replaced(Object.fromEntries(entries)), ""), good, `unknown members at ${place.path}`);
}

/**
 * Fails unless a decoder rejects a value with `E_DECODE` for a field.
 *
 * @param decoder The decoder
 * @param value The bad value
 * @param field Path of the field; "" for the document
 * @param what What is tried, for the message
 * @param problem What the message must say of it
 */
export function assertRejected(
  decoder: Decoder<unknown>,
  value: unknown,
  field: string,
  what?: string,
  problem = "",
): void {
  const name = what ?? (JSON.stringify(value) ?? "undefined").slice(0, 100);
  try {
    decoder(value, "");
  } catch (error) {
    if (!(error instanceof FleetError)) throw error;
    assertEquals(
      [error.code, error.field],
      ["E_DECODE", field === "" ? "document" : field],
      `${name}: ${error.message}`,
    );
    assert(error.message.startsWith(`${error.field}: `) && error.message.includes(problem), error.message);
    return;
  }
  fail(`${name} is accepted`);
}
