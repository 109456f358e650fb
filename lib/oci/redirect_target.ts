/**
 * Where a registry sends whoever asks for a blob. Pure.
 *
 * @module
 */

/** What a response says. */
export type RedirectTarget =
  | { readonly kind: "none" }
  | { readonly kind: "follow"; readonly url: string }
  /** What is wrong, after "redirects its blob". */
  | { readonly kind: "refused"; readonly problem: string };

/** Those after which the same request goes elsewhere; 303 would be another one, 300 and 305 name no one place. */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 307, 308]);

/**
 * Whether a response redirects, and whether that may be followed: https to https, without credentials.
 *
 * @param from URL that was asked
 * @param status Status of the response
 * @param location Its `Location`, or null
 */
export function redirectTarget(from: string, status: number, location: string | null): RedirectTarget {
  if (!REDIRECTS.has(status)) return { kind: "none" };
  if (location === null || !URL.canParse(location, from)) return { kind: "refused", problem: "to nowhere" };
  const to = new URL(location, from);
  if (to.protocol !== "https:") return { kind: "refused", problem: `to ${to.protocol.slice(0, -1)}, must be https` };
  if (to.username !== "" || to.password !== "") return { kind: "refused", problem: "to a URL with credentials" };
  to.hash = "";
  return { kind: "follow", url: to.href };
}
