/**
 * Finds the members of a document that its decoder does not know. Programs ignore them, so that an older reader takes a
 * newer writer's document (issue 3); a file that a person wrote is another matter: there a typo must not pass unseen.
 *
 * @module
 */
import { type Decoder, structureOf } from "./codec.ts";

/** A member that a decoder does not know. */
export interface UnknownMember {
  /** Dotted path of the member. */
  readonly path: string;
  /** Its own name, the last part of the path. */
  readonly name: string;
  /** Names that the decoder knows at the same place. */
  readonly known: readonly string[];
}

/**
 * Lists the members of a value that its decoder ignores, in document order.
 *
 * @param decoder The decoder of the value
 * @param value A parsed value that the decoder accepts or rejects; where its type is wrong, nothing is looked at
 * @param path Dotted path where the value stands. Default the document itself
 */
export function unknownMembers(decoder: Decoder<unknown>, value: unknown, path = ""): UnknownMember[] {
  const structure = structureOf(decoder);
  if (structure === undefined || typeof value !== "object" || value === null) return [];
  if (structure.kind === "list") {
    if (!Array.isArray(value)) return [];
    return value.flatMap((entry, index) => unknownMembers(structure.item, entry, `${path}[${index}]`));
  }
  if (Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([name, entry]) => {
    const at = path === "" ? name : `${path}.${name}`;
    if (structure.kind === "map") return unknownMembers(structure.item, entry, at);
    const member = Object.hasOwn(structure.members, name) ? structure.members[name] : undefined;
    if (member === undefined) return [{ path: at, name, known: Object.keys(structure.members) }];
    return unknownMembers(member, entry, at);
  });
}
