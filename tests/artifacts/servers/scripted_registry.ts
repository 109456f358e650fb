/**
 * A registry that answers as a test says: with TLS on the loopback interface, and every request written down.
 *
 * @module
 */
import { sha256Hex } from "../../../contracts/digest.ts";
import {
  AGENT_ARTIFACT_TYPE,
  AGENT_LAYER_TYPE,
  OCI_EMPTY_TYPE,
  OCI_INDEX_TYPE,
  OCI_MANIFEST_TYPE,
} from "../../../contracts/oci_artifact.ts";
import type { ServerCertificate } from "../../tls/test_authority.ts";

/** One request as the registry saw it. */
export interface RegistryRequest {
  readonly path: string;
  readonly headers: Headers;
}

/** What a path is answered with. */
export type RegistryAnswer = (request: RegistryRequest, earlier: number) => Response | Promise<Response>;

/** A running registry. */
export interface ScriptedRegistry extends AsyncDisposable {
  readonly host: string;
  readonly origin: string;
  readonly requests: readonly RegistryRequest[];
  /** Sets what a path is answered with; the others get 404. */
  answer(path: string, answer: RegistryAnswer): void;
  /** Puts bytes under a digest, with ranges; gives the digest. */
  blob(bytes: Uint8Array<ArrayBuffer>): string;
  /** Puts a document under a name and its digest; gives its descriptor. */
  document(name: string, mediaType: string, value: unknown): { mediaType: string; digest: string; size: number };
}

/** An agent's manifest over a layer. */
export function manifestOver(layer: Record<string, unknown>, overrides: Record<string, unknown> = {}): unknown {
  return {
    schemaVersion: 2,
    mediaType: OCI_MANIFEST_TYPE,
    artifactType: AGENT_ARTIFACT_TYPE,
    config: { mediaType: OCI_EMPTY_TYPE, digest: `sha256:${"0".repeat(64)}`, size: 2 },
    layers: [{ mediaType: AGENT_LAYER_TYPE, ...layer }],
    ...overrides,
  };
}

/** An index over manifests. */
export function indexOver(manifests: readonly unknown[]): unknown {
  return { schemaVersion: 2, mediaType: OCI_INDEX_TYPE, manifests };
}

/** The whole, or the rest from the byte that is asked for. */
export function ranged(bytes: Uint8Array<ArrayBuffer>, { headers }: RegistryRequest, etag = '"1"'): Response {
  const from = Number(/^bytes=(\d+)-$/.exec(headers.get("range") ?? "")?.[1] ?? 0);
  if (from === 0) return new Response(bytes, { headers: { etag } });
  const range = `bytes ${from}-${bytes.length - 1}/${bytes.length}`;
  return new Response(bytes.subarray(from), { status: 206, headers: { etag, "content-range": range } });
}

/**
 * Starts a registry with the repository `agent`.
 *
 * @param certificate Its certificate
 * @param hostname An address of the loopback interface. Default `127.0.0.1`
 */
export function startScriptedRegistry(certificate: ServerCertificate, hostname = "127.0.0.1"): ScriptedRegistry {
  const answers = new Map<string, RegistryAnswer>();
  const requests: RegistryRequest[] = [];
  const server = Deno.serve({ hostname, port: 0, ...certificate, onListen: () => {} }, async (request) => {
    const { pathname } = new URL(request.url);
    const seen: RegistryRequest = { path: pathname, headers: request.headers };
    const earlier = requests.filter(({ path }) => path === pathname).length;
    requests.push(seen);
    return await answers.get(pathname)?.(seen, earlier) ?? new Response("{}", { status: 404 });
  });
  const host = `${hostname.includes(":") ? `[${hostname}]` : hostname}:${server.addr.port}`;
  return {
    host,
    origin: `https://${host}`,
    requests,
    answer: (path, answer) => void answers.set(path, answer),
    blob: (bytes) => {
      const digest = `sha256:${sha256Hex(bytes)}`;
      answers.set(`/v2/agent/blobs/${digest}`, (request) => ranged(bytes, request));
      return digest;
    },
    document: (name, mediaType, value) => {
      const bytes = new TextEncoder().encode(JSON.stringify(value));
      const digest = `sha256:${sha256Hex(bytes)}`;
      const answer = () => new Response(bytes, { headers: { "content-type": mediaType } });
      for (const one of [name, digest]) answers.set(`/v2/agent/manifests/${one}`, answer);
      return { mediaType, digest, size: bytes.length };
    },
    async [Symbol.asyncDispose]() {
      await server.shutdown();
    },
  };
}
