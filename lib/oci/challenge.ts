/**
 * Reads what a registry asks for with status 401 (RFC 9110, 11.6.1; Distribution token authentication). Pure: the text
 * comes from outside and may be anything.
 *
 * @module
 */
import { OCI_CHALLENGE_MAX_CHARS } from "../../contracts/limits.ts";

/** What a registry asks for. */
export type Challenge =
  | { readonly kind: "basic" }
  /** Where a token is to be had, and for what. */
  | { readonly kind: "bearer"; readonly realm: string; readonly service?: string; readonly scope?: string };

const TOKEN_SOURCE = "[!#$%&'*+.^_`|~\\w-]+";
/** A scheme with the first of its parameters, or the next parameter; separators stand before it. */
const PART_REGEXP = new RegExp(
  `[\\s,]*(?:(${TOKEN_SOURCE})[ \\t]+)?(${TOKEN_SOURCE})[ \\t]*=[ \\t]*(?:"((?:[^"\\\\]|\\\\.)*)"|(${TOKEN_SOURCE}))`,
  "y",
);
const LONE_SCHEME_REGEXP = new RegExp(`[\\s,]*(${TOKEN_SOURCE})(?=[ \\t]*(?:,|$))`, "y");

interface Scheme {
  readonly name: string;
  readonly parameters: Map<string, string>;
}

/** What can be read, up to the first thing that cannot. */
function schemesOf(header: string): Scheme[] {
  const schemes: Scheme[] = [];
  for (let at = 0; at < header.length;) {
    LONE_SCHEME_REGEXP.lastIndex = at;
    const lone = LONE_SCHEME_REGEXP.exec(header);
    if (lone !== null) {
      schemes.push({ name: (lone[1] ?? "").toLowerCase(), parameters: new Map() });
      at = LONE_SCHEME_REGEXP.lastIndex;
      continue;
    }
    PART_REGEXP.lastIndex = at;
    const part = PART_REGEXP.exec(header);
    if (part === null) break;
    const [, scheme, name = "", quoted, plain = ""] = part;
    if (scheme !== undefined) schemes.push({ name: scheme.toLowerCase(), parameters: new Map() });
    const parameters = schemes.at(-1)?.parameters;
    // The first of two is what other readers take.
    if (parameters?.has(name.toLowerCase()) === false) {
      parameters.set(name.toLowerCase(), quoted === undefined ? plain : quoted.replaceAll(/\\(.)/g, "$1"));
    }
    at = PART_REGEXP.lastIndex;
  }
  return schemes;
}

/**
 * The challenges of a `WWW-Authenticate` header that this library can answer, in its order.
 *
 * @param header The header, or null
 */
export function parseChallenges(header: string | null): Challenge[] {
  if (header === null || header.length > OCI_CHALLENGE_MAX_CHARS) return [];
  return schemesOf(header).flatMap(({ name, parameters }): Challenge[] => {
    if (name === "basic") return [{ kind: "basic" }];
    const realm = parameters.get("realm");
    if (name !== "bearer" || realm === undefined) return [];
    const service = parameters.get("service");
    const scope = parameters.get("scope");
    return [{
      kind: "bearer",
      realm,
      ...(service === undefined ? {} : { service }),
      ...(scope === undefined ? {} : { scope }),
    }];
  });
}
