/**
 * Where an artifact stands in a registry: `oci://host[:port]/repository:tag` or `…@sha256:digest`
 * (`Fleet agent upgrades`, Trust boundary: "an explicit tag or manifest digest").
 *
 * @module
 */
import { OCI_REPOSITORY_MAX_CHARS, OCI_TAG_MAX_CHARS } from "./limits.ts";

/** A reference, taken apart. */
export interface OciReference {
  /** Host in lower case, with a port if one was given; an IPv6 address in brackets. */
  readonly host: string;
  /** Its name in the registry. */
  readonly repository: string;
  /** What is meant of it. */
  readonly target:
    | { readonly kind: "tag"; readonly tag: string }
    /** `sha256:` and 64 hexadecimal digits. */
    | { readonly kind: "digest"; readonly digest: string };
}

/** What is wrong with a reference, for a message after its name. */
export interface OciReferenceProblem {
  /** Words such as `names no host`. */
  readonly problem: string;
}

const HOST_REGEXP =
  /^(?:\[[0-9a-f:.]{2,45}\]|(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*)(?::\d{1,5})?$/;
const REPOSITORY_REGEXP = /^[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*)*$/;
const TAG_REGEXP = /^\w[\w.-]*$/;
const DIGEST_REGEXP = /^sha256:[0-9a-f]{64}$/;

/** Whether a text is a SHA-256 digest as registries write it. */
export function isOciDigest(text: string): boolean {
  return DIGEST_REGEXP.test(text);
}

/**
 * Takes a reference apart.
 *
 * @param text `oci://…`
 * @returns the reference, or what is wrong with it
 *
 * @example
 * ```ts
 * import { parseOciReference } from "./oci_reference.ts";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(parseOciReference("oci://registry.example:5000/fleet/agent:1.4.0"), {
 *   host: "registry.example:5000",
 *   repository: "fleet/agent",
 *   target: { kind: "tag", tag: "1.4.0" },
 * });
 * ```
 */
export function parseOciReference(text: string): OciReference | OciReferenceProblem {
  const scheme = "oci://";
  if (!text.startsWith(scheme)) return { problem: `must begin with ${scheme}` };
  const rest = text.slice(scheme.length);
  const slash = rest.indexOf("/");
  const host = (slash < 0 ? rest : rest.slice(0, slash)).toLowerCase();
  if (host === "") return { problem: "names no host" };
  if (host.includes("@")) return { problem: "must not contain credentials" };
  if (!isHost(host)) return { problem: "names no host and port that can be reached" };
  if (slash < 0) return { problem: "names no repository" };
  return withTarget(host, rest.slice(slash + 1));
}

/** The URL standard decides what is an address and a port; both go into a URL as they are. */
function isHost(host: string): boolean {
  if (!HOST_REGEXP.test(host)) return false;
  const port = /:(\d+)$/.exec(host)?.[1];
  return (port === undefined || Number(port) > 0) && URL.canParse(`https://${host}/`);
}

function withTarget(host: string, path: string): OciReference | OciReferenceProblem {
  const at = path.indexOf("@");
  const colon = path.indexOf(":");
  if (at >= 0) {
    if (colon >= 0 && colon < at) return { problem: "has a tag and a digest; one of them says what is meant" };
    const digest = path.slice(at + 1);
    if (!DIGEST_REGEXP.test(digest)) return { problem: "has a digest that is not sha256: and 64 hexadecimal digits" };
    return withRepository(host, path.slice(0, at), { kind: "digest", digest });
  }
  if (colon < 0) return { problem: "has neither a tag nor a digest; a default such as latest is never assumed" };
  const tag = path.slice(colon + 1);
  if (tag.length > OCI_TAG_MAX_CHARS) {
    return { problem: `has a tag of ${tag.length} characters, at most ${OCI_TAG_MAX_CHARS}` };
  }
  if (!TAG_REGEXP.test(tag)) return { problem: "has a tag with other characters than A-Z a-z 0-9 _ . -" };
  return withRepository(host, path.slice(0, colon), { kind: "tag", tag });
}

function withRepository(
  host: string,
  repository: string,
  target: OciReference["target"],
): OciReference | OciReferenceProblem {
  if (repository.length > OCI_REPOSITORY_MAX_CHARS) {
    return { problem: `has a repository of ${repository.length} characters, at most ${OCI_REPOSITORY_MAX_CHARS}` };
  }
  // The length first: it bounds the work of the pattern.
  return REPOSITORY_REGEXP.test(repository)
    ? { host, repository, target }
    : { problem: "has a repository that is not lower-case names with slashes between them" };
}

/** The name of the target in the registry's own URLs. */
export function ociTargetName({ target }: Pick<OciReference, "target">): string {
  return target.kind === "tag" ? target.tag : target.digest;
}

/**
 * The text of a reference.
 *
 * @param reference The reference
 */
export function ociReferenceText(reference: OciReference): string {
  const { host, repository, target } = reference;
  return `oci://${host}/${repository}${target.kind === "tag" ? ":" : "@"}${ociTargetName(reference)}`;
}
