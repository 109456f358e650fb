/**
 * Asks for a token as a challenge says, and reads the answer (Distribution token authentication). Pure.
 *
 * @module
 */
import { OCI_TOKEN_MAX_CHARS } from "../../contracts/limits.ts";
import type { Challenge } from "./challenge.ts";

/** Scopes as registries write them; anything else would be a way to put parameters into the request. */
const SCOPE_REGEXP = /^[\w./:,* -]{1,1024}$/;

/**
 * The URL that gives a token.
 *
 * @param challenge What the registry asks for
 * @param scope The scope where it names none
 * @returns the URL, or what is wrong with the challenge
 */
export function tokenUrl(
  challenge: Extract<Challenge, { kind: "bearer" }>,
  scope: string,
): { readonly url: string } | { readonly problem: string } {
  if (!URL.canParse(challenge.realm)) return { problem: "it names no URL for tokens" };
  const url = new URL(challenge.realm);
  // A token service in plain text would tell everybody on the way what to answer.
  if (url.protocol !== "https:") return { problem: "its tokens do not come over https" };
  if (url.username !== "" || url.password !== "") return { problem: "its URL for tokens has credentials" };
  const wanted = challenge.scope ?? scope;
  if (!SCOPE_REGEXP.test(wanted)) return { problem: "it names a scope that is none" };
  url.hash = "";
  if (challenge.service !== undefined) url.searchParams.set("service", challenge.service);
  for (const one of wanted.split(" ").filter((part) => part !== "")) url.searchParams.append("scope", one);
  return { url: url.href };
}

/**
 * The token in a service's answer; undefined when there is none that can be sent.
 *
 * @param value The parsed JSON
 */
export function tokenOf(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const answer = value as Readonly<Record<string, unknown>>;
  const token = answer.token ?? answer.access_token;
  const isUsable = typeof token === "string" && token.length <= OCI_TOKEN_MAX_CHARS && /^[\u0021-\u007e]+$/.test(token);
  return isUsable ? token : undefined;
}
